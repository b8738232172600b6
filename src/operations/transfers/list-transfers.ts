import { overseer } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import { pageOf, pageSize, placeOf } from '../page.ts';

export const presentReceivedTransfer = (transfer: ReceivedTransfer) => ({
  id: transfer.id,
  source: transfer.source,
  sequence: transfer.sequence,
  status: transfer.status,
  'received-at': transfer.receivedAt,
  'received-by': transfer.receivedBy,
  'settled-at': transfer.settledAt,
  'settled-by': transfer.settledBy,
});

export const listTransfers = operation({
  name: 'list_transfers',
  method: 'GET',
  path: '/internal/v1/transfers',
  since: 0,
  summary: 'List the received transfers, newest first, page by page.',
  access: overseer('transfer-approver', 'auditor'),
  query: 'PageQuery',
  response: 'ListTransfersResponse',

  async handle({ query, records }) {
    const size = pageSize(query);
    const [receivedAt, id] = placeOf(query, ['~', ''] as const);
    const rows = await records.transfers.before({ receivedAt, id }, size + 1);
    const { entries, next } = pageOf(rows, size, (row) => [row.receivedAt, row.id]);
    return {
      transfers: entries.map(presentReceivedTransfer),
      'next-cursor': next,
    };
  },
});
