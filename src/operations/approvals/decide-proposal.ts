import { readProposalStatus } from '#acts/approvals/proposal-status.ts';
import { approveProposal as approve, rejectProposal as reject, type StrongLogin } from '#acts/approvals/proposals.ts';
import { account } from '#access/access-rules.ts';
import type { IdentityProvider } from '#http/identity-provider.ts';
import { operation } from '#http/operation.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { caller } from '../caller.ts';
import { presentProposal } from './present.ts';
import { numberOf } from './read-proposal.ts';

const refuses = [
  'forbidden',
  'conflict',
  'invalid-credentials',
  'twofactor-required',
  'twofactor-failure',
  'too-many-requests',
] as const;

export const approveProposal = operation({
  name: 'approve_proposal',
  method: 'POST',
  path: '/internal/v1/proposals/:number/approve',
  since: 0,
  summary:
    'Approve a proposal, with password and one-time password. With enough approvals, the account that proposed the change repeats its request to carry it out.',
  access: account('store'),
  body: 'ApproveProposalRequest',
  response: 'Proposal',
  refuses,

  async handle(call) {
    const { params, body, acts, records, now } = call;
    const number = numberOf(params.number);
    const { signature } = body;
    const { fell } = await acts.do(approve, caller(call), { number, login: await logIn(call, body), signature });
    const shown = await readProposalStatus(records, number, timestamp(now()));
    return presentProposal(fell ? { ...shown, state: 'fallen' } : shown);
  },
});

export const rejectProposal = operation({
  name: 'reject_proposal',
  method: 'POST',
  path: '/internal/v1/proposals/:number/reject',
  since: 0,
  summary: 'Reject a proposal, with password and one-time password.',
  access: account('store'),
  body: 'RejectProposalRequest',
  response: 'Proposal',
  refuses,

  async handle(call) {
    const { params, body, acts, records, now } = call;
    const number = numberOf(params.number);
    await acts.do(reject, caller(call), { number, login: await logIn(call, body), reason: body.reason });
    return presentProposal(await readProposalStatus(records, number, timestamp(now())));
  },
});

export interface ApprovalLoginCall {
  principal: Principal;
  identity: IdentityProvider;
  address: string;
  requestId: string;
  now: Now;
}

/** Logs in the person behind the token or session again: a stolen token or session alone cannot approve. */
export async function logIn(
  { principal: { username, sessionId }, identity, address, requestId, now }: ApprovalLoginCall,
  { password, 'one-time-password': oneTimePassword }: { password: string; 'one-time-password': string },
): Promise<StrongLogin> {
  const { id } = await identity.logins.logInWithBoth({
    name: username,
    password,
    oneTimePassword,
    sessionId,
    address,
    requestId,
  });
  return { accountId: id, at: timestamp(now()) };
}
