import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';
import { noSigningKey } from './present.ts';

export const deleteSigningKey = operation({
  name: 'delete_signing_key',
  method: 'DELETE',
  path: '/v1/brand/:brand_account_id/signing_key/:signing_key_sha3_384',
  since: 0,
  summary: 'Delete a signing key for good; no serial policy may still use it.',
  access: brandAdministrator('account-manage-keys', false),
  status: 204,

  async handle(call) {
    const { brand, params, records, now } = call;
    const { signing_key_sha3_384: id } = params;
    const object = `brand/${brand.accountId}/signing-key/${id}`;
    await records.change({ ...by(call, 'delete_signing_key'), at: timestamp(now()), object }, async (tx, note) => {
      const key = await tx.signingKeys.find(id);
      if (key?.brandAccountId !== brand.accountId) throw noSigningKey(brand.accountId, id);
      if (await tx.serialPolicies.useKey(id)) {
        throw new Refusal('conflict', `The signing key '${key.name}' is used to sign at least one serial policy.`);
      }
      await tx.signingKeys.remove(id);
      note({ name: key.name });
    });
    return undefined;
  },
});
