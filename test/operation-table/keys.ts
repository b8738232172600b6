// Rows of the operations about keys.
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

import { encodePublicKey, keyId } from '#assertions/format/openpgp.ts';
import { keepSigningKey } from '#test/fixtures/brands.ts';
import type { OperationRows } from './row.ts';
import { once, request } from './writes.ts';

const makeKeys = promisify(generateKeyPair);

export const keysRows: OperationRows = {
  create_signing_key: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['account-manage-keys', 'store-manage'],
  },
  read_signing_keys: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['store-view', 'account-manage-keys', 'account-manage-metadata', 'store-manage'],
    reads: ({ ids }) => [{ as: 'ada', path: `/v1/brand/${ids.ada}/signing_key` }],
  },
  read_signing_key_account_key_request: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['account-manage-keys', 'store-manage'],
  },
  delete_signing_key: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['account-manage-keys', 'store-manage'],
    writes: once(async ({ store, ada, brand }, n) => {
      const { publicKey, privateKey } = await makeKeys('rsa', { modulusLength: 2048 });
      const encoded = encodePublicKey(publicKey);
      const id = keyId(publicKey);
      await keepSigningKey(store, brand, { id, publicKey, privateKey, encoded }, `key-${n}`);
      return request(ada, 'DELETE', `/v1/brand/${brand}/signing_key/${id}`);
    }),
  },
};
