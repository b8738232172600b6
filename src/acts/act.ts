// An act is what somebody may do to the store: one record declares it, and it is the only thing that writes.
import type { ApprovalKind, Line } from '#domain/approvals.ts';
import type { Outcome } from '#records/audit.ts';
import type { Changes } from '#records/index.ts';
import type { Approval } from '#records/proposals.ts';

/** Who does something, for the audit log. */
export interface By {
  /** An account id, or `cli:<user>` for a command on the host, or `larder` for its own doing. */
  actor: string;
  sessionId?: string | null;
  requestId?: string | null;
}

/** What the store does of its own accord. */
export const itself: By = { actor: 'larder' };

/** What the doing of an act knows besides what it does. */
export interface Doing extends By {
  /** When it is done, RFC 3339: the time in the audit log. */
  at: string;
  /** Adds to what the audit log tells. */
  note(details: Record<string, unknown>): void;
  /** The proposal that it was done by, and who has approved of that; nothing where nobody was asked. */
  approved?: Approved;
}

export interface Approved {
  proposal: number;
  by: readonly Approval[];
  /** What those have signed who signed it; nothing where nobody has. */
  text?: string;
}

/** That an act is held until others approve of it, where the policy asks for that. */
export interface Gate<Input> {
  /** What the policy may ask approvals for before this act is done. */
  kinds: readonly ApprovalKind[];
  /**
   * What it would change, as things stand: those who approve of it approve of these lines, and of nothing else. Two requests
   * with the same lines ask for the same, so whatever the act does with its input is in them. Lines that change nothing are
   * left out by whoever asks for them.
   */
  lines(tx: Changes, input: Input, doing: Pick<Doing, 'at' | 'actor'>): Promise<Line[]>;
}

export interface Act<Input, Result> {
  /** The audit log's word for it, such as `register_name`. */
  name: string;
  /** What it does to the store, in a sentence. */
  summary: string;
  /** The form of that to which it is done, as the documents show it: `NAMESPACE/NAME`. */
  on: string;
  /** What it is done to, such as `snap/hello`; what an act needs to know is what `perform` takes. */
  object(input: NoInfer<Input>): string;
  /** `done` unless said otherwise; `refused` where somebody is kept out, which changes nothing but the audit log. */
  outcome?: Outcome;
  /** Whether it may be held until others approve of it; if not, why. */
  gate: Gate<NoInfer<Input>> | { never: string };
  /**
   * Does it, all of it or nothing. It awaits `tx` alone, and may be run again from its start: nothing that it does
   * shows outside the transaction.
   */
  perform(tx: Changes, input: Input, doing: Doing): Promise<Result>;
}

/**
 * Thrown by an act that finds done already what it was to do, such as by the same request a moment before: nothing is
 * written, the audit log has it once, and whoever asked gets what there is.
 */
export class DoneAlready<Result> extends Error {
  readonly given: Result;

  constructor(given: Result) {
    super('this is done already');
    this.given = given;
  }
}

/** Declares an act. */
export const act = <Input, Result>(record: Act<Input, Result>): Act<Input, Result> => record;

/** Does an act; what it throws, it has not done. */
export type Do = <Input, Result>(what: Act<Input, Result>, by: By, input: NoInfer<Input>) => Promise<Result>;

/** The door: the only way in which anything is done to the store. */
export interface Acts {
  do: Do;
  /**
   * Does an act with which the audit log goes on from somewhere else than where it had ended, such as a backup that was
   * restored: its entry and its seal name what is left behind. For a store that is not served, or with a log that is
   * not sealed meanwhile.
   */
  beginAnew: Do;
}
