// larder token list
import type { OwnedMacaroon } from '#records/macaroons.ts';
import { presentToken } from '#operations/accounts/present-token.ts';
import { command } from '../frame/command.ts';
import { accountOf, latestMoment, withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';

export const tokenList = command({
  name: 'token list',
  summary: 'List the tokens that are good, newest first: whose they are, until when, and what for.',
  description: "A token itself is kept nowhere; it is known by its session, which 'larder token revoke' takes.",
  options: {
    account: { type: 'string', value: 'ID', summary: 'Only those of this account.' },
    ended: { type: 'boolean', summary: 'Also those that were revoked or have expired, for ninety days.' },
    limit: { type: 'integer', value: 'COUNT', minimum: 1, maximum: 10_000, summary: 'How many; otherwise 100.' },
  },
  examples: ['larder token list', 'larder token list --account xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --ended --json'],

  run: (call) =>
    withStore(call, async (store) => {
      const { records } = store;
      const { account, ended, limit = 100 } = call.options;
      if (account !== undefined) await accountOf(records, account);
      const now = await latestMoment(store);
      const wanted = { accountId: account ?? null, includeInactive: ended, now, before: undefined };
      const found = await records.macaroons.page(wanted, limit + 1);
      const shown = found.slice(0, limit);
      const more = found.length > limit ? `\nThere are more; --limit shows them.` : '';
      return {
        text: shown.length === 0 ? 'There are no such tokens.' : list(shown, now) + more,
        json: { tokens: shown.map(presentToken), more: found.length > limit },
      };
    }),
});

const list = (tokens: OwnedMacaroon[], now: string): string =>
  table(
    ['SESSION', 'ACCOUNT', 'SINCE', 'UNTIL', 'FOR'],
    tokens.map(({ sessionId, accountId, username, validSince, validUntil, description, ...token }) => [
      sessionId,
      `${accountId} (${username})`,
      validSince,
      token.revokedAt !== null ? `revoked ${token.revokedAt}` : validUntil <= now ? `ended ${validUntil}` : validUntil,
      description ?? '',
    ]),
  );
