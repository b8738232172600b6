// larder token revoke
import { endTokens, revokeToken } from '#acts/tokens/tokens.ts';
import { timestamp } from '#domain/clock.ts';
import { isDateTime } from '#contract/schema.ts';
import { presentToken } from '#operations/tokens/present-token.ts';
import { command, UsageError, type CommandResult } from '../frame/command.ts';
import { formatCount } from '#domain/quantities.ts';
import { findAccount, readLatestTime, withStore, type OpenStore } from '../frame/store.ts';

export const tokenRevoke = command({
  name: 'token revoke',
  summary: 'Revoke a token, or all tokens of an account, at once and for good.',
  description:
    'This takes effect at the next request. With --account, logins in progress end too. A person who knows the ' +
    "password can log in again; if another person may know it, change it with 'larder account password'.",
  positionals: [
    { name: 'session', summary: "The session of the token, as 'larder token list' shows it.", optional: true },
  ],
  options: {
    account: { type: 'string', value: 'ID', summary: 'Revoke all tokens of this account.' },
    'issued-before': {
      type: 'string',
      value: 'TIME',
      summary: 'With --account: only those issued before, such as 2026-03-01T12:00:00Z.',
    },
  },
  examples: [
    'larder token revoke 7a3f6f0e-55f1-4c0e-9a40-6d1f1b1f6f6a',
    'larder token revoke --account xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --issued-before 2026-03-01T12:00:00Z --yes',
  ],
  confirm: {
    question: ({ positionals: { session }, options: { account } }) =>
      account === undefined
        ? `From the next request on the token of the session ${session ?? ''} is refused.`
        : `From the next request on the tokens of the account ${account} are refused.`,
    unattended: 'refused',
  },

  run({ positionals: { session }, options, data, world }) {
    const { account, 'issued-before': before } = options;
    if ((session === undefined) === (account === undefined)) {
      throw new UsageError("'token revoke' takes either a SESSION or --account ID");
    }
    if (before !== undefined && (account === undefined || !isDateTime(before))) {
      throw new UsageError('--issued-before is a time such as 2026-03-01T12:00:00Z, and goes with --account');
    }
    const issuedBefore = before === undefined ? null : timestamp(new Date(before));
    return withStore({ data, world }, (store) =>
      account === undefined ? revokeOne(store, session ?? '') : revokeAll(store, account, issuedBefore),
    );
  },
});

async function revokeOne({ acts, person }: OpenStore, session: string): Promise<CommandResult> {
  const token = await acts.do(revokeToken, person, { sessionId: session });
  const text = `The token of ${token.accountId} (${token.username}) with the session ${session} has ended.`;
  return { text, json: presentToken(token) };
}

async function revokeAll(store: OpenStore, id: string, issuedBefore: string | null): Promise<CommandResult> {
  const { records, acts, person } = store;
  const { username } = await findAccount(records, id);
  const ended = await acts.do(endTokens, person, { id, moment: await readLatestTime(store), issuedBefore });
  return {
    text: `${formatCount(ended, 'token')} of ${id} (${username}) ended for good.`,
    json: { id, 'ended-tokens': ended },
  };
}
