import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { pageOf, pageSize, placeOf } from '../page.ts';

export const listBrands = operation({
  name: 'list_brands',
  method: 'GET',
  path: '/internal/v1/brands',
  since: 0,
  summary: 'List the brands of the store, page by page.',
  access: storeAdministrator('store-view'),
  query: 'PageQuery',
  response: 'ListBrandsResponse',

  async handle({ query, records }) {
    const size = pageSize(query);
    const [accountId] = placeOf(query, [''] as const);
    const rows = await records.inventory.brands(accountId, size + 1);
    const { entries, next } = pageOf(rows, size, (brand) => [brand.accountId]);
    return {
      brands: entries.map(({ accountId, name, createdAt, createdBy }) => ({
        'account-id': accountId,
        name,
        'created-at': createdAt,
        'created-by': createdBy,
      })),
      'next-cursor': next,
    };
  },
});
