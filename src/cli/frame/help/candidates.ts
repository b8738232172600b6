// Provides the values for completion: fixed words, and names and ids of the store.
import { namespaces } from '#domain/packages/namespace.ts';
import { risks } from '#domain/releases/channel.ts';
import { plainRoles } from '#domain/accounts/role.ts';
import { assertionTypes } from '#assertions/format/types.ts';
import { shortId } from '#transfers/site.ts';
import type { StoreRecords } from '#records/index.ts';
import { findKey } from '#configuration/keys.ts';
import { settingNames } from '../../store/config/values.ts';

/** Maximum number of values read from the store. */
const maxValues = 2000;

type Lookup = (records: StoreRecords, typed: Readonly<Record<string, string>>) => Promise<readonly string[]>;

/** Words that need no store, by `command place` or by `place`. */
const fixedWords: Readonly<Record<string, () => readonly string[]>> = {
  'config get key': settingNames,
  'config set key': settingNames,
  'config unset key': settingNames,
  'log-level level': () => findKey('log.level')?.words ?? [],
  'key rotate key': () => ['root', 'discharger'],
  'package manual-review switch': () => ['on', 'off'],
  'completion shell': () => ['bash', 'zsh', 'fish', 'man', 'config-man'],
  'assertion sign type': () => assertionTypes,
  'assertion export type': () => assertionTypes,
  channels: () => risks,
  '--channel': () => risks,
  '--release': () => risks,
  namespace: () => namespaces,
};

const accounts: Lookup = async ({ accounts }) => (await accounts.list()).map(({ id }) => id);
const brands: Lookup = async ({ brands }) => (await brands.list()).map(({ accountId }) => accountId);
const packages: Lookup = async ({ packages }) =>
  (await packages.names(maxValues)).map(({ namespace, name }) => `${namespace}/${name}`);
const sites: Lookup = async ({ transferSources }) => (await transferSources.list()).map(({ name }) => name);
const transfers: Lookup = async ({ transfers }) => (await transfers.list(100)).map(({ id }) => shortId(id));
const proposals: Lookup = async ({ proposals }) =>
  (await proposals.list({ before: Number.MAX_SAFE_INTEGER, openAt: new Date().toISOString() }, 100)).map(({ number }) =>
    String(number),
  );

const keys: Lookup = async (records) => {
  const signingKeys = [];
  for (const { accountId } of await records.brands.list())
    signingKeys.push(...(await records.signingKeys.list(accountId)));
  return signingKeys.map(({ name }) => name);
};

const modelsOfBrand: Lookup = async ({ models }, { brand = '' }) => (await models.list(brand)).map(({ name }) => name);

const ofPackage =
  (look: (records: StoreRecords, id: string) => Promise<readonly string[]>): Lookup =>
  async (records, { package: packageText = '' }) => {
    const [namespace = '', name = ''] = packageText.split('/');
    const validNamespace = namespaces.find((each) => each === namespace);
    const subject = validNamespace === undefined ? undefined : await records.packages.find(validNamespace, name);
    return subject === undefined ? [] : look(records, subject.id);
  };

/** Names and ids of the store, by `command place`, by the first word and the place, or by the place. */
const lookups: Readonly<Record<string, Lookup>> = {
  'account id': accounts,
  'approver-key id': accounts,
  'account role role': async ({ brands }) => [
    ...plainRoles,
    ...(await brands.list()).map(({ accountId }) => `brand-admin:${accountId}`),
  ],
  account: accounts,
  '--account': accounts,
  '--publisher': accounts,
  '--brand': brands,
  brand: brands,
  model: modelsOfBrand,
  'remodel --from': modelsOfBrand,
  'remodel --to': modelsOfBrand,
  'key key': keys,
  'serial-policy key': keys,
  '--key': keys,
  package: packages,
  packages,
  '--package': packages,
  'token issue --package': async (records, typed) =>
    (await packages(records, typed)).map((name) => name.replace('/', ':')),
  'site distrust name': sites,
  'transfer make --for': sites,
  'transfer gather --for': sites,
  'transfer id': transfers,
  number: proposals,
  revision: ofPackage(async ({ revisions }, id) =>
    (await revisions.list(id, 100)).map(({ revision }) => String(revision)),
  ),
  track: ofPackage(async ({ tracks }, id) => (await tracks.list(id)).map(({ name }) => name)),
  'review upload': async ({ uploads }) => (await uploads.awaitingPeople(100)).map(({ id }) => id),
  username: async ({ agents }) => (await agents.list()).map(({ username }) => username),
};

const keysOf = (command: string, place: string): string[] => [
  `${command} ${place}`,
  `${command.split(' ')[0]!} ${place}`,
  place,
];

/** The fixed words for a place of a command; undefined if the values are in the store. */
export function fixedValues(command: string, place: string): readonly string[] | undefined {
  for (const key of keysOf(command, place)) if (Object.hasOwn(fixedWords, key)) return fixedWords[key]!();
  return undefined;
}

/** The query for the values of a place. */
export function lookupFor(command: string, place: string): Lookup | undefined {
  for (const key of keysOf(command, place)) if (Object.hasOwn(lookups, key)) return lookups[key];
  return undefined;
}
