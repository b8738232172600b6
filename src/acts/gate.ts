// The gate: holds an act until those have approved of it whom the policy asks.
import {
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

/** Thrown to take back an act that has to wait; `proposal` is the one that waits already. */
class Waits extends Error {
  readonly asked: NewProposal;
  readonly missing: number;
  readonly who: readonly string[];
  readonly signing: boolean;
  readonly proposal: Proposal | undefined;

  constructor(asked: NewProposal, { missing, who, signing, proposal }: Omit<Judged, 'asked' | 'by'>) {
    super('this waits for approvals');
    this.asked = asked;
    this.missing = missing;
    this.who = who;
    this.signing = signing;
    this.proposal = proposal;
  }
}

export type Waiting = Waits;

export const isWaiting = (error: unknown): error is Waiting => error instanceof Waits;

/** What was approved of; or what has to wait, once it is known that it could be done. */
export interface Asked {
  approved?: Approved;
  held?: Waiting;
}

interface Wanted<Input, Result> {
  what: Act<Input, Result>;
  by: By;
  input: Input;
  policy: ApprovalPolicy;
  at: string;
  object: string;
}

/** What the policy says of a change, and how far it has come with those whom it asks. */
export interface Judged {
  asked: NewProposal;
  /** What was proposed with these changes and has not come to its end: it waits, is approved of, or was rejected. */
  proposal: Proposal | undefined;
  by: readonly Approval[];
  missing: number;
  /** User names of those who may approve. */
  who: readonly string[];
  /** Whether any of the approvals that are missing has to be signed. */
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

/** What an act would have to wait for that changes these lines, which leave out what stays; nothing where nobody is asked. */
export async function judgeChange(
  records: Pick<Records, 'accounts' | 'proposals'> | Pick<Changes, 'accounts' | 'proposals'>,
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
  return { asked, proposal, by, ...(await judged(records, { rules, actor, by })) };
}

/** The lines that change anything. */
export const changed = (lines: readonly Line[]): Line[] => lines.filter(({ from, to }) => from !== to);

/** Finds out whether an act may be done now: nothing where nobody is asked; throws where it waits, or was rejected. */
export async function approvedOrHeld<Input, Result>(
  tx: Changes,
  { what, by: { actor }, input, policy, at, object }: Wanted<Input, Result>,
): Promise<Asked | undefined> {
  if (!('kinds' in what.gate)) return undefined;
  const lines = changed(await what.gate.lines(tx, input, { at, actor }));
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
  // What waits already could be done when it was proposed, so it is not tried each time it is asked for.
  if (proposal !== undefined) throw held;
  return { held };
}

/** Closes the proposal that an act was done by; takes the act back where it has to wait. */
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

/** How many approvals are missing under these rules, and the user names of those who may give them. */
export async function judged(
  records: Pick<Records, 'accounts'> | Pick<Changes, 'accounts'>,
  { rules, actor, by }: { rules: readonly ApprovalRule[]; actor: string; by: readonly Approval[] },
): Promise<Pick<Judged, 'missing' | 'signing'> & { who: string[] }> {
  let missing = 0;
  let signing = false;
  const who = new Set<string>();
  for (const rule of rules) {
    const asked = (await askedBy(records, rule)).filter(({ id }) => id !== actor);
    const given = asked.filter(({ id }) => by.some((one) => one.accountId === id && counts(rule, one)));
    const lacking = Math.max(0, rule.people - given.length);
    missing = Math.max(missing, lacking);
    if (lacking === 0) continue;
    signing ||= rule.signed === true;
    for (const account of asked) if (!given.includes(account)) who.add(account.username);
  }
  return { missing, who: [...who].sort(), signing };
}

/** Whether an approval is one that a rule asks for. */
export const counts = ({ signed }: ApprovalRule, { key }: Pick<Approval, 'key'>): boolean =>
  signed !== true || key !== null;

/**
 * The accounts that a rule asks, as far as they are let in. Whoever administers the store counts only where he is named: he
 * could give the role to himself.
 */
export async function askedBy(
  { accounts }: Pick<Records, 'accounts'> | Pick<Changes, 'accounts'>,
  { of }: ApprovalRule,
): Promise<{ id: string; username: string }[]> {
  const asked = [];
  const meant = of === null ? await accounts.holders('transfer-approver') : (await accounts.byIds([...of])).values();
  for (const account of meant) {
    if (of === null && (await accounts.isStoreAdministrator(account.id))) continue;
    if ((await accounts.disabledAt(account.id)) === null) asked.push(account);
  }
  return asked;
}

/** What an act may be refused with because of the gate. */
export const heldBack = ['approval-required', 'forbidden', 'too-many-requests'] as const;

/** What somebody is told whose act waits. */
export function refusalOf(
  { number, endsAt }: Pick<Proposal, 'number' | 'endsAt'>,
  { missing, who, signing }: Waiting,
): Refusal {
  const approvals = missing === 1 ? '1 more approval' : `${String(missing)} more approvals`;
  const shown = who.slice(0, namesShown).join(', ') + (who.length > namesShown ? ', …' : '');
  const by = who.length === 0 ? 'Nobody is there who may approve' : `Who may approve: ${shown}`;
  const signed = signing ? ' They sign what they approve of.' : '';
  return new Refusal(
    'approval-required',
    `Waits for ${approvals} (proposal ${String(number)}, until ${endsAt}). ${by}.${signed}`,
  );
}

const namesShown = 20;

async function rejected({ accounts }: Changes, { number, endedBy, because, endsAt }: Proposal): Promise<Refusal> {
  const by = (await accounts.find(endedBy ?? ''))?.username ?? endedBy ?? 'somebody';
  return new Refusal(
    'forbidden',
    `Rejected by ${by} (proposal ${String(number)}): ${because ?? ''} It can be proposed again from ${endsAt} on.`,
  );
}
