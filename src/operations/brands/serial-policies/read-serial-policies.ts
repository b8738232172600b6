import { noModel } from '#acts/brands/models.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { presentSerialPolicy } from './present.ts';

export const readSerialPolicies = operation({
  name: 'read_serial_policies',
  method: 'GET',
  path: '/v1/brand/:brand_account_id/model/:model_name/serial_policy',
  since: 0,
  summary: "List a model's serial policies, newest first. The newest policy applies.",
  access: brandAdministrator('account-manage-metadata', true),
  response: 'SerialPolicyList',

  async handle({ brand, params, records }) {
    const { model_name: name } = params;
    if ((await records.models.find(brand.accountId, name)) === undefined) throw noModel(brand.accountId, name);
    return (await records.serialPolicies.list(brand.accountId, name)).map(presentSerialPolicy);
  },
});
