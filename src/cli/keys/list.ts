// larder key list
import { registrationOf } from '#assertions/keys/registration.ts';
import { accountKeysOf } from '#operations/assertions/account-keys.ts';
import { command } from '../frame/command.ts';
import { describeKeyPlace, findBrands } from './find-keys.ts';
import { withStore } from '../frame/store.ts';
import { visible } from '../frame/terminal.ts';

export const keyList = command({
  name: 'key list',
  summary: 'List signing keys with the state of their registration, and where the private key is.',
  description:
    'A key is new until a request for it is written, requested until its account-key is imported, and registered ' +
    'until the online store revokes it or it expires.',
  options: { brand: { type: 'string', value: 'ID', summary: 'Only the keys of this brand.' } },
  examples: ['larder key list', 'larder key list --brand acme --json'],

  run: ({ options, data, world }) =>
    withStore({ data, world }, async (store) => {
      const brands = await findBrands(store, options.brand);
      const keys = [];
      for (const { accountId } of brands) keys.push(...(await store.records.signingKeys.list(accountId)));
      const registered = await accountKeysOf(keys, store.records);
      const shown = keys.map((key) => {
        const accountKey = registered.get(key.sha3_384);
        return {
          'brand-account-id': key.brandAccountId,
          name: key.name,
          'sha3-384': key.sha3_384,
          fingerprint: key.fingerprint,
          'manager-key': key.managerKey,
          status: registrationOf(key.requestedAt, accountKey, store.now()),
          'requested-at': key.requestedAt,
          since: (accountKey?.headers['since'] ?? null) as string | null,
          until: (accountKey?.headers['until'] ?? null) as string | null,
        };
      });
      const lines = shown.map(
        (key) =>
          `${key['brand-account-id']}  ${key.name.padEnd(16)}  ${key.status.padEnd(10)}  ${key['sha3-384']}  ` +
          visible(describeKeyPlace(key['manager-key'])),
      );
      return { text: lines.length === 0 ? 'There are no signing keys.' : lines.join('\n'), json: { keys: shown } };
    }),
});
