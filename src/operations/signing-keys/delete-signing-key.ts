import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { by } from '../by.ts';
import { deleteKey } from './custody.ts';

export const deleteSigningKey = operation({
  name: 'delete_signing_key',
  method: 'DELETE',
  path: '/v1/brand/:brand_account_id/signing_key/:signing_key_sha3_384',
  since: 0,
  summary: 'Delete a signing key for good; no serial policy may still use it.',
  access: brandAdministrator('account-manage-keys', false),
  status: 204,
  refuses: ['conflict'],

  async handle(call) {
    const { brand, params } = call;
    const actor = by(call, 'delete_signing_key');
    await deleteKey({ ...call, actor }, brand.accountId, params.signing_key_sha3_384);
    return undefined;
  },
});
