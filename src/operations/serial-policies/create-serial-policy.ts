import { parseAssertion } from '#assertions/assertion.ts';
import { delegatesSerials } from '#assertions/signing.ts';
import { series } from '#assertions/types.ts';
import { administers, brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
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
    const numbered = await records.change(entry, async (tx, note) => {
      if ((await tx.models.find(brand.accountId, name)) === undefined) throw noModel(brand.accountId, name);
      const key = await tx.signingKeys.find(keyId);
      const authority = key?.brandAccountId;
      // Another brand's key signs only for those who administer that brand, too; to others it is not there.
      if (authority === undefined) throw noSigningKey(brand.accountId, keyId);
      if (authority !== brand.accountId) {
        if (!(await administers(principal, authority, tx))) throw noSigningKey(brand.accountId, keyId);
        const kept = await tx.assertions.find(`model/${series}/${brand.accountId}/${name}`);
        const model = kept && parseAssertion(kept.text);
        if (!delegatesSerials(model, { brandId: brand.accountId, model: name }, authority)) {
          throw new Refusal(
            'api-error',
            `The key belongs to '${authority}', which signs serials of the model '${name}' only where the model assertion names it as serial-authority; sign or import that assertion first.`,
          );
        }
      }
      const revision = await tx.serialPolicies.add(policy);
      note({ revision, authority });
      return { ...policy, authority, revision };
    });
    return presentSerialPolicy(numbered);
  },
});
