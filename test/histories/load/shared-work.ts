// What the clients of a run share: the names, sessions, proposals and transfers that all of them work on.
import type { Approver } from './approvers.ts';
import type { RecordingClient } from '../client.ts';
import type { Claim } from '../history.ts';
import type { PreparedTransfer } from './prepared-transfers.ts';
import type { Choices } from '../random.ts';

export interface SharedPackage {
  name: string;
  /** The newest revision that a client knows. */
  newest: number;
  pushes: number;
  /** The upload that was pushed last. */
  lastUpload?: string;
  /** Whether the approval policy covers its releases. */
  isGated: boolean;
}

/** The visits of a transfer: how often its receipt has begun, and whether the last one is not complete. */
export interface Receipt {
  begun: number;
  isIncomplete: boolean;
}

export class SharedWork {
  /** The credential of the store administrator, for logins. */
  readonly credential: string;
  /** The token of the store administrator. */
  readonly token: string;
  readonly approvers: readonly Approver[];
  readonly transfers: readonly PreparedTransfer[];
  readonly sessions: { token: string; key: string }[] = [];
  readonly packages: SharedPackage[] = [];
  /** The latest proposals, the oldest first. */
  readonly proposals: number[] = [];
  /** The id of the transfer that was received last. */
  received: string | undefined;
  readonly receipts = new Map<string, Receipt>();
  /** How many clients are still to settle it, all at the same moment. */
  settling = 0;
  readonly prefix: string;
  names = 0;
  gatedNames = 0;
  isOver = false;

  constructor(
    { credential, approvers, transfers }: Pick<SharedWork, 'credential' | 'approvers' | 'transfers'>,
    token: string,
    seed: number,
  ) {
    this.credential = credential;
    this.approvers = approvers;
    this.transfers = transfers;
    this.token = token;
    this.prefix = `s${seed}-`;
  }
}

/** A client at work. */
export interface WorkingClient {
  client: RecordingClient;
  work: SharedWork;
  choices: Choices;
}

/** The message of an error of the store. */
export function messageOf(body: unknown): string {
  const errors = (body as { 'error-list'?: { message: string }[] } | undefined)?.['error-list'];
  return errors?.[0]?.message ?? '';
}

/** A refusal that says something about the store. */
export const refusedWith = (...claims: Claim[]): { outcome: 'refused'; claims: Claim[] } => ({
  outcome: 'refused',
  claims,
});
