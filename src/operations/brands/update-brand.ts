import { updateBrand as act } from '#acts/brands/brands.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { presentBrand } from './present.ts';

export const updateBrand = operation({
  name: 'update_brand',
  method: 'PATCH',
  path: '/v1/brand/:brand_account_id',
  since: 21,
  summary: 'Change the name of a brand.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'UpdateBrandRequest',
  response: 'Brand',

  async handle(call) {
    const { brand, body, records, acts } = call;
    const renamed = await acts.do(act, caller(call), { accountId: brand.accountId, name: body.name });
    return presentBrand(renamed, await records.accounts.byIds([renamed.createdBy, renamed.modifiedBy]));
  },
});
