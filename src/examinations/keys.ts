// Examines the two wrapping keys: site key and master key.
import type { KeyObject } from 'node:crypto';

import { sealedPrefixOf } from '#assertions/keys/sealed-keys.ts';
import { fingerprintOf, ForeignSiteKey } from '#macaroons/site-key.ts';
import { readMasterKey, readSiteKey } from '#data/secrets.ts';
import type { StoreRecords } from '#records/index.ts';
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
  async look({ data, credentials, config, serving, store }) {
    // systemd may give the keys to the serving process only.
    const state = await serving();
    if (state !== undefined)
      return findingOfFaults(state.sealed ? [describeFault('sealed', {})] : [], 'the store can sign');
    const { master_key_file: masterKeyFile, passphrase_file: passphraseFile } = config().keys;
    const key = readMasterKey({ directory: data, credentials, masterKeyFile, passphraseFile });
    if (key === undefined) return findingOfFaults([describeFault('sealed', {})], '');
    return findingOfFaults(await masterKeyFaults((await store()).records, key), 'the signing master key is there');
  },
};

/** The fault of a store whose master key is missing, or does not open its signing keys. */
export async function masterKeyFaults(
  { signingKeys }: Pick<StoreRecords, 'signingKeys'>,
  masterKey: KeyObject | undefined,
): Promise<Fault[]> {
  if (masterKey === undefined) return [describeFault('sealed', {})];
  const facts = await signingKeys.countSealedOtherwise(sealedPrefixOf(masterKey));
  return facts.keys === 0 ? [] : [describeFault('wrong-master-key', facts)];
}
