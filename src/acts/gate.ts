// The gate: holds an act until the accounts that the policy asks have approved it.
import {
  canRequireApproval,
  changedLines,
  digestOfRequest,
  digestOfChange,
  rulesFor,
  type ApprovalPolicy,
  type ApprovalRule,
  type ApprovalLine,
} from '#domain/approvals/approval-policy.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { fingerprintOfSshKey } from '#domain/approvals/ssh-key.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { StoredApproval, NewProposal, Proposal } from '#records/approvals/proposals.ts';
import type { Act, ApprovedProposal, Actor, ActContext } from './act.ts';
import { textToSign } from './approvals/text-to-sign.ts';
import { approvalCounts, listApprovers, type Approver, type ApproverRecords } from './approvals/counted-approvals.ts';
import { refuseWithoutPolicy } from './approvals/policy-in-force.ts';

/** Thrown to roll back an act that has to wait. `proposal` is the existing proposal, if there is one. */
class PendingActError extends Error {
  readonly newProposal: NewProposal;
  readonly missing: number;
  readonly who: readonly string[];
  readonly notYet: readonly string[];
  readonly signing: boolean;
  readonly proposal: Proposal | undefined;

  constructor(
    newProposal: NewProposal,
    { missing, who, notYet, signing, proposal }: Omit<ApprovalStatus, 'newProposal' | 'approvals'>,
  ) {
    super('this waits for approvals');
    this.newProposal = newProposal;
    this.missing = missing;
    this.who = who;
    this.notYet = notYet;
    this.signing = signing;
    this.proposal = proposal;
  }
}

export type PendingAct = PendingActError;

export const isPendingAct = (error: unknown): error is PendingAct => error instanceof PendingActError;

/** The approval of an act; or the reason to hold it, thrown after the act was tried. */
export interface GateDecision {
  approved?: ApprovedProposal;
  held?: PendingAct;
}

interface GateRequest<Input, Result> {
  act: Act<Input, Result>;
  actor: Actor;
  input: Input;
  /** The policy of the configuration. */
  configured: ApprovalPolicy;
  at: string;
  object: string;
}

/** The result of the policy for a change: the proposal, its approvals, and the missing ones. */
export interface ApprovalStatus {
  newProposal: NewProposal;
  /** The proposal with these changes, while its term runs: waiting, approved or rejected. */
  proposal: Proposal | undefined;
  approvals: readonly StoredApproval[];
  missing: number;
  /** User names of the accounts that could approve now. */
  who: readonly string[];
  /**
   * User names of the other accounts that the policy asks, each with the reason why its approval does not count yet.
   */
  notYet: readonly string[];
  /** Whether a missing approval has to be signed. */
  signing: boolean;
}

interface ProposedChange {
  /** The name of the act. */
  name: string;
  actor: string;
  object: string;
  policy: ApprovalPolicy;
  at: string;
}

/** The approvals that an act with these lines needs; undefined if it needs none. `lines` must contain only changes. */
export async function evaluateChange(
  records: ApproverRecords & (Pick<StoreRecords, 'proposals'> | Pick<ChangeRecords, 'proposals'>),
  { name, actor, object, policy, at }: ProposedChange,
  lines: readonly ApprovalLine[],
): Promise<ApprovalStatus | undefined> {
  const rules = rulesFor(policy, lines);
  if (rules.length === 0) return undefined;
  const newProposal: NewProposal = {
    act: name,
    object,
    actor,
    asked: digestOfRequest(name, object, actor, lines),
    digest: digestOfChange(name, object, actor, lines),
    lines,
    proposedAt: at,
    endsAt: timestamp(after(new Date(at), days(policy.days))),
  };
  const proposal = await records.proposals.standing(newProposal.digest, at);
  const approvals = proposal === undefined ? [] : await records.proposals.approvals(proposal.number);
  return { newProposal, proposal, approvals, ...(await evaluateApprovals(records, { rules, actor, approvals, at })) };
}

/**
 * Decides whether an act may be done now. Returns undefined if it needs no approval. Throws if it waits or was
 * rejected.
 */
export async function checkGate<Input, Result>(
  tx: ChangeRecords,
  { act, actor: { actor }, input, configured, at, object }: GateRequest<Input, Result>,
): Promise<GateDecision | undefined> {
  if (!('kinds' in act.gate)) return undefined;
  // Read in the transaction, so that a policy that just came into force applies.
  const policy = await tx.approvalPolicy.inForce();
  if (!canRequireApproval(policy, act.gate.kinds) && !canRequireApproval(configured, act.gate.kinds)) return undefined;
  const policies = [policy, configured];
  const lines = changedLines(await act.gate.lines(tx, input, { at, actor, policies }));
  await refuseWithoutPolicy(tx, { inForce: policy, configured }, lines);
  const status = await evaluateChange(tx, { name: act.name, actor, object, policy, at }, lines);
  if (status === undefined) return undefined;
  const { newProposal, proposal, approvals, missing } = status;
  if (proposal?.state === 'rejected') throw await buildRejectedRefusal(tx, proposal);
  if (proposal !== undefined && missing === 0) {
    const isSigned = approvals.some(({ key }) => key !== null);
    const text = isSigned ? await textToSign(tx, proposal) : undefined;
    return { approved: { proposal: proposal.number, approvals, ...(text !== undefined && { text }) } };
  }
  const held = new PendingActError(newProposal, status);
  // A waiting act was possible when it was proposed, so it is not tried at each repeated request.
  if (proposal !== undefined) throw held;
  return { held };
}

