import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { by } from '../by.ts';
import { makeSigningKey } from './custody.ts';
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
  refuses: ['conflict', 'sealed'],

  async handle(call) {
    const { principal, brand, body, records, masterKey, now } = call;
    const key = await makeSigningKey({
      records,
      now,
      masterKey: masterKey(),
      brandAccountId: brand.accountId,
      name: body.name,
      createdBy: principal.accountId,
      actor: by(call, 'create_signing_key'),
    });
    return presentSigningKey(key, await records.brands.people([key.createdBy]));
  },
});
