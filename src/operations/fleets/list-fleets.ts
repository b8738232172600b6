import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { pageOf, pageSize, placeOf } from '../page.ts';
import { presentFleet } from './present.ts';

export const listFleets = operation({
  name: 'list_fleets',
  method: 'GET',
  path: '/internal/v1/fleets',
  since: 0,
  summary: 'List the fleets, page by page.',
  access: storeAdministrator('store-view'),
  query: 'PageQuery',
  response: 'ListFleetsResponse',

  async handle({ query, records }) {
    const size = pageSize(query);
    const [after] = placeOf(query, [''] as const);
    const { entries, next } = pageOf(await records.fleets.list(after, size + 1), size, ({ name }) => [name]);
    return { fleets: entries.map(presentFleet), 'next-cursor': next };
  },
});
