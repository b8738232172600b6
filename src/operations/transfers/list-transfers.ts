import { overseer } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { pageOf, pageSize, placeOf } from '../page.ts';

export const listTransfers = operation({
  name: 'list_transfers',
  method: 'GET',
  path: '/internal/v1/transfers',
  since: 0,
  summary: 'List the transfers that came in, the newest first, page by page.',
  access: overseer('transfer-approver', 'auditor'),
  query: 'PageQuery',
  response: 'ListTransfersResponse',

  async handle({ query, records }) {
    const size = pageSize(query);
    const [receivedAt, id] = placeOf(query, ['~', ''] as const);
    const found = await records.transfers.before({ receivedAt, id }, size + 1);
    const { entries, next } = pageOf(found, size, (one) => [one.receivedAt, one.id]);
    return {
      transfers: entries.map((one) => ({
        ...{ id: one.id, source: one.source, sequence: one.sequence, status: one.status },
        ...{ 'received-at': one.receivedAt, 'received-by': one.receivedBy },
        ...{ 'settled-at': one.settledAt, 'settled-by': one.settledBy },
      })),
      'next-cursor': next,
    };
  },
});
