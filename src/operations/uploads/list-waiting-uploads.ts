import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { numberIn, pageOf, pageSize, placeOf } from '../page.ts';

export const listWaitingUploads = operation({
  name: 'list_waiting_uploads',
  method: 'GET',
  path: '/internal/v1/uploads',
  since: 0,
  summary: 'List the uploads that wait for a person, oldest first, page by page.',
  access: storeAdministrator('store-view'),
  query: 'PageQuery',
  response: 'ListWaitingUploadsResponse',

  async handle({ query, records }) {
    const size = pageSize(query);
    const [pushedAt, seq] = placeOf(query, ['', '0'] as const);
    const rows = await records.inventory.waiting({ pushedAt, seq: numberIn(seq) }, size + 1);
    const { entries, next } = pageOf(rows, size, (upload) => [upload.pushedAt, String(upload.seq)]);
    return {
      uploads: entries.map((upload) => ({
        'upload-id': upload.id,
        package: `${upload.namespace}/${upload.name}`,
        resource: upload.resource,
        size: upload.size,
        'sha3-384': upload.sha3_384,
        'pushed-at': upload.pushedAt,
        'pushed-by': { id: upload.pushedBy, username: upload.username },
      })),
      'next-cursor': next,
    };
  },
});
