// Examines the two wrapping keys: site key and master key.
import { fingerprintOf, ForeignSiteKey } from '#macaroons/site-key.ts';
import { readMasterKey, readSiteKey } from '#data/secrets.ts';
import { describeFault } from '#src/faults.ts';
import { CannotLook, judgedBy, well, type Examination } from './examination.ts';

export const siteKey: Examination = {
  what: 'Site key',
  async look({ data, credentials, store }) {
    const key = readSiteKey({ directory: data, credentials, masterKeyFile: undefined });
    try {
      await store();
    } catch (error) {
      if (!(error instanceof CannotLook && error.cause instanceof ForeignSiteKey)) throw error;
      return judgedBy([describeFault('wrong-site-key', error.cause.facts)], '');
    }
    return well(`site.key is that of this store, fingerprint ${fingerprintOf(key)}`);
  },
};

export const signingKey: Examination = {
  what: 'Signing key',
  async look({ data, credentials, config, serving }) {
    // systemd may give the keys to the serving process only.
    const state = await serving();
    if (state !== undefined) return judgedBy(state.sealed ? [describeFault('sealed', {})] : [], 'the store can sign');
    const { master_key_file: masterKeyFile, passphrase_file: passphraseFile } = config().keys;
    return readMasterKey({ directory: data, credentials, masterKeyFile, passphraseFile })
      ? well('the signing master key is there')
      : judgedBy([describeFault('sealed', {})], '');
  },
};
