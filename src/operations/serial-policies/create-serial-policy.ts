import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { by } from '../by.ts';
import { noModel } from '../models/present.ts';
import { noSigningKey } from '../signing-keys/present.ts';
import { presentSerialPolicy } from './present.ts';

export const createSerialPolicy = operation({
  name: 'create_serial_policy',
  method: 'POST',
  path: '/v1/brand/:brand_account_id/model/:model_name/serial_policy',
  since: 0,
  summary: 'Say with which signing key the serials of a model are signed from now on.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'CreateSerialPolicyRequest',
  response: 'SerialPolicy',
  status: 201,

  async handle(call) {
    const { principal, brand, params, body, records, now } = call;
    const { model_name: name } = params;
    const keyId = body['signing-key-sha3-384'];
    const policy = {
      brandAccountId: brand.accountId,
      modelName: name,
      signingKeySha3384: keyId,
      createdAt: timestamp(now()),
      createdBy: principal.accountId,
    };
    const object = `brand/${brand.accountId}/model/${name}`;
    const entry = { ...by(call, 'create_serial_policy'), at: policy.createdAt, object, details: { key: keyId } };
    const revision = await records.change(entry, async (tx, note) => {
      if ((await tx.models.find(brand.accountId, name)) === undefined) throw noModel(brand.accountId, name);
      const key = await tx.signingKeys.find(keyId);
      if (key?.brandAccountId !== brand.accountId) throw noSigningKey(brand.accountId, keyId);
      const number = await tx.serialPolicies.add(policy);
      note({ revision: number });
      return number;
    });
    return presentSerialPolicy({ ...policy, revision });
  },
});
