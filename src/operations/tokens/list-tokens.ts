import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { pageSize } from '../page.ts';
import { includesInactive } from './includes-inactive.ts';
import { presentToken } from './present-token.ts';
import { readTokensPage } from './tokens-page.ts';

export const listTokens = operation({
  name: 'list_tokens',
  method: 'GET',
  path: '/internal/v1/tokens',
  since: 0,
  summary:
    'List the tokens of the store or of one account, newest first, page by page; or only the ones that expire soon.',
  access: storeAdministrator('store-view'),
  query: 'ListTokensQuery',
  response: 'ListTokensResponse',

  async handle({ query, records, authority }) {
    const { account, 'ending-before': endingBefore } = query;
    const { entries, next } = await readTokensPage(records, query, {
      accountId: account ?? null,
      now: timestamp(authority.latestTime()),
      endingBefore: endingBefore === undefined ? undefined : timestamp(new Date(endingBefore)),
      includeInactive: includesInactive(query['include-inactive']),
      size: pageSize(query),
    });
    return { tokens: entries.map(presentToken), 'next-cursor': next };
  },
});
