import { deleteBrand as act } from '#acts/brands/brands.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';

export const deleteBrand = operation({
  name: 'delete_brand',
  method: 'DELETE',
  path: '/v1/brand/:brand_account_id',
  since: 21,
  summary: 'Delete a brand without models and signing keys. Its account stays.',
  access: brandAdministrator('account-manage-metadata', false),
  status: 204,
  refuses: ['conflict'],

  async handle(call) {
    await call.acts.do(act, caller(call), { accountId: call.brand.accountId });
    return undefined;
  },
});
