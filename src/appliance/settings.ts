// The settings that a reload changes while the store serves: the configuration, the master key for signing, the trusted
// roots.
import type { KeyObject } from '#domain/cryptography.ts';
import type { Roots } from '#assertions/chain.ts';
import { readTrusted } from '#assertions/trusted-roots.ts';
import { readMasterKey } from '#data/secrets.ts';
import type { Config } from '#configuration/config.ts';
import { speaksTls } from '#tls/settings.ts';

/** A configuration, with the keys and roots that it names. */
export interface ApplianceSettings {
  config: Config;
  /** Undefined while the store is sealed. */
  masterKey: KeyObject | undefined;
  roots: Roots;
}

/** Returns the current settings. */
export type Current = () => ApplianceSettings;

/** Reads the keys and roots that a configuration names; if they cannot be used, throws an error with a message for people. */
export function settingsOf(config: Config, directory: string, credentials: string | undefined): ApplianceSettings {
  if (config.identity.certificates.listen !== undefined && !speaksTls(config))
    throw new Error('identity.certificates.listen needs TLS: set http.base_url to an https address');
  return {
    config,
    masterKey: readMasterKey({
      directory,
      credentials,
      masterKeyFile: config.keys.master_key_file,
      passphraseFile: config.keys.passphrase_file,
    }),
    roots: readTrusted(config.assertions.trusted),
  };
}
