// The two wrapping keys.
import { fingerprintOf, ForeignSiteKey } from '#macaroons/site-key.ts';
import { readMasterKey, readSiteKey } from '#data/secrets.ts';
import { CannotLook, well, wrong, type Examination } from './examination.ts';

export const siteKey: Examination = {
  what: 'Site key',
  async look({ data, credentials, store }) {
    const key = readSiteKey({ directory: data, credentials, masterKeyFile: undefined });
    try {
      await store();
    } catch (error) {
      if (!(error instanceof CannotLook && error.cause instanceof ForeignSiteKey)) throw error;
      return wrong(error.cause.message);
    }
    return well(`site.key is that of this store, fingerprint ${fingerprintOf(key)}`);
  },
};

export const signingKey: Examination = {
  what: 'Signing key',
  look({ data, credentials, config }) {
    const { master_key_file: masterKeyFile, passphrase_file: passphraseFile } = config().keys;
    return readMasterKey({ directory: data, credentials, masterKeyFile, passphraseFile })
      ? well('the signing master key is there')
      : wrong(
          'the store is sealed and signs nothing',
          'Put master.key back into the data directory, or set keys.master_key_file or keys.passphrase_file; a key ' +
            'that systemd keeps encrypted is there while the service runs.',
        );
  },
};
