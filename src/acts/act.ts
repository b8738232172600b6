// Acts: each declares one possible change of the store. Only acts write.
import type { ApprovalKind, ApprovalLine, ApprovalPolicy } from '#domain/approvals/approval-policy.ts';
import type { AuditOutcome } from '#records/audit/audit.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { StoredApproval } from '#records/approvals/proposals.ts';

/** The actor of an act, for the audit log. */
export interface Actor {
  /** An account id, `cli:<user>` for a command on the host, or `larder` for the store itself. */
  actor: string;
  sessionId?: string | null;
  requestId?: string | null;
}

/** The store itself as the actor. */
export const itself: Actor = { actor: 'larder' };

/** The context of an act while it is performed. */
export interface ActContext extends Actor {
  /** The name of the act. */
  action: string;
  /** The time of the act in the audit log, RFC 3339. */
  at: string;
  /** Adds details to the entry in the audit log. */
  note(details: Record<string, unknown>): void;
  /** The proposal of the act with its approvals; undefined if it needed none. */
  approved?: ApprovedProposal;
}

export interface ApprovedProposal {
  proposal: number;
  approvals: readonly StoredApproval[];
  /** The text that approvers signed; undefined if none signed. */
  text?: string;
}

/** Holds an act until it is approved, if the policy asks for that. */
export interface Gate<Input> {
  /** The kinds of approval that the policy may require for this act. */
  kinds: readonly ApprovalKind[];
  /**
   * The changes that the act would make now. Approvers approve exactly these lines. Two requests with the same lines
   * are the same proposal, so the lines must cover everything that the act does with its input. The caller drops lines
   * that change nothing.
   */
  lines(tx: ChangeRecords, input: Input, doing: GateContext): Promise<ApprovalLine[]>;
}

/** The context for determining the approvals of an act. */
export interface GateContext extends Pick<ActContext, 'at' | 'actor'> {
  /** The policy in force and the configured one, for lines that follow from the rules. */
  policies: readonly ApprovalPolicy[];
}

export interface Act<Input, Result> {
  /** The name in the audit log, `verb_object`, such as `register_name`. */
  name: string;
  /** The effect on the store, in a sentence. */
  summary: string;
  /** The form of the object, as the documents show it: `NAMESPACE/NAME`. */
  on: string;
  /** The object of the act, such as `snap/hello`. `perform` gets its data from the input, not from here. */
  object(input: NoInfer<Input>): string;
  /** `done` by default. `refused` for an act that denies access and changes nothing but the audit log. */
  outcome?: AuditOutcome;
  /** Whether the act can be held for approvals; if not, why. */
  gate: Gate<NoInfer<Input>> | { never: string };
  /**
   * Performs the act, all of it or nothing. Awaits only `tx` and may be retried from the start, so it has no effect
   * outside the transaction.
   */
  perform(tx: ChangeRecords, input: Input, doing: ActContext): Promise<Result>;
}

/**
 * Thrown by an act that finds its effect in place already, for example from the same request a moment before. Nothing
 * is written, the audit log has one entry, and the caller gets `result`.
 */
export class DoneAlready<Result> extends Error {
  readonly result: Result;

  constructor(result: Result) {
    super('this is done already');
    this.result = result;
  }
}

/** Declares an act. */
export const act = <Input, Result>(record: Act<Input, Result>): Act<Input, Result> => record;

/** Performs an act. If it throws, nothing was changed. */
export type Do = <Input, Result>(
  declaredAct: Act<Input, Result>,
  actor: Actor,
  input: NoInfer<Input>,
) => Promise<Result>;

/** The only interface through which the store is changed. */
export interface Acts {
  do: Do;
  /**
   * Performs an act after which the audit log continues from another entry than its last, such as the restore of a
   * backup. The entry and its seal name the entries that are left behind. Only for a store that is not being served, or
   * a log that is not sealed at the same time.
   */
  beginAnew: Do;
}
