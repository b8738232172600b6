// larder key show
import { joined, type AssertionValue } from '#assertions/format/assertion.ts';
import { managerKeyOf } from '#assertions/keys/key-custody.ts';
import { registrationOf } from '#assertions/keys/registration.ts';
import { accountKeysOf } from '#operations/assertions/account-keys.ts';
import { command } from '../frame/command.ts';
import { describeKeyPlace, findSigningKey } from './find-keys.ts';
import { withStore } from '../frame/store.ts';
import { columns, visible } from '../frame/terminal.ts';

export const keyShow = command({
  name: 'key show',
  summary: 'Show a signing key: its registration, its permissions, and the serial policies that use it.',
  description:
    "Only the online store can revoke a key. The revocation shows here once it is imported with 'larder " +
    "assertion import'. The private key is never shown.",
  positionals: [{ name: 'key', summary: 'The name of the key, or its id.' }],
  options: {
    brand: { type: 'string', value: 'ID', summary: 'The brand of the key, if several brands have a key of this name.' },
  },
  examples: ['larder key show serials --brand acme', 'larder key show serials --json'],

  run: ({ positionals, options, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { records, now } = store;
      const key = await findSigningKey(store, positionals.key, options.brand);
      const managerKey = managerKeyOf(key.sealed);
      const accountKey = (await accountKeysOf([key], records)).get(key.sha3_384);
      const header = (name: string): AssertionValue | null => accountKey?.headers[name] ?? null;
      const policies = await records.serialPolicies.ofKey(key.sha3_384);
      const json = {
        'brand-account-id': key.brandAccountId,
        name: key.name,
        'sha3-384': key.sha3_384,
        fingerprint: key.fingerprint,
        'manager-key': managerKey ?? null,
        status: registrationOf(key.requestedAt, accountKey, now()),
        'created-at': key.createdAt,
        'created-by': key.createdBy,
        'requested-at': key.requestedAt,
        since: header('since') as string | null,
        until: header('until') as string | null,
        constraints: header('constraints'),
        'serial-policies': policies.map((policy) => ({
          'brand-account-id': policy.brandAccountId,
          'model-name': policy.modelName,
          revision: policy.revision,
        })),
        'account-key': accountKey === undefined ? null : joined(accountKey),
      };
      const validity = `from ${json.since ?? ''} ${json.until === null ? 'on' : `until ${json.until}`}`;
      const models = policies.map((policy) => `${policy.brandAccountId}/${policy.modelName} (${policy.revision})`);
      const rows: [string, string][] = [
        ['Key', `${key.name} of the brand ${key.brandAccountId}`],
        ['Id', key.sha3_384],
        ['Fingerprint', key.fingerprint],
        ['Private key', describeKeyPlace(managerKey)],
        ['Status', json.status],
        ['Made', `${key.createdAt} by ${key.createdBy}`],
        ['Requested', key.requestedAt ?? 'never'],
        ...(accountKey === undefined ? [] : ([['Valid', validity]] satisfies [string, string][])),
        [
          'May sign',
          json.constraints === null ? 'everything that a brand may sign' : `only ${JSON.stringify(json.constraints)}`,
        ],
        ['Signs', models.length === 0 ? 'serials of no model' : `serials of ${models.join(', ')}`],
      ];
      return { text: columns(rows.map(([left, right]) => [left, visible(right)] as const)).trimEnd(), json };
    }),
});
