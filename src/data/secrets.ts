// Reads the two wrapping keys and the password of the PostgreSQL server. Nothing runs without the site key. Without the signing master key
// the store is sealed: it serves, and signs nothing.
import { createSecretKey, randomBytes, type KeyObject } from '#domain/cryptography.ts';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

import { readIfPresent } from '#files/read.ts';
import { passphraseIn, unwrapWithPassphrase } from './passphrase.ts';

/** Returns a new wrapping key as the text of its file: 32 bytes, base64. */
export const newWrappingKey = (): string => `${randomBytes(32).toString('base64')}\n`;

export interface SecretPlaces {
  /** The data directory. */
  directory: string;
  /** The folder of systemd's credentials, if there is one. */
  credentials: string | undefined;
  /** The folder of the system service's credentials, for commands on the host. */
  service?: string | undefined;
  /** The file of the master key, if the configuration names one. */
  masterKeyFile: string | undefined;
  /** The file of the passphrase, if the configuration names one. */
  passphraseFile?: string | undefined;
}

/** Reads the site key: the credential `larder-site-key`, else `site.key` in the data directory, else the credential of the service. */
export function readSiteKey(places: SecretPlaces): Buffer {
  const file = join(places.directory, 'site.key');
  const key = firstOf([credential(places, 'larder-site-key'), file, ofService(places, 'larder-site-key')]);
  if (key === undefined) {
    throw new Error(
      `cannot find the site key: there is neither a credential larder-site-key nor ${file}. ` +
        'Where systemd keeps it encrypted, start the service, or let systemd run the command: ' +
        'systemd-run --pipe --wait --quiet --property=User=larder --property=LoadCredentialEncrypted=larder-site-key ' +
        '--property=LoadCredentialEncrypted=larder-master-key larder …',
    );
  }
  return key;
}

/** Reads the signing master key; undefined means the store is sealed. A file with the key itself comes before a passphrase. */
export function readMasterKey(places: SecretPlaces): KeyObject | undefined {
  const key = firstOf([
    credential(places, 'larder-master-key'),
    places.masterKeyFile,
    join(places.directory, 'master.key'),
    ofService(places, 'larder-master-key'),
  ]);
  const masterKey = key ?? underPassphrase(places);
  return masterKey && createSecretKey(masterKey);
}

/** Reads the key in `master.key.sealed`; undefined if that file or its passphrase does not exist. */
function underPassphrase(places: SecretPlaces): Buffer | undefined {
  const file = join(places.directory, 'master.key.sealed');
  const sealed = readSecret(file);
  if (sealed === undefined) return undefined;
  for (const source of [credential(places, 'larder-master-passphrase'), places.passphraseFile]) {
    const passphrase = source === undefined ? undefined : readSecret(source);
    if (passphrase === undefined) continue;
    try {
      return unwrapWithPassphrase(sealed, passphraseIn(passphrase));
    } catch (error) {
      throw new Error(`cannot open ${file} with the passphrase in ${source}`, { cause: error });
    }
  }
  return undefined;
}

/** The name of the credential with the password of the PostgreSQL server. */
const postgresPassword = 'larder-postgres-password';

/**
 * Reads the password of the PostgreSQL server: the credential, else the file of the configuration, else the credential of the service.
 * Returns undefined if none exists and the configuration names no file: the server may authenticate its users in another way.
 */
export function readPostgresPassword(
  places: Pick<SecretPlaces, 'credentials' | 'service'>,
  file: string | undefined,
): string | undefined {
  const files = [credential(places, postgresPassword), file, ofService(places, postgresPassword)];
  for (const path of files) {
    const text = path === undefined ? undefined : readSecret(path);
    if (text !== undefined) return passphraseIn(text);
  }
  if (file !== undefined) throw new Error(`cannot find the password of PostgreSQL: there is no ${file}`);
  return undefined;
}

const credential = ({ credentials }: Pick<SecretPlaces, 'credentials'>, name: string): string | undefined =>
  credentials === undefined ? undefined : join(credentials, name);

/** Returns a credential of the running system service, for commands on the host. Its user can read it while the service runs. */
function ofService(
  { service = '/run/credentials/larder.service' }: Pick<SecretPlaces, 'service'>,
  name: string,
): string | undefined {
  const file = join(service, name);
  try {
    accessSync(file, constants.R_OK);
    return file;
  } catch {
    return undefined;
  }
}

/** Returns the key in the first of these files that exists. */
function firstOf(files: (string | undefined)[]): Buffer | undefined {
  for (const file of files) {
    const text = file === undefined ? undefined : readSecret(file);
    if (text === undefined) continue;
    const key = Buffer.from(text.trim(), 'base64');
    if (key.length !== 32) throw new Error(`cannot use ${file}: it does not hold a key of 32 bytes in base64`);
    return key;
  }
  return undefined;
}

function readSecret(file: string): string | undefined {
  try {
    return readIfPresent(file);
  } catch (error) {
    throw new Error(`cannot read the secret in ${file}`, { cause: error });
  }
}
