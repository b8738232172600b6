import { storeAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import type { ListTokensQuery } from '#api/wire.ts';
import type { HandlerRecords } from '#api/handler-records.ts';
import { pageOf, pageSize, placeOf } from '../page.ts';
import { isGiven } from '../tokens/include-inactive.ts';
import { presentToken } from './present-token.ts';

export const listTokens = operation({
  name: 'list_tokens',
  method: 'GET',
  path: '/internal/v1/tokens',
  since: 0,
  summary: 'List the tokens of the store, or of one account, newest first and page by page; or those that end soon.',
  access: storeAdministrator('store-view'),
  query: 'ListTokensQuery',
  response: 'ListTokensResponse',

  async handle({ query, records, authority }) {
    const now = timestamp(authority.latestTime());
    const size = pageSize(query);
    const wanted = { accountId: query.account ?? null, now };
    const { entries, next } = await (query['ending-before'] === undefined
      ? newest(records, query, { ...wanted, size })
      : ending(records, query, { ...wanted, by: timestamp(new Date(query['ending-before'])), size }));
    return { tokens: entries.map(presentToken), 'next-cursor': next };
  },
});

interface Wanted {
  accountId: string | null;
  now: string;
  size: number;
}

async function newest({ macaroons }: HandlerRecords, query: ListTokensQuery, { size, ...wanted }: Wanted) {
  const [since, sessionId] = placeOf(query, ['~', ''] as const);
  const includeInactive = isGiven(query['include-inactive']);
  const found = await macaroons.page({ ...wanted, includeInactive, before: { since, sessionId } }, size + 1);
  return pageOf(found, size, (one) => [one.validSince, one.sessionId]);
}

async function ending({ macaroons }: HandlerRecords, query: ListTokensQuery, wanted: Wanted & { by: string }) {
  const { size, ...which } = wanted;
  const [until, sessionId] = placeOf(query, ['', ''] as const);
  const found = await macaroons.ending({ ...which, after: { until, sessionId } }, size + 1);
  return pageOf(found, size, (one) => [one.validUntil, one.sessionId]);
}
