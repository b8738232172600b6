import { storeAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import { isGiven } from '../tokens/include-inactive.ts';
import { presentToken } from './present-token.ts';

export const listTokens = operation({
  name: 'list_tokens',
  method: 'GET',
  path: '/internal/v1/tokens',
  since: 0,
  summary: 'List the tokens of the store, or of one account, newest first and page by page.',
  access: storeAdministrator('store-view'),
  query: 'ListTokensQuery',
  response: 'ListTokensResponse',

  async handle({ query, records, authority }) {
    const size = Number(query['page-size'] ?? '100');
    if (size < 1 || size > 500) throw new Refusal('api-error', 'A page holds 1 to 500 tokens at /page-size');
    const [since, sessionId] = query.cursor === undefined ? [] : readCursor(query.cursor, 2);
    const found = await records.macaroons.page(
      {
        accountId: query.account ?? null,
        now: timestamp(authority.latestTime()),
        includeInactive: isGiven(query['include-inactive']),
        before: since === undefined || sessionId === undefined ? undefined : { since, sessionId },
      },
      size + 1,
    );
    const page = found.slice(0, size);
    const last = page.at(-1);
    const hasMore = found.length > size && last !== undefined;
    return {
      tokens: page.map(presentToken),
      'next-cursor': hasMore ? writeCursor([last.validSince, last.sessionId]) : null,
    };
  },
});
