// Releases that wait for approvals, the approvals, and reads of both.
import { password, type Approver } from './approvers.ts';
import type { Answer } from '../history.ts';
import { messageOf, refusedWith, type SharedPackage, type WorkingClient } from './shared-work.ts';

const gatedChannels = ['latest/stable', 'latest/candidate'];
const maxRevision = 2;
/** Few, so that they get their approvals. */
const maxProposals = 4;

type Meaning = Pick<Answer, 'outcome' | 'entry' | 'claims'> | undefined;

/** Releases a revision of a gated package: it is done, or proposed. */
export async function releaseGated(
  { client, work, choices }: WorkingClient,
  { name, newest }: SharedPackage,
): Promise<void> {
  const channel = choices.pick(gatedChannels);
  const revision = choices.below(5) === 0 ? null : choices.between(1, Math.min(newest, maxRevision));
  const object = `bin/${name}`;
  await client.send({
    method: 'POST',
    path: `/v1/${object}/releases`,
    token: work.token,
    body: [{ channel, revision }],
    change: {
      action: 'push_releases',
      object,
      details: { releases: [[channel, revision]] },
      orElse: { action: 'propose_change', object },
    },
    understand({ status, body }) {
      if (status === 200) return { outcome: 'done', entry: { orElse: undefined } };
      const waiting = /^Waits for (\d+) more approvals? \(proposal (\d+), /.exec(messageOf(body));
      if (status !== 403 || waiting === null) return undefined;
      const [, missing = '', number = ''] = waiting;
      if (!work.proposals.includes(Number(number))) work.proposals.push(Number(number));
      work.proposals.splice(0, work.proposals.length - maxProposals);
      return {
        outcome: 'done',
        entry: { action: 'propose_change', object, details: { proposal: Number(number) }, orElse: undefined },
        claims: [
          { key: `proposal/${number}`, is: 'open' },
          { key: `missing proposal/${number}`, is: missing },
        ],
      };
    },
  });
}

/** Approves a proposal with the next code of an approver; sometimes with a code that was sent before. */
export async function approve(working: WorkingClient): Promise<void> {
  const { client, work, choices } = working;
  const isRepeated = choices.below(20) === 0;
  const approvers = work.approvers.filter((approver) => (isRepeated ? approver.mayRepeatCode : approver.hasNewCode));
  if (approvers.length === 0 || work.proposals.length === 0) return readProposal(working);
  const [approver, number] = [choices.pick(approvers), choices.pick(work.proposals)];
  const code = approver.takeCode();
  const reply = await client.send({
    method: 'POST',
    path: `/internal/v1/proposals/${number}/approve`,
    token: approver.token,
    body: { password, 'one-time-password': code },
    change: { action: 'approve_proposal', object: `proposal/${number}`, actor: approver.id },
    understand: ({ status, body }) => understandApproval({ number, approver, code, status, body }),
  });
  const at = hasEnded.test(messageOf(reply?.body)) ? work.proposals.indexOf(number) : -1;
  if (at !== -1) work.proposals.splice(at, 1);
}

const hasEnded = /^Proposal \d+ is (done|fallen) already/;

interface ApprovalAnswer {
  number: number;
  approver: Approver;
  code: string;
  status: number;
  body: { state?: string };
}

function understandApproval({ number, approver, code, status, body }: ApprovalAnswer): Meaning {
  const message = messageOf(body);
  if (status === 401 && /^The one-time password is wrong or was used already/.test(message))
    return approver.isRefusable(code) ? refusedWith() : undefined;
  // Clients that a stopped process kept waiting are behind each other when it continues.
  if (status === 429 && /^Too many logins are in progress/.test(message)) return refusedWith();
  // All other answers come after the login, which uses the code up.
  if (!approver.use(code)) return undefined;
  const key = `proposal/${number}`;
  // An approval that was not the end of the proposal was recorded.
  if (status === 200)
    return { outcome: 'done', entry: body.state === 'fallen' ? {} : { details: { fell: undefined } } };
  if (status !== 409) return undefined;
  if (/^You have already approved/.test(message))
    return refusedWith({ key: `approval ${approver.id} ${key}`, is: 'given' });
  const [, state] = hasEnded.exec(message) ?? [];
  return state === undefined ? undefined : refusedWith({ key, is: state });
}

/** Reads the state of a proposal, with the number of missing approvals. */
export async function readProposal({ client, work, choices }: WorkingClient): Promise<void> {
  if (work.proposals.length === 0) return;
  const number = choices.pick(work.proposals);
  const key = `proposal/${number}`;
  await client.send({
    method: 'GET',
    path: `/internal/v1/proposals/${number}`,
    token: work.token,
    understand({ status, body }) {
      if (status !== 200) return undefined;
      const { state, missing } = body as { state: string; missing: number };
      if (!['waits', 'approved'].includes(state)) return { outcome: 'read', claims: [{ key, is: state }] };
      const claims = [
        { key, is: state === 'waits' ? 'open' : state },
        { key: `missing ${key}`, is: String(missing) },
      ];
      return { outcome: 'read', claims };
    },
  });
}
