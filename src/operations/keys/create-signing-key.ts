import { makeSigningKey } from '#acts/keys/signing-keys.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { presentSigningKey } from './present.ts';

export const createSigningKey = operation({
  name: 'create_signing_key',
  method: 'POST',
  path: '/v1/brand/:brand_account_id/signing_key',
  since: 23,
  summary: 'Create a signing key for a brand. The private key never leaves the store.',
  access: brandAdministrator('account-manage-keys', false),
  body: 'CreateSigningKeyRequest',
  response: 'SigningKey',
  status: 201,
  refuses: ['conflict', 'sealed'],

  async handle(call) {
    const { principal, brand, body, records } = call;
    const input = { brandAccountId: brand.accountId, name: body.name, createdBy: principal.accountId };
    const key = await makeSigningKey(call, caller(call), input);
    return presentSigningKey(key, await records.accounts.byIds([key.createdBy]));
  },
});
