import { deleteModel as act } from '#acts/brands/models.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';

export const deleteModel = operation({
  name: 'delete_model',
  method: 'DELETE',
  path: '/v1/brand/:brand_account_id/model/:model_name',
  since: 22,
  summary: 'Delete a device model that has no serial policies and no entries in the remodel allowlist.',
  access: brandAdministrator('account-manage-metadata', false),
  status: 204,
  refuses: ['conflict'],

  async handle(call) {
    const { brand, params, acts } = call;
    await acts.do(act, caller(call), { brandAccountId: brand.accountId, name: params.model_name });
    return undefined;
  },
});
