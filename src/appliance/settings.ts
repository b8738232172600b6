// What a reload changes while the store serves: the configuration, the signing master key, the roots of trust.
import type { KeyObject } from 'node:crypto';

import type { Roots } from '#assertions/chain.ts';
import { readTrusted } from '#assertions/trusted.ts';
import { readMasterKey } from '#data/secrets.ts';
import type { Config } from '#src/config.ts';

/** What a configuration says, with what it leads to. */
export interface Settings {
  config: Config;
  /** Nothing while the store is sealed. */
  masterKey: KeyObject | undefined;
  roots: Roots;
}

/** The settings as they stand now. */
export type Current = () => Settings;

/** Reads what a configuration leads to; throws, in words for a person, where that cannot be used. */
export const settingsOf = (config: Config, directory: string, credentials: string | undefined): Settings => ({
  config,
  masterKey: readMasterKey({
    directory,
    credentials,
    masterKeyFile: config.keys.master_key_file,
    passphraseFile: config.keys.passphrase_file,
  }),
  roots: readTrusted(config.assertions.trusted),
});