/** Closes the proposal of an approved act. Rolls back an act that has to wait. */
export async function settleApproved(
  tx: ChangeRecords,
  { approved, held }: GateDecision,
  { at, actor, note }: Pick<ActContext, 'at' | 'actor' | 'note'>,
): Promise<void> {
  if (held !== undefined) throw held;
  if (approved === undefined) return;
  await tx.proposals.end(approved.proposal, 'done', { at, actor });
  const keys = approved.approvals.map(({ key }) => key).filter((key) => key !== null);
  note({
    proposal: approved.proposal,
    'approved-by': approved.approvals.map(({ accountId }) => accountId),
    ...(keys.length > 0 && { 'signed-with': keys.map(fingerprintOfSshKey) }),
  });
}

/** The number of approvals missing under these rules, and the accounts that may give them. */
export async function evaluateApprovals(
  records: ApproverRecords,
  {
    rules,
    actor,
    approvals,
    at,
  }: { rules: readonly ApprovalRule[]; actor: string; approvals: readonly StoredApproval[]; at: string },
): Promise<Pick<ApprovalStatus, 'missing' | 'signing' | 'who' | 'notYet'>> {
  let missing = 0;
  let signing = false;
  const who = new Map<string, Approver>();
  for (const rule of rules) {
    const approvers = (await listApprovers(records, rule, at)).filter(({ id }) => id !== actor);
    const approvedIds = new Set<string>();
    for (const approval of approvals) {
      if (approval.accountId !== actor && (await approvalCounts(records, approval, rule)))
        approvedIds.add(approval.accountId);
    }
    const lacking = Math.max(0, rule.people - approvedIds.size);
    missing = Math.max(missing, lacking);
    if (lacking === 0) continue;
    signing ||= rule.signed === true;
    for (const approver of approvers) if (!approvedIds.has(approver.id)) who.set(approver.id, approver);
  }
  return { missing, signing, ...byReadiness([...who.values()]) };
}

/** Separates approvers who could approve now from the others, with the reason. */
function byReadiness(approvers: readonly Approver[]): Pick<ApprovalStatus, 'who' | 'notYet'> {
  const sorted = approvers.toSorted((approver, other) => (approver.username < other.username ? -1 : 1));
  const reason = ({ countsFrom, hasOneTimePassword }: Approver): string | undefined =>
    hasOneTimePassword ? countsFrom && `from ${countsFrom}` : 'has no one-time password';
  return {
    who: sorted.filter((approver) => reason(approver) === undefined).map(({ username }) => username),
    notYet: sorted.flatMap((approver) =>
      reason(approver) === undefined ? [] : [`${approver.username} (${reason(approver) ?? ''})`],
    ),
  };
}

/** The errors that the gate can cause for an act. */
export const gateErrorCodes = ['approval-required', 'forbidden', 'too-many-requests'] as const;

/** The error returned while an act waits for approval. */
export function buildPendingRefusal(
  { number, endsAt }: Pick<Proposal, 'number' | 'endsAt'>,
  { missing, who, notYet, signing }: PendingAct,
): Refusal {
  const approvals = missing === 1 ? '1 more approval' : `${String(missing)} more approvals`;
  const signed = signing ? ' Each approval must be signed.' : '';
  return new Refusal(
    'approval-required',
    `Waits for ${approvals} (proposal ${String(number)}, until ${endsAt}). ${describeApprovers({ who, notYet })}${signed}`,
  );
}

/** Names the accounts that may approve, in one or two sentences. */
export function describeApprovers({ who, notYet }: Pick<ApprovalStatus, 'who' | 'notYet'>): string {
  const list = (names: readonly string[]): string =>
    names.slice(0, namesShown).join(', ') + (names.length > namesShown ? ', …' : '');
  const now = who.length === 0 ? 'No account may approve now.' : `Who may approve: ${list(who)}.`;
  return notYet.length === 0 ? now : `${now} Not yet: ${list(notYet)}.`;
}

const namesShown = 20;

async function buildRejectedRefusal(
  { accounts }: ChangeRecords,
  { number, endedBy, because, endsAt }: Proposal,
): Promise<Refusal> {
  const rejectedBy = (await accounts.find(endedBy ?? ''))?.username ?? endedBy ?? 'an unknown account';
  return new Refusal(
    'forbidden',
    `Rejected by ${rejectedBy} (proposal ${String(number)}): ${because ?? ''} It can be proposed again from ${endsAt}.`,
  );
}
