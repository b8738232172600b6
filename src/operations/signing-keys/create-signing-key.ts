import { makeSealedKey } from '#assertions/keys.ts';
import { isKeyName } from '#assertions/types.ts';
import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';
import { presentSigningKey } from './present.ts';

export const createSigningKey = operation({
  name: 'create_signing_key',
  method: 'POST',
  path: '/v1/brand/:brand_account_id/signing_key',
  since: 23,
  summary: 'Make a signing key for a brand; its private half never leaves the appliance.',
  access: brandAdministrator('account-manage-keys', false),
  body: 'CreateSigningKeyRequest',
  response: 'SigningKey',
  status: 201,

  async handle(call) {
    const { principal, brand, body, records, masterKey, now } = call;
    const { name } = body;
    if (!isKeyName(name)) {
      throw new Refusal(
        'api-error',
        `The key name '${name}' must be of lower-case letters, digits and single inner dashes, with a letter among them.`,
      );
    }
    const master = masterKey();
    if (master === undefined) {
      throw new Refusal('sealed', 'The store is sealed: give it the signing master key, then keys can be made again.');
    }
    const taken = new Refusal('conflict', `The brand has a signing key '${name}' already.`);
    // Looked at before the second that it takes to make a key, and again when it is kept.
    if (await records.signingKeys.hasName(brand.accountId, name)) throw taken;

    const key = {
      ...(await makeSealedKey(master, brand.accountId)),
      brandAccountId: brand.accountId,
      name,
      createdAt: timestamp(now()),
      createdBy: principal.accountId,
      modifiedAt: null,
      modifiedBy: null,
      requestedAt: null,
    };
    const entry = {
      ...by(call, 'create_signing_key'),
      at: key.createdAt,
      object: `brand/${brand.accountId}/signing-key/${key.sha3_384}`,
      details: { name },
    };
    await records.change(entry, async (tx) => {
      if (!(await tx.signingKeys.claim(key))) throw taken;
    });
    return presentSigningKey(key, await records.brands.people([key.createdBy]));
  },
});
