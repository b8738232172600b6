// larder token list
import type { OwnedMacaroon } from '#records/tokens/macaroons.ts';
import { after, timestamp } from '#domain/clock.ts';
import { maxTokenLifetimeMs } from '#macaroons/authority.ts';
import { presentToken } from '#operations/tokens/present-token.ts';
import { command } from '../frame/command.ts';
import { readDuration } from '../frame/duration.ts';
import { findAccount, readLatestTime, withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';

export const tokenList = command({
  name: 'token list',
  summary: 'List the valid tokens, newest first, with account, expiry and purpose.',
  description:
    "The store does not keep tokens themselves. It identifies a token by its session; use it with 'larder token " +
    "revoke'.",
  options: {
    account: { type: 'string', value: 'ID', summary: 'List only tokens of this account.' },
    ended: { type: 'boolean', summary: 'List also tokens that were revoked or have expired in the last ninety days.' },
    ending: {
      type: 'string',
      value: 'TIME',
      summary: 'List only valid tokens that expire within this time, such as 30d, the earliest first.',
    },
    limit: {
      type: 'integer',
      value: 'COUNT',
      minimum: 1,
      maximum: 10_000,
      summary: 'The number of tokens. Default: 100.',
    },
  },
  examples: [
    'larder token list',
    'larder token list --ending 30d',
    'larder token list --account xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --ended --json',
  ],

  run: (call) =>
    withStore(call, async (store) => {
      const { records } = store;
      const { account, ended, ending, limit = 100 } = call.options;
      const within = ending === undefined ? undefined : readDuration(ending, '--ending', maxTokenLifetimeMs);
      if (account !== undefined) await findAccount(records, account);
      const now = await readLatestTime(store);
      const filter = { accountId: account ?? null, includeInactive: ended, now, before: undefined };
      const tokens =
        within === undefined
          ? await records.macaroons.page(filter, limit + 1)
          : await records.macaroons.ending(
              { ...filter, endsBy: timestamp(after(new Date(now), within)), after: { until: '', sessionId: '' } },
              limit + 1,
            );
      const shown = tokens.slice(0, limit);
      const more = tokens.length > limit ? `\nThere are more; --limit shows them.` : '';
      return {
        text: shown.length === 0 ? 'There are no such tokens.' : list(shown, now) + more,
        json: { tokens: shown.map(presentToken), more: tokens.length > limit },
      };
    }),
});

const list = (tokens: OwnedMacaroon[], now: string): string =>
  table(
    ['SESSION', 'ACCOUNT', 'SINCE', 'UNTIL', 'LAST USED', 'FOR'],
    tokens.map(({ sessionId, accountId, username, validSince, validUntil, description, ...token }) => [
      sessionId,
      `${accountId} (${username})`,
      validSince,
      token.revokedAt !== null ? `revoked ${token.revokedAt}` : validUntil <= now ? `ended ${validUntil}` : validUntil,
      token.lastUsedAt?.slice(0, 16).concat('Z') ?? '-',
      description ?? '',
    ]),
  );
