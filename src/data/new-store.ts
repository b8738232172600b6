// A new store in an empty directory: the keys, the records with their administrator, the certificates, and the configuration
// last, without which the directory is no store.
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import type { By } from '#acts/act.ts';
import { init } from '#acts/appliance.ts';
import { createFile, renameFile } from '#files/durable.ts';
import { keyCheckOf } from '#macaroons/site-key.ts';
import { parseConfig } from '#src/config.ts';
import { keepTls } from '#tls/keeper.ts';
import { speaksTls, tlsSettings, type ServerTls } from '#tls/settings.ts';
import { openRecords } from './records.ts';
import { newWrappingKey, readSiteKey } from './secrets.ts';
import { keepingOf } from './store.ts';

/** The configuration until everything else is in place; in a directory that has it, a store is half made. */
export const unfinished = 'larder.toml.init';

/** What a store that is half made may have. */
export const halfMade: readonly string[] = [
  'site.key',
  'master.key',
  'larder.db',
  'larder.db-wal',
  'larder.db-shm',
  'larder.db-journal',
  'audit.seal',
  'admin.macaroon',
  'tls',
  unfinished,
];

export interface NewStore {
  /** The text of larder.toml. */
  configuration: string;
  /** Of the store administrator. */
  email: string;
  credential: string;
  by: By;
}

export interface MadeStore {
  siteKey: Buffer;
  /** Nothing without TLS. */
  tls: ServerTls | undefined;
}

/**
 * Makes a store in a directory that is there, held by whoever calls this, and has nothing but what an earlier attempt has
 * left, which is made anew.
 */
export async function makeStore(
  directory: string,
  { configuration, email, credential, by }: NewStore,
): Promise<MadeStore> {
  for (const name of halfMade) rmSync(join(directory, name), { recursive: true, force: true });
  createFile(join(directory, unfinished), configuration, 0o600);
  for (const key of ['site.key', 'master.key']) createFile(join(directory, key), newWrappingKey(), 0o400);
  const siteKey = readSiteKey({ directory, credentials: undefined, masterKeyFile: undefined });
  await makeRecords(directory, email, by, siteKey);
  createFile(join(directory, 'admin.macaroon'), `${credential}\n`, 0o600);
  const config = parseConfig('larder.toml', configuration);
  const keeping = keepingOf(directory, siteKey, () => new Date());
  const tls = speaksTls(config) ? await keepTls(tlsSettings(config), keeping) : undefined;
  renameFile(join(directory, unfinished), join(directory, 'larder.toml'));
  return { siteKey, tls };
}

async function makeRecords(directory: string, email: string, by: By, siteKey: Buffer): Promise<void> {
  // SQLite gives the files that it makes beside this one the same mode.
  createFile(join(directory, 'larder.db'), '', 0o600);
  const { acts, close } = await openRecords(directory, { held: true, siteKey });
  try {
    await acts.do(init, by, { email, siteKeyCheck: keyCheckOf(siteKey) });
  } finally {
    await close();
  }
}
