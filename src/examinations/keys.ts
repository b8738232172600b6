// Examines the two wrapping keys, site key and master key, and the key manager.
import type { KeyObject } from '#domain/cryptography.ts';

import { siteNameSetting } from '#acts/sites/sites.ts';
import { decodePublicKey } from '#assertions/format/openpgp.ts';
import { managerKeyOf } from '#assertions/keys/key-custody.ts';
import type { CheckedKey, KeyManager } from '#assertions/keys/key-manager.ts';
import { sealedPrefixOf } from '#assertions/keys/sealed-keys.ts';
import { fingerprintOf, ForeignSiteKey } from '#macaroons/site-key.ts';
import { readMasterKey, readSiteKey } from '#data/secrets.ts';
import { toTlsKeeperOptions, type StoreHandle } from '#data/store.ts';
import type { StoreRecords } from '#records/index.ts';
import { managedKeyOfAuthority } from '#tls/keeper.ts';
import { speaksTls, tlsSettings } from '#tls/settings.ts';
import { describeFault, type Fault } from '#platform/faults.ts';
import { ExaminationUnavailableError, findingOfFaults, well, type Examination } from './examination.ts';

export const siteKey: Examination = {
  subject: 'Site key',
  async look({ data, credentials, store }) {
    const key = readSiteKey({ directory: data, credentials, masterKeyFile: undefined });
    try {
      await store();
    } catch (error) {
      if (!(error instanceof ExaminationUnavailableError && error.cause instanceof ForeignSiteKey)) throw error;
      return findingOfFaults([describeFault('wrong-site-key', error.cause.facts)], '');
    }
    return well(`site.key is that of this store, fingerprint ${fingerprintOf(key)}`);
  },
};

export const signingKey: Examination = {
  subject: 'Signing key',
  async look({ data, credentials, config, serving, store, keyManager }) {
    // systemd may give the keys to the serving process only.
    const state = await serving();
    if (state !== undefined)
      return findingOfFaults(state.sealed ? [describeFault('sealed', {})] : [], 'the store can sign');
    const { master_key_file: masterKeyFile, passphrase_file: passphraseFile } = config().keys;
    const key = readMasterKey({ directory: data, credentials, masterKeyFile, passphraseFile });
    const handle = await store();
    const faults = [
      ...(await masterKeyFaults(handle.records, key)),
      ...(await keyManagerFaults(handle, keyManager?.())),
    ];
    return findingOfFaults(faults, 'the signing master key is there');
  },
};

/** The fault of a store whose master key is missing, or does not open its signing keys. */
export async function masterKeyFaults(
  { signingKeys }: Pick<StoreRecords, 'signingKeys'>,
  masterKey: KeyObject | undefined,
): Promise<Fault[]> {
  if (masterKey === undefined) return [describeFault('sealed', {})];
  const facts = await signingKeys.countSealedKeys(sealedPrefixOf(masterKey));
  return facts.keys === 0 ? [] : [describeFault('wrong-master-key', facts)];
}

/** The faults of the key manager, if a key of the store is in it. */
export async function keyManagerFaults(store: StoreWithKeys, manager: KeyManager | undefined): Promise<Fault[]> {
  return manager !== undefined && (await probeKeyManager(store, manager)) ? manager.faults() : [];
}

type StoreWithKeys = Pick<StoreHandle, 'directory' | 'siteKey' | 'config' | 'now' | 'records'>;

/**
 * Asks the key manager for one of the keys of brands that it has, and for the keys of the site and of the certificate authority; returns
 * false if it has none of them.
 */
export async function probeKeyManager(store: StoreWithKeys, manager: KeyManager): Promise<boolean> {
  const { records, siteKey, directory, config, now } = store;
  const authority = speaksTls(config)
    ? managedKeyOfAuthority(tlsSettings(config), toTlsKeeperOptions(directory, siteKey, now))
    : undefined;
  const all: (CheckedKey | undefined)[] = [
    await managedKeyOfBrand(records),
    await managedKeyOfNamedSite(records, { siteKey, manager }),
    authority && { ...authority, purpose: 'certificate' },
  ];
  const keys = all.filter((key) => key !== undefined);
  if (keys.length > 0) await manager.probe(keys);
  return keys.length > 0;
}

/** The module for the keys of sites loads all schemas; only a site with a name needs it. */
async function managedKeyOfNamedSite(
  records: Pick<StoreRecords, 'appliance'>,
  keys: { siteKey: Buffer; manager: KeyManager },
): Promise<CheckedKey | undefined> {
  if ((await records.appliance.find(siteNameSetting)) === undefined) return undefined;
  const { managedKeyOfSite } = await import('#transfers/site.ts');
  return managedKeyOfSite(records, keys);
}

async function managedKeyOfBrand({ signingKeys }: Pick<StoreRecords, 'signingKeys'>): Promise<CheckedKey | undefined> {
  const id = await signingKeys.anyManaged();
  const key = id === null ? undefined : await signingKeys.find(id);
  const name = key && managerKeyOf(key.sealed);
  if (key === undefined || name === undefined) return undefined;
  return { name, publicKey: decodePublicKey(key.publicKey), purpose: 'assertion' };
}
