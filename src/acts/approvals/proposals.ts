// Proposals: acts that wait for approvals, their approval or rejection, and the approval policy.
import { approvalNamespace } from '#domain/approvals/approval-text.ts';
import {
  weakenedLines,
  policyTexts,
  rulesFor,
  type ApprovalPolicy,
  type ApprovalRule,
} from '#domain/approvals/approval-policy.ts';
import { minutes } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { fingerprintOfSshKey } from '#domain/approvals/ssh-key.ts';
import { readSshSignature } from '#domain/approvals/ssh-signature.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { NewProposal, Proposal } from '#records/approvals/proposals.ts';
import { act, DoneAlready } from '../act.ts';
import { toActName } from '../audit-words.ts';
import { textToSign } from './text-to-sign.ts';
import { approvalCounts, listRuleAccounts, countsFrom } from './counted-approvals.ts';
import { describeUnmetPolicy } from './policy-in-force.ts';
import { parseReason } from '../reason.ts';
import { areReleaseLinesCurrent } from '../releases/release-lines.ts';
import { isTrustCurrent } from '../sites/source-trust.ts';

/** The maximum number of open proposals of one account, or of one user of the host. */
const maxOpenProposals = 500;

export const propose = act<NewProposal, Pick<Proposal, 'number' | 'endsAt'>>({
  name: 'propose_change',
  summary: 'Propose a change that waits for approvals; nothing changes yet.',
  on: 'the object of the proposed act',
  object: ({ object }) => object,
  gate: { never: 'it only asks' },

  async perform(tx, proposal, { at, actor, note }) {
    const standing = await tx.proposals.standing(proposal.digest, at);
    if (standing !== undefined) throw new DoneAlready(standing);
    const replaced = await tx.proposals.endOthersAsFallen(proposal, { at, actor });
    if ((await tx.proposals.countOpen(actor, at)) >= maxOpenProposals) {
      throw new Refusal(
        'too-many-requests',
        `${String(maxOpenProposals)} of your proposals wait already. Withdraw some first.`,
      );
    }
    const number = await tx.proposals.add(proposal);
    note({
      proposal: number,
      act: proposal.act,
      digest: proposal.digest,
      lines: proposal.lines.length,
      until: proposal.endsAt,
      ...(replaced.length > 0 && { replaces: replaced }),
    });
    return { number, endsAt: proposal.endsAt };
  },
});

/** A recent login with a password and a one-time password. */
export interface StrongLogin {
  accountId: string;
  /** RFC 3339. */
  at: string;
}

/** How long a login counts as recent for approvals. */
const loginLifetimeMs = minutes(15);

interface ProposalDecision {
  number: number;
  login: StrongLogin;
}

interface ProposalApproval extends ProposalDecision {
  /** The signature that `ssh-keygen -Y sign` made of the proposal's text; undefined if the approver does not sign. */
  signature?: string | undefined;
}

const object = ({ number }: { number: number }): string => `proposal/${String(number)}`;

export const approveProposal = act<ProposalApproval, { fell: boolean }>({
  name: 'approve_proposal',
  summary: 'Approve a proposal; the proposer then repeats the request to make the change.',
  on: 'proposal/NUMBER',
  object,
  gate: { never: 'it is what the gate waits for' },

  async perform(tx, { number, login, signature }, { at, note }) {
    const proposal = await openProposal(tx, number, at);
    refuseOldLogin(login, at);
    const { accountId } = login;
    if (proposal.actor === accountId)
      throw new Refusal('forbidden', 'You proposed this yourself. Other accounts must approve it.');
    await refuseNonApprover(tx, proposal, accountId);
    if ((await tx.totpSecrets.find(accountId)) === undefined) {
      throw new Refusal(
        'twofactor-required',
        'Approving needs a login with a one-time password. Turn one-time passwords on for your account first.',
      );
    }
    const touch = await tx.accounts.touched(accountId);
    const until = countsFrom(touch, at);
    if (touch !== undefined && until !== undefined) {
      const changedBy = touch.by === accountId ? 'you' : touch.by;
      throw new Refusal(
        'forbidden',
        `Your account was changed by ${changedBy} (${toActName(touch.what)}) at ${touch.at}. Your approvals count from ${until}.`,
      );
    }
    if (!(await areReleaseLinesCurrent(tx, proposal.lines, at)) || !(await isTrustCurrent(tx, proposal.lines))) {
      await tx.proposals.end(number, 'fallen', { at, actor: accountId });
      note({ act: proposal.act, object: proposal.object, fell: true });
      return { fell: true };
    }
    const signed = await verifyApprovalSignature(tx, { proposal, accountId, signature });
    await refuseSecond(tx, { proposal, accountId, key: signed?.key });
    await tx.proposals.approve({ number, accountId, at, ...signed });
    const { act, object, digest } = proposal;
    note({ act, object, digest, ...(signed && { 'signed-with': fingerprintOfSshKey(signed.key) }) });
    return { fell: false };
  },
});

interface Signing {
  proposal: Proposal;
  accountId: string;
  signature: string | undefined;
}

