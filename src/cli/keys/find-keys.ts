// Finds and uses the signing keys of brands, for commands on the host.
import type { KeyObject } from '#domain/cryptography.ts';
import { join } from 'node:path';

import { createKeyCustody, type KeyCustody } from '#assertions/keys/key-custody.ts';
import { createKeyManager, refusedPinFile, type KeyManager } from '#assertions/keys/key-manager.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Brand } from '#records/brands/brands.ts';
import type { SigningKey } from '#records/keys/signing-keys.ts';
import type { Config } from '#configuration/config.ts';
import { nearest } from '#domain/nearest.ts';
import { lockPin } from '#data/lock.ts';
import { readMasterKey } from '#data/secrets.ts';
import type { SiteKeys } from '#transfers/site.ts';
import { UsageError, type World } from '../frame/command.ts';
import type { OpenStore } from '../frame/store.ts';

/** Finds the brand of an account; refuses an account that is not a brand. */
export async function findBrand({ records }: Pick<OpenStore, 'records'>, id: string): Promise<Brand> {
  const brand = await records.brands.find(id);
  if (brand !== undefined) return brand;
  throw new Refusal('resource-not-found', `There is no brand '${id}'; 'larder brand create' makes one of an account.`);
}

/**
 * A note for a brand with an account id that this store created; undefined for other brands. Assertions with such an id are
 * usable only at this site.
 */
export const noteUnknownOnline = async (
  { records }: Pick<OpenStore, 'records'>,
  id: string,
): Promise<string | undefined> =>
  (await records.accounts.isIdMadeHere(id))
    ? `The account id ${id} was created by this store. The online store does not know it and registers no key of ` +
      "that brand. To register a key, use an account with its id in the online store: 'larder " +
      "account create --id ID', where ID is what 'snapcraft whoami' shows when logged in to the online store."
    : undefined;

/** All brands, or the brand with this id. */
export const findBrands = async (store: Pick<OpenStore, 'records'>, id: string | undefined): Promise<Brand[]> =>
  id === undefined ? store.records.brands.list() : [await findBrand(store, id)];

/** Where a private key is. */
export const describeKeyPlace = (managerKey: string | null | undefined): string =>
  managerKey === null || managerKey === undefined ? 'in this store' : `in the key manager as '${managerKey}'`;

/** Finds a key by name or id, of one brand or of any. */
export async function findSigningKey(
  store: Pick<OpenStore, 'records'>,
  nameOrId: string,
  brandId: string | undefined,
): Promise<SigningKey> {
  const matches: SigningKey[] = [];
  const names: string[] = [];
  for (const { accountId } of await findBrands(store, brandId)) {
    for (const { name, sha3_384 } of await store.records.signingKeys.list(accountId)) {
      names.push(name);
      const key = [name, sha3_384].includes(nameOrId) ? await store.records.signingKeys.find(sha3_384) : undefined;
      if (key !== undefined) matches.push(key);
    }
  }
  const [key, other] = matches;
  if (key === undefined) {
    const meant = nearest(nameOrId, names);
    const hint = meant === undefined ? "'larder key list' lists them" : `did you mean '${meant}'?`;
    throw new Refusal('resource-not-found', `There is no signing key '${nameOrId}'; ${hint}`);
  }
  if (other !== undefined) throw new UsageError(`several brands have a key '${nameOrId}'; say which with --brand ID`);
  return key;
}

/** The signing master key; undefined while the store is sealed. */
export const masterKeyOf = (
  { directory, config }: { directory: string; config: Pick<Config, 'keys'> },
  { env }: Pick<World, 'env'>,
): KeyObject | undefined =>
  readMasterKey({
    directory,
    credentials: env['CREDENTIALS_DIRECTORY'],
    masterKeyFile: config.keys.master_key_file,
    passphraseFile: config.keys.passphrase_file,
  });

/** The custody of the store's keys; reads the master key at its first use, and refuses to work without it. */
export function custodyOf(store: OpenStore, world: World): KeyCustody {
  let masterKey: KeyObject | undefined;
  const { records } = store;
  return createKeyCustody({
    find: (id) => records.signingKeys.find(id),
    masterKey: () => (masterKey ??= masterKeyOf(store, world)),
    manager: keyManagerOf(store, world),
  });
}

/** The places of the key of the site. */
export const siteKeysOf = (store: Pick<OpenStore, 'directory' | 'config' | 'siteKey'>, world: World): SiteKeys => ({
  siteKey: store.siteKey,
  manager: keyManagerOf(store, world),
});

/** The key manager of the store, with the environment of this command. */
export const keyManagerOf = (
  { directory, config }: { directory: string; config: Pick<Config, 'keys'> },
  { env }: Pick<World, 'env'>,
): KeyManager =>
  createKeyManager({
    settings: () => config.keys,
    env,
    refusedPinFile: join(directory, refusedPinFile),
    lockPin: lockPin(directory),
  });

/** Whether this command has the variables of the key manager: systemd may give them to the serving process only. */
export const hasManagerVariables = ({ keys }: Pick<Config, 'keys'>, { env }: Pick<World, 'env'>): boolean =>
  keys.environment.every((name) => env[name] !== undefined);
