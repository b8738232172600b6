// The gate: holds an act until the accounts that the policy asks have approved it.
import {
  asks,
  changedLines,
  digestOfAsked,
  digestOfChange,
  rulesFor,
  type ApprovalPolicy,
  type ApprovalRule,
  type Line,
} from '#domain/approvals.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { fingerprintOfSshKey } from '#domain/ssh-key.ts';
import type { Changes, Records } from '#records/index.ts';
import type { Approval, NewProposal, Proposal } from '#records/proposals.ts';
import type { Act, Approved, By, Doing } from './act.ts';
import { textToSign } from './approval-texts.ts';
import { approvalCounts, approversFor, type Approver, type ApproverRecords } from './counted-approvals.ts';
import { refuseWithoutPolicy } from './policy-standing.ts';

/** Thrown to roll back an act that has to wait. `proposal` is the existing proposal, if there is one. */
class Waits extends Error {
  readonly asked: NewProposal;
  readonly missing: number;
  readonly who: readonly string[];
  readonly notYet: readonly string[];
  readonly signing: boolean;
  readonly proposal: Proposal | undefined;

  constructor(asked: NewProposal, { missing, who, notYet, signing, proposal }: Omit<Judged, 'asked' | 'by'>) {
    super('this waits for approvals');
    this.asked = asked;
    this.missing = missing;
    this.who = who;
    this.notYet = notYet;
    this.signing = signing;
    this.proposal = proposal;
  }
}

export type Waiting = Waits;

export const isWaiting = (error: unknown): error is Waiting => error instanceof Waits;

/** The approval of an act; or the reason to hold it, thrown after the act was tried. */
export interface Asked {
  approved?: Approved;
  held?: Waiting;
}

interface Wanted<Input, Result> {
  what: Act<Input, Result>;
  by: By;
  input: Input;
  /** The policy of the configuration. */
  configured: ApprovalPolicy;
  at: string;
  object: string;
}

