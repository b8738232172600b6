// larder key create
import { makeSigningKey } from '#acts/keys/signing-keys.ts';
import { command } from '../frame/command.ts';
import { describeKeyPlace, findBrand, custodyOf, noteUnknownOnline } from './find-keys.ts';
import { withStore } from '../frame/store.ts';

export const keyCreate = command({
  name: 'key create',
  summary: 'Create a signing key for a brand.',
  description:
    'The key is RSA with 4096 bits and takes a second or two to make. The private key is stored encrypted under ' +
    'the signing master key and never leaves the store. With --in-manager the store uses a key that is in the key ' +
    'manager (keys.manager in larder.toml), such as an HSM: make it there first, because the store makes none ' +
    "there. 'larder key request' writes the request that registers the key with the online store.",
  positionals: [
    { name: 'brand', summary: 'The account id of the brand.' },
    {
      name: 'name',
      summary: 'The name of the key: lower-case letters, digits and single inner dashes, such as serials.',
    },
  ],
  options: {
    'in-manager': {
      type: 'string',
      value: 'KEY',
      summary: 'Use the key that has this name in the key manager. Default: make a key in this store.',
    },
  },
  examples: ['larder key create acme serials', "larder key create acme models --in-manager 'acme models' --json"],

  run: ({ positionals: { brand, name }, options: { 'in-manager': managerKey }, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { accountId } = await findBrand(store, brand);
      const custody = custodyOf(store, world);
      const newKey = { brandAccountId: accountId, name, createdBy: accountId };
      const key = await makeSigningKey({ ...store, custody }, store.person, newKey, managerKey);
      const note = await noteUnknownOnline(store, accountId);
      const next =
        note ?? `It is registered with: larder key request ${name} --brand ${accountId} --folder ./to-the-internet`;
      return {
        text: `The brand ${accountId} has the key ${name}, with the id ${key.sha3_384}, ${describeKeyPlace(managerKey)}.\n${next}`,
        json: {
          'brand-account-id': accountId,
          name,
          'sha3-384': key.sha3_384,
          fingerprint: key.fingerprint,
          'manager-key': managerKey ?? null,
          status: 'new',
          'created-at': key.createdAt,
        },
      };
    }),
});
