// larder key create
import { makeSigningKey } from '#acts/keys/signing-keys.ts';
import { command } from '../frame/command.ts';
import { findBrand, custodyOf, noteUnknownOnline } from './find-keys.ts';
import { withStore } from '../frame/store.ts';

export const keyCreate = command({
  name: 'key create',
  summary: 'Create a signing key for a brand.',
  description:
    'The key is RSA with 4096 bits and takes a second or two to make. The private key is stored encrypted under ' +
    "the signing master key and never leaves the store. 'larder key request' writes the request that registers " +
    'it with the online store.',
  positionals: [
    { name: 'brand', summary: 'The account id of the brand.' },
    {
      name: 'name',
      summary: 'The name of the key: lower-case letters, digits and single inner dashes, such as serials.',
    },
  ],
  examples: ['larder key create acme serials', 'larder key create acme models --json'],

  run: ({ positionals: { brand, name }, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { accountId } = await findBrand(store, brand);
      const custody = custodyOf(store, world);
      const newKey = { brandAccountId: accountId, name, createdBy: accountId };
      const key = await makeSigningKey({ ...store, custody }, store.person, newKey);
      const note = await noteUnknownOnline(store, accountId);
      const next =
        note ?? `It is registered with: larder key request ${name} --brand ${accountId} --folder ./to-the-internet`;
      return {
        text: `The brand ${accountId} has the key ${name}, with the id ${key.sha3_384}.\n${next}`,
        json: {
          'brand-account-id': accountId,
          name,
          'sha3-384': key.sha3_384,
          fingerprint: key.fingerprint,
          status: 'new',
          'created-at': key.createdAt,
        },
      };
    }),
});