/** The result of the policy for a change: the proposal, its approvals, and the missing ones. */
export interface Judged {
  asked: NewProposal;
  /** The proposal with these changes, while its term runs: waiting, approved or rejected. */
  proposal: Proposal | undefined;
  by: readonly Approval[];
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

interface Change {
  /** The name of the act. */
  name: string;
  actor: string;
  object: string;
  policy: ApprovalPolicy;
  at: string;
}

/** The approvals that an act with these lines needs; undefined if it needs none. `lines` must contain only changes. */
export async function judgeChange(
  records: ApproverRecords & (Pick<Records, 'proposals'> | Pick<Changes, 'proposals'>),
  { name, actor, object, policy, at }: Change,
  lines: readonly Line[],
): Promise<Judged | undefined> {
  const rules = rulesFor(policy, lines);
  if (rules.length === 0) return undefined;
  const asked: NewProposal = {
    act: name,
    object,
    actor,
    asked: digestOfAsked(name, object, actor, lines),
    digest: digestOfChange(name, object, actor, lines),
    lines,
    proposedAt: at,
    endsAt: timestamp(after(new Date(at), days(policy.days))),
  };
  const proposal = await records.proposals.standing(asked.digest, at);
  const by = proposal === undefined ? [] : await records.proposals.approvals(proposal.number);
  return { asked, proposal, by, ...(await judged(records, { rules, actor, by, at })) };
}

/**
 * Decides whether an act may be done now. Returns undefined if it needs no approval. Throws if it waits or was
 * rejected.
 */
export async function approvedOrHeld<Input, Result>(
  tx: Changes,
  { what, by: { actor }, input, configured, at, object }: Wanted<Input, Result>,
): Promise<Asked | undefined> {
  if (!('kinds' in what.gate)) return undefined;
  // Read in the transaction, so that a policy that just came into force applies.
  const policy = await tx.approvalPolicy.inForce();
  if (!asks(policy, what.gate.kinds) && !asks(configured, what.gate.kinds)) return undefined;
  const lines = changedLines(await what.gate.lines(tx, input, { at, actor }));
  await refuseWithoutPolicy(tx, { inForce: policy, configured }, lines);
  const found = await judgeChange(tx, { name: what.name, actor, object, policy, at }, lines);
  if (found === undefined) return undefined;
  const { asked, proposal, by, missing } = found;
  if (proposal?.state === 'rejected') throw await rejected(tx, proposal);
  if (proposal !== undefined && missing === 0) {
    const isSigned = by.some(({ key }) => key !== null);
    const text = isSigned ? await textToSign(tx, proposal) : undefined;
    return { approved: { proposal: proposal.number, by, ...(text !== undefined && { text }) } };
  }
  const held = new Waits(asked, found);
  // A waiting act was possible when it was proposed, so it is not tried at each repeated request.
  if (proposal !== undefined) throw held;
  return { held };
}

/** Closes the proposal of an approved act. Rolls back an act that has to wait. */
export async function settleApproved(
  tx: Changes,
  { approved, held }: Asked,
  { at, actor, note }: Pick<Doing, 'at' | 'actor' | 'note'>,
): Promise<void> {
  if (held !== undefined) throw held;
  if (approved === undefined) return;
  await tx.proposals.end(approved.proposal, 'done', { at, by: actor });
  const keys = approved.by.map(({ key }) => key).filter((key) => key !== null);
  note({
    proposal: approved.proposal,
    'approved-by': approved.by.map(({ accountId }) => accountId),
    ...(keys.length > 0 && { 'signed-with': keys.map(fingerprintOfSshKey) }),
  });
}

/** The number of approvals missing under these rules, and the accounts that may give them. */
export async function judged(
  records: ApproverRecords,
  { rules, actor, by, at }: { rules: readonly ApprovalRule[]; actor: string; by: readonly Approval[]; at: string },
): Promise<Pick<Judged, 'missing' | 'signing' | 'who' | 'notYet'>> {
  let missing = 0;
  let signing = false;
  const who = new Map<string, Approver>();
  for (const rule of rules) {
    const asked = (await approversFor(records, rule, at)).filter(({ id }) => id !== actor);
    const given = new Set<string>();
    for (const approval of by) {
      if (approval.accountId !== actor && (await approvalCounts(records, approval, rule)))
        given.add(approval.accountId);
    }
    const lacking = Math.max(0, rule.people - given.size);
    missing = Math.max(missing, lacking);
    if (lacking === 0) continue;
    signing ||= rule.signed === true;
    for (const approver of asked) if (!given.has(approver.id)) who.set(approver.id, approver);
  }
  return { missing, signing, ...byReadiness([...who.values()]) };
}

/** Separates approvers who could approve now from the others, with the reason. */
function byReadiness(approvers: readonly Approver[]): Pick<Judged, 'who' | 'notYet'> {
  const sorted = approvers.toSorted((one, other) => (one.username < other.username ? -1 : 1));
  const reason = ({ countsFrom, hasOneTimePassword }: Approver): string | undefined =>
    hasOneTimePassword ? countsFrom && `from ${countsFrom}` : 'has no one-time password';
  return {
    who: sorted.filter((one) => reason(one) === undefined).map(({ username }) => username),
    notYet: sorted.flatMap((one) => (reason(one) === undefined ? [] : [`${one.username} (${reason(one) ?? ''})`])),
  };
}

/** The errors that the gate can cause for an act. */
export const heldBack = ['approval-required', 'forbidden', 'too-many-requests'] as const;

/** The error returned while an act waits for approval. */
export function refusalOf(
  { number, endsAt }: Pick<Proposal, 'number' | 'endsAt'>,
  { missing, who, notYet, signing }: Waiting,
): Refusal {
  const approvals = missing === 1 ? '1 more approval' : `${String(missing)} more approvals`;
  const signed = signing ? ' They sign what they approve of.' : '';
  return new Refusal(
    'approval-required',
    `Waits for ${approvals} (proposal ${String(number)}, until ${endsAt}). ${whoMayApprove({ who, notYet })}${signed}`,
  );
}

/** Names the accounts that may approve, in one or two sentences. */
export function whoMayApprove({ who, notYet }: Pick<Judged, 'who' | 'notYet'>): string {
  const list = (names: readonly string[]): string =>
    names.slice(0, namesShown).join(', ') + (names.length > namesShown ? ', …' : '');
  const now = who.length === 0 ? 'No account may approve now.' : `Who may approve: ${list(who)}.`;
  return notYet.length === 0 ? now : `${now} Not yet: ${list(notYet)}.`;
}

const namesShown = 20;

async function rejected({ accounts }: Changes, { number, endedBy, because, endsAt }: Proposal): Promise<Refusal> {
  const by = (await accounts.find(endedBy ?? ''))?.username ?? endedBy ?? 'somebody';
  return new Refusal(
    'forbidden',
    `Rejected by ${by} (proposal ${String(number)}): ${because ?? ''} It can be proposed again from ${endsAt} on.`,
  );
}
