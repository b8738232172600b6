import { gateErrorCodes } from '#acts/gate.ts';
import { deleteSigningKey as act } from '#acts/keys/signing-keys.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';

export const deleteSigningKey = operation({
  name: 'delete_signing_key',
  method: 'DELETE',
  path: '/v1/brand/:brand_account_id/signing_key/:signing_key_sha3_384',
  since: 0,
  summary: 'Delete a signing key permanently. No serial policy may use it.',
  access: brandAdministrator('account-manage-keys', false),
  status: 204,
  refuses: ['conflict', ...gateErrorCodes],

  async handle(call) {
    const { brand, params, acts, custody } = call;
    const key = { brandAccountId: brand.accountId, sha3_384: params.signing_key_sha3_384 };
    await acts.do(act, caller(call), key);
    custody.destroy(key.sha3_384);
    return undefined;
  },
});
