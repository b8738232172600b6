import { createSerialPolicy as act } from '#acts/brands/serial-policies.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';
import { presentSerialPolicy } from './present.ts';

export const createSerialPolicy = operation({
  name: 'create_serial_policy',
  method: 'POST',
  path: '/v1/brand/:brand_account_id/model/:model_name/serial_policy',
  since: 0,
  summary: 'Set the signing key for the serials of a model from now on.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'CreateSerialPolicyRequest',
  response: 'SerialPolicy',
  status: 201,

  async handle(call) {
    const { principal, brand, params, body, acts } = call;
    const policy = await acts.do(act, caller(call), {
      brandAccountId: brand.accountId,
      modelName: params.model_name,
      keyId: body['signing-key-sha3-384'],
      principal,
    });
    return presentSerialPolicy(policy);
  },
});
