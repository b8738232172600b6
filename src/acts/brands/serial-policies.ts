// Serial policies: the key that signs the serials of a model.
import { parseAssertion } from '#assertions/format/assertion.ts';
import { delegatesSerials } from '#assertions/signing.ts';
import { series } from '#assertions/format/types.ts';
import { Refusal } from '#domain/refusal.ts';
import type { SerialPolicy } from '#records/brands/serial-policies.ts';
import { act } from '../act.ts';
import { administers, authorOf } from './brands.ts';
import { noModel } from './models.ts';
import { noSigningKey } from '../keys/signing-keys.ts';

interface SerialPolicyTarget {
  brandAccountId: string;
  modelName: string;
}

const object = ({ brandAccountId, modelName }: SerialPolicyTarget): string =>
  `brand/${brandAccountId}/model/${modelName}`;

export const createSerialPolicy = act<
  SerialPolicyTarget & { keyId: string; principal: Parameters<typeof administers>[0] },
  SerialPolicy
>({
  name: 'create_serial_policy',
  summary: 'Set the signing key for the serials of a model.',
  on: 'brand/ACCOUNT-ID/model/NAME',
  object,
  gate: { never: 'it uses keys of the brand and can be deleted again' },

  async perform(tx, { brandAccountId, modelName, keyId, principal }, { at, actor, note }) {
    if ((await tx.models.find(brandAccountId, modelName)) === undefined) throw noModel(brandAccountId, modelName);
    const key = await tx.signingKeys.find(keyId);
    const authority = key?.brandAccountId;
    // A key of another brand may be used only by administrators of that brand; for all others it does not exist.
    if (authority === undefined) throw noSigningKey(brandAccountId, keyId);
    if (authority !== brandAccountId) {
      if (!(await administers(principal, authority, tx))) throw noSigningKey(brandAccountId, keyId);
      const modelAssertion = await tx.assertions.find(`model/${series}/${brandAccountId}/${modelName}`);
      const model = modelAssertion && parseAssertion(modelAssertion.text);
      if (!delegatesSerials(model, { brandId: brandAccountId, model: modelName }, authority)) {
        throw new Refusal(
          'api-error',
          `The key belongs to '${authority}', which signs serials of the model '${modelName}' only if the model assertion names it as serial-authority. Sign or import that assertion first.`,
        );
      }
    }
    const createdBy = await authorOf(tx, actor, brandAccountId);
    const policy = { brandAccountId, modelName, signingKeySha3384: keyId, createdAt: at, createdBy };
    const revision = await tx.serialPolicies.add(policy);
    note({ key: keyId, revision, authority });
    return { ...policy, authority, revision };
  },
});

export const deleteSerialPolicy = act<SerialPolicyTarget & { revision: string }, void>({
  name: 'delete_serial_policy',
  summary: 'Delete a serial policy; the newest of the remaining ones then counts.',
  on: 'brand/ACCOUNT-ID/model/NAME',
  object,
  gate: { never: 'serials that must not be signed have to stop at once' },

  async perform(tx, { brandAccountId, modelName, revision }, { note }) {
    if ((await tx.models.find(brandAccountId, modelName)) === undefined) throw noModel(brandAccountId, modelName);
    const isNumber = /^[1-9][0-9]{0,9}$/.test(revision);
    if (!isNumber || !(await tx.serialPolicies.remove(brandAccountId, modelName, Number(revision)))) {
      throw new Refusal(
        'resource-not-found',
        `The model '${modelName}' has no serial policy ${revision.slice(0, 20)}.`,
      );
    }
    note({ revision });
  },
});
