import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { membersIn, pick } from '../present.ts';
import { presentBrand } from './present.ts';

export const readBrand = operation({
  name: 'read_brand',
  method: 'GET',
  path: '/v1/brand/:brand_account_id',
  since: 21,
  summary: 'Read a brand.',
  access: brandAdministrator('account-manage-metadata', true),
  query: 'BrandQuery',
  response: 'Brand',

  async handle({ brand, query, records }) {
    const people = await records.accounts.byIds([brand.createdBy, brand.modifiedBy]);
    return pick(presentBrand(brand, people), membersIn(query.fields));
  },
});
