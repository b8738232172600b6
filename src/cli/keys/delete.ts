// larder key delete
import { deleteSigningKey } from '#acts/keys/signing-keys.ts';
import { managerKeyOf } from '#assertions/keys/key-custody.ts';
import { command } from '../frame/command.ts';
import { findBrand, custodyOf, findSigningKey } from './find-keys.ts';
import { withStore } from '../frame/store.ts';

export const keyDelete = command({
  name: 'key delete',
  summary: 'Delete a signing key for good.',
  description:
    'The store signs nothing with the key from then on. Only a backup with its master key restores it. ' +
    'Assertions that it signed stay valid. Devices stop trusting the key only when the online store has revoked ' +
    "it: let the brand revoke the key there, and import the revocation with 'larder assertion import'. A key " +
    'that a serial policy uses cannot be deleted.',
  positionals: [
    { name: 'brand', summary: 'The account id of the brand.' },
    { name: 'key', summary: 'The name of the key, or its id.' },
  ],
  examples: ['larder key delete acme serials', 'larder key delete acme models --json'],

  run: ({ positionals: { brand, key: nameOrId }, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { accountId } = await findBrand(store, brand);
      const { name, sha3_384, sealed } = await findSigningKey(store, nameOrId, accountId);
      await store.acts.do(deleteSigningKey, store.person, { brandAccountId: accountId, sha3_384 });
      custodyOf(store, world).destroy(sha3_384);
      return {
        text:
          `The key ${name} of the brand ${accountId} is deleted.` +
          (managerKeyOf(sealed) === undefined
            ? ''
            : ' The key manager still has it: delete it with the tools of the device.'),
        json: { 'brand-account-id': accountId, name, 'sha3-384': sha3_384 },
      };
    }),
});
