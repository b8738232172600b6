import { deleteSerialPolicy as act } from '#acts/brands/serial-policies.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';

export const deleteSerialPolicy = operation({
  name: 'delete_serial_policy',
  method: 'DELETE',
  path: '/v1/brand/:brand_account_id/model/:model_name/serial_policy/:revision',
  since: 0,
  summary: 'Delete a serial policy. The newest remaining policy then applies.',
  access: brandAdministrator('account-manage-metadata', false),
  status: 204,

  async handle(call) {
    const { brand, params, acts } = call;
    const { model_name: modelName, revision } = params;
    await acts.do(act, caller(call), { brandAccountId: brand.accountId, modelName, revision });
    return undefined;
  },
});
