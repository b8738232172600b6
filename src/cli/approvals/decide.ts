// larder approval approve, larder approval reject
import { resolve } from 'node:path';

import { readProposalStatus } from '#acts/approvals/proposal-status.ts';
import { approveProposal, rejectProposal, type StrongLogin } from '#acts/approvals/proposals.ts';
import { approvalNamespace } from '#domain/approvals/approval-text.ts';
import { timestamp } from '#domain/clock.ts';
import { createIdentity } from '#identity/identity.ts';
import { presentProposal } from '#operations/approvals/present.ts';
import { readTextFile } from '../assertions/read-file.ts';
import { command, UsageError, type World } from '../frame/command.ts';
import { canAsk, converse } from '../frame/questions.ts';
import { readSecret } from '../frame/stdin.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { proposalArgument, proposalNumber, proposalText, stateText } from './proposal.ts';

/** The login of the approver: the user who runs the command is not an account of the store. */
const personOptions = {
  as: {
    type: 'string',
    value: 'NAME',
    summary: 'The user name or e-mail address of the approver. Default: ask at the terminal.',
  },
  'password-stdin': {
    type: 'boolean',
    summary:
      'Read the password from standard input. Without it, the command asks at the terminal and does not echo the ' +
      'password.',
  },
  'one-time-password': {
    type: 'string',
    value: 'CODE',
    summary: 'The current code of the authenticator, valid once. Default: ask at the terminal.',
  },
} as const;

interface ApproverLoginOptions {
  as: string | undefined;
  'password-stdin': boolean;
  'one-time-password': string | undefined;
}

interface ApproverCredentials {
  name: string;
  password: string;
  oneTimePassword: string;
}

async function readCredentials(world: World, options: ApproverLoginOptions): Promise<ApproverCredentials> {
  const { as, 'password-stdin': fromStdin, 'one-time-password': code } = options;
  if (fromStdin) {
    if (as === undefined || code === undefined)
      throw new UsageError('--password-stdin needs --as and --one-time-password');
    return { name: as, password: await readSecret(world.stdin, 'password'), oneTimePassword: code };
  }
  if (!canAsk(world))
    throw new UsageError(
      'there is no terminal to ask at; name the approver with --password-stdin, --as and --one-time-password',
    );
  return converse(world, async ({ ask, askHidden }) => ({
    name: as ?? (await ask('Name')),
    password: await askHidden('Password'),
    oneTimePassword: code ?? (await ask('One-time password')),
  }));
}

async function logIn(
  { records, acts, siteKey, now, config }: OpenStore,
  credentials: ApproverCredentials,
): Promise<StrongLogin> {
  const { logins } = createIdentity({
    records,
    acts,
    siteKey,
    now,
    // The host is the way in if no certificate works.
    certificateRoles: () => [],
    requiresTotp: () => config.identity.require_totp,
    // The command begins no session, so the notice of the store need not be acknowledged.
    requiresAcknowledgement: () => false,
    proofMinutes: () => config.sessions.reauthenticate_minutes,
    host: () => new URL(config.http.base_url).host,
  });
  const { id } = await logins.logInWithBoth({ ...credentials, address: '127.0.0.1', requestId: 'host' });
  return { accountId: id, at: timestamp(now()) };
}

export const approvalApprove = command({
  name: 'approval approve',
  summary: 'Approve a proposal, with the password and one-time password of an approver.',
  description:
    'The user who runs the command, even root, does not count as an approver: the store asks for the name, the password and the one-time ' +
    'password of an approver that the policy names. The proposer then repeats the same request to make the change. ' +
    `FILE of --signature is what 'ssh-keygen -Y sign -n ${approvalNamespace}' writes from the text of 'larder approval show --for-signing'.`,
  positionals: [proposalArgument],
  options: {
    ...personOptions,
    signature: { type: 'string', value: 'FILE', summary: 'The file with the signature, if the policy asks for one.' },
  },
  examples: [
    'larder approval approve 7',
    'larder approval approve 7 --as bob',
    'larder approval approve 7 --signature ./proposal-7.sig',
  ],

  async run({ positionals, options, data, world }) {
    const number = proposalNumber(positionals.number);
    const credentials = await readCredentials(world, options);
    const { signature: file } = options;
    return withStore(
      { data, world },
      async (store) => {
        const signature = file === undefined ? undefined : await store.asCaller(() => readTextFile(resolve(file)));
        const login = await logIn(store, credentials);
        const approver = { actor: login.accountId };
        const { fell } = await store.acts.do(approveProposal, approver, { number, login, signature });
        const shown = await readProposalStatus(store.records, number, timestamp(store.now()));
        const text = fell
          ? `Proposal ${String(number)} fell: the data that it would change has changed since. No approval was recorded.`
          : `Approved. Proposal ${String(number)} ${stateText(shown)}.`;
        return { text: `${text}\n${proposalText(shown)}`, json: presentProposal(shown), exitCode: fell ? 1 : 0 };
      },
      { writesOutside: file !== undefined },
    );
  },
});

export const approvalReject = command({
  name: 'approval reject',
  summary: 'Reject a proposal, with the password and one-time password of an approver.',
  description:
    'The proposed change is not made. It cannot be proposed again before the end of this proposal, unless the ' +
    'data that it would change has changed.',
  positionals: [proposalArgument],
  options: {
    ...personOptions,
    reason: { type: 'string', value: 'TEXT', summary: 'The reason, for the proposer.', required: true },
  },
  examples: ["larder approval reject 7 --as bob --reason 'It crashes on pumps.'"],

  async run({ positionals, options, data, world }) {
    const number = proposalNumber(positionals.number);
    const credentials = await readCredentials(world, options);
    return withStore({ data, world }, async (store) => {
      const login = await logIn(store, credentials);
      const { reason } = options;
      await store.acts.do(rejectProposal, { actor: login.accountId }, { number, login, reason });
      const shown = await readProposalStatus(store.records, number, timestamp(store.now()));
      return { text: `Rejected. Proposal ${String(number)} is not done.`, json: presentProposal(shown) };
    });
  },
});