/** The key and the signature of an approval. Refuses an invalid signature, and a missing one if a rule requires it. */
async function verifyApprovalSignature(
  tx: ChangeRecords,
  { proposal, accountId, signature }: Signing,
): Promise<{ key: string; signature: string } | undefined> {
  const toSign = `the file that 'larder approval show ${String(proposal.number)} --for-signing FILE' writes`;
  if (signature === undefined) {
    const rules = await findRulesOfApprover(tx, proposal, accountId);
    if (rules.some(({ signed }) => signed !== true)) return undefined;
    throw new Refusal(
      'forbidden',
      `The policy requires your signature. Run 'ssh-keygen -Y sign -n ${approvalNamespace} -f KEY FILE' on ${toSign}.`,
    );
  }
  const read = readSshSignature(signature);
  if (read === undefined) {
    throw new Refusal(
      'forbidden',
      "This is not a signature of 'ssh-keygen -Y sign'. Sign with a key of the kind Ed25519 (also in a token), ECDSA, or RSA of 2048 bits or more.",
    );
  }
  const { namespace, key, text } = read;
  if (namespace !== approvalNamespace) {
    throw new Refusal('forbidden', `The signature is for another purpose. Sign with '-n ${approvalNamespace}'.`);
  }
  if ((await tx.approverKeys.find(key.line))?.accountId !== accountId) {
    throw new Refusal(
      'forbidden',
      `The key ${key.fingerprint} is not registered for your account. Register it with 'larder approver-key add'.`,
    );
  }
  if (!read.isOf(Buffer.from(await textToSign(tx, proposal)))) {
    throw new Refusal('forbidden', `The signature does not match this proposal. Sign ${toSign}.`);
  }
  return { key: key.line, signature: text };
}

export const rejectProposal = act<ProposalDecision & { reason: string }, void>({
  name: 'reject_proposal',
  summary: 'Reject a proposal: the change is not made, and cannot be proposed again before the proposal expires.',
  on: 'proposal/NUMBER',
  object,
  gate: { never: 'it changes nothing' },

  async perform(tx, { number, login, reason }, { at, note }) {
    const proposal = await openProposal(tx, number, at);
    refuseOldLogin(login, at);
    if (proposal.actor !== login.accountId) await refuseNonApprover(tx, proposal, login.accountId);
    const because = parseReason(reason);
    await tx.proposals.end(number, 'rejected', { at, actor: login.accountId, because });
    note({ act: proposal.act, object: proposal.object, because });
  },
});

export const sweepProposals = act<{ before: string; atMost: number }, { forgotten: number }>({
  name: 'sweep_proposals',
  summary: 'Forget proposals that ended long ago.',
  on: 'proposals',
  object: () => 'proposals',
  gate: { never: 'it follows from the time alone' },

  async perform(tx, { before, atMost }, { note }) {
    const forgotten = await tx.proposals.forget(before, atMost);
    note({ forgotten });
    return { forgotten };
  },
});

export const changeApprovalPolicy = act<ApprovalPolicy, void>({
  name: 'change_approval_policy',
  summary: 'Put another approval policy into force.',
  on: 'approval policy',
  object: () => 'approval policy',
  gate: {
    kinds: ['policy'],
    lines: async (tx, policy: ApprovalPolicy) => weakenedLines(await tx.approvalPolicy.inForce(), policy),
  },

  async perform(tx, policy, { at, note }) {
    // A policy that cannot be met would block all changes that it covers, including a change of itself.
    const unmet = await describeUnmetPolicy(tx, policy);
    if (unmet !== undefined) throw new Refusal('api-error', unmet);
    await tx.approvalPolicy.set(policy, at);
    note({ policy: Object.fromEntries(policyTexts(policy)), days: policy.days });
  },
});

/**
 * Refuses a second approval by one account, unless the first no longer counts or the second is signed with another key.
 */
async function refuseSecond(
  tx: ChangeRecords,
  { proposal, accountId, key }: { proposal: Proposal; accountId: string; key: string | undefined },
): Promise<void> {
  const before = (await tx.proposals.approvals(proposal.number)).find((approval) => approval.accountId === accountId);
  if (before === undefined || (key !== undefined && key !== before.key)) return;
  for (const rule of await findRulesOfApprover(tx, proposal, accountId)) {
    if (await approvalCounts(tx, before, rule)) {
      throw new Refusal('conflict', `You have already approved proposal ${String(proposal.number)}.`);
    }
  }
}

async function openProposal(tx: ChangeRecords, number: number, at: string): Promise<Proposal> {
  const proposal = await tx.proposals.find(number);
  if (proposal === undefined) throw new Refusal('resource-not-found', `There is no proposal ${String(number)}.`);
  if (proposal.state !== 'open')
    throw new Refusal('conflict', `Proposal ${String(number)} is ${proposal.state} already.`);
  if (proposal.endsAt <= at) throw new Refusal('conflict', `Proposal ${String(number)} expired at ${proposal.endsAt}.`);
  return proposal;
}

function refuseOldLogin({ at: loggedInAt }: StrongLogin, at: string): void {
  const age = new Date(at).getTime() - new Date(loggedInAt).getTime();
  if (age <= loginLifetimeMs) return;
  throw new Refusal(
    'twofactor-required',
    'This login is older than 15 minutes. Log in again with a one-time password.',
  );
}

async function refuseNonApprover(tx: ChangeRecords, proposal: Proposal, accountId: string): Promise<void> {
  if ((await findRulesOfApprover(tx, proposal, accountId)).length > 0) return;
  throw new Refusal('forbidden', `The policy does not ask you about proposal ${String(proposal.number)}.`);
}

/** The rules that a proposal must satisfy and that an account can approve under. */
async function findRulesOfApprover(tx: ChangeRecords, { lines }: Proposal, accountId: string): Promise<ApprovalRule[]> {
  const asking: ApprovalRule[] = [];
  for (const rule of rulesFor(await tx.approvalPolicy.inForce(), lines)) {
    if ((await listRuleAccounts(tx, rule)).some(({ id }) => id === accountId)) asking.push(rule);
  }
  return asking;
}
