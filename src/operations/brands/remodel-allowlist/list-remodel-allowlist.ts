import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import { readCursor, writeCursor } from '../../cursor.ts';
import { presentRemodelEntry } from './present.ts';

export const listRemodelAllowlist = operation({
  name: 'list_remodel_allowlist',
  method: 'GET',
  path: '/v1/brand/:brand_account_id/remodel-allowlist',
  since: 0,
  summary: "List a brand's permitted remodels, page by page.",
  access: brandAdministrator('account-manage-metadata', true),
  query: 'RemodelAllowlistQuery',
  response: 'ListRemodelAllowlistResponse',

  async handle({ brand, query, records }) {
    const size = Number(query['page-size'] ?? '100');
    if (size > 500) throw new Refusal('api-error', 'A page holds at most 500 entries at /page-size');
    const place = query.cursor === undefined ? undefined : readCursor(query.cursor, 3);
    const [fromModel = '', fromSerial = '', toModel = ''] = place ?? [];
    const after = place === undefined ? undefined : { fromModel, fromSerial, toModel };
    const only = { fromModel: query['from-model'] ?? null, toModel: query['to-model'] ?? null };
    const entries = await records.remodelAllowlist.list(brand.accountId, after, only, size + 1);
    const page = entries.slice(0, size);
    const last = page.at(-1);
    const hasMore = entries.length > size && last !== undefined;
    return {
      allowlist: page.map(presentRemodelEntry),
      'next-cursor': hasMore ? writeCursor([last.fromModel, last.fromSerial ?? '', last.toModel]) : null,
    };
  },
});
