// larder key import
import { createPublicKey } from '#domain/cryptography.ts';
import { resolve } from 'node:path';

import { importSigningKey } from '#acts/keys/signing-keys.ts';
import { parseAssertion } from '#assertions/format/assertion.ts';
import { keyId } from '#assertions/format/openpgp.ts';
import { readSecretKey } from '#assertions/keys/secret-key.ts';
import { Refusal } from '#domain/refusal.ts';
import { readTextFile } from '../assertions/read-file.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { findBrand, custodyOf } from './find-keys.ts';

export const keyImport = command({
  name: 'key import',
  summary: 'Import the signing key of a former store, so that this store can sign with it.',
  description:
    "FILE is the output of 'gpg --export-secret-keys --armor KEY' for a key without a passphrase, or PEM. First " +
    'import the account-key with the public key; its account must be a brand here. The private key is stored ' +
    'encrypted under the signing master key. FILE itself is not changed: destroy it.',
  positionals: [{ name: 'file', summary: 'The private key.' }],
  options: {
    name: { type: 'string', value: 'NAME', summary: 'The name of the key here. Default: the name in its account-key.' },
  },
  examples: ['larder key import ./former-store.asc', 'larder key import ./former-store.pem --name former'],

  run: ({ positionals: { file }, options, data, world }) =>
    withStore(
      { data, world },
      async (store) => {
        const text = await store.asCaller(() => readTextFile(resolve(file)));
        const privateKey = readSecretKey(text);
        const id = keyId(createPublicKey(privateKey));
        const stored = await store.records.assertions.find(`account-key/${id}`);
        if (stored === undefined) {
          throw new Refusal(
            'conflict',
            `No account-key with the id ${id} is here, so no device would believe what this key signs: take it in first, by 'larder assertion import'.`,
          );
        }
        const { headers } = parseAssertion(stored.text);
        const account = headers['account-id'] as string;
        const { accountId } = await findBrand(store, account);
        const name = options.name ?? (headers['name'] as string | undefined) ?? 'imported';
        const key = custodyOf(store, world).keep(accountId, privateKey);
        const newKey = { brandAccountId: accountId, name, createdBy: accountId, key };
        const made = await store.acts.do(importSigningKey, store.person, newKey);
        return {
          text: `The brand ${accountId} has the key ${name}, with the id ${made.sha3_384}. ${file} is of no use any more; destroy it.`,
          json: {
            'brand-account-id': accountId,
            name,
            'sha3-384': made.sha3_384,
            fingerprint: made.fingerprint,
            'created-at': made.createdAt,
          },
        };
      },
      { writesOutside: true },
    ),
});
