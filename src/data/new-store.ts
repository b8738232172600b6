// Makes a new store in an empty directory: the keys, the records with their administrator, the certificates, and the configuration last.
// Without the configuration the directory is not a store.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { By } from '#acts/act.ts';
import { init, type FirstApprover } from '#acts/appliance.ts';
import { siteKeyCheckName } from '#acts/site-key.ts';
import { randomIds } from '#domain/ids.ts';
import { nameOf, openDatabase, type DatabasePlace, type PostgresPlace } from '#engine/place.ts';
import { createFile, renameFile } from '#files/durable.ts';
import { readIfThere } from '#files/read.ts';
import { ForeignSiteKey, keyCheckOf, refuseForeignKey } from '#macaroons/site-key.ts';
import { records } from '#records/index.ts';
import { parseConfig } from '#src/config.ts';
import { keepTls } from '#tls/keeper.ts';
import { speaksTls, tlsSettings, type ServerTls } from '#tls/settings.ts';
import { newApprover, type ApproverHandout } from './first-approvers.ts';
import { recordsPlace } from './records-place.ts';
import { openRecords } from './records.ts';
import { newWrappingKey, readSiteKey } from './secrets.ts';
import { keepingOf } from './store.ts';

/** The name of the configuration until everything else is done. A directory with this file contains an unfinished store. */
export const unfinished = 'larder.toml.init';

/** The files that an unfinished store may have. */
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
  /** Email address of the store administrator. */
  email: string;
  credential: string;
  /** User names of the first approvers; none by default. */
  approvers?: readonly string[];
  by: By;
  /** The folder of systemd's credentials, if there is one. */
  credentials?: string | undefined;
}

export interface MadeStore {
  siteKey: Buffer;
  /** Undefined without TLS. */
  tls: ServerTls | undefined;
  approvers: readonly ApproverHandout[];
}

/**
 * Makes a store in an existing directory that the caller has locked. The directory must be empty except for files of an earlier attempt,
 * which are made again.
 */
export async function makeStore(
  directory: string,
  { configuration, email, credential, approvers: usernames = [], by, credentials }: NewStore,
): Promise<MadeStore> {
  const config = parseConfig('larder.toml', configuration);
  const place = recordsPlace(directory, config, credentials);
  for (const name of left(directory, place)) rmSync(join(directory, name), { recursive: true, force: true });
  createFile(join(directory, unfinished), configuration, 0o600);
  for (const key of keys) {
    if (!existsSync(join(directory, key))) createFile(join(directory, key), newWrappingKey(), 0o400);
  }
  const siteKey = readSiteKey({ directory, credentials: undefined, masterKeyFile: undefined });
  const baseUrl = config.http.base_url;
  const approvers = usernames.map((username) => newApprover(username, { siteKey, baseUrl, newId: randomIds }));
  await makeRecords(directory, place, { email, by, siteKey, approvers: approvers.map(({ kept }) => kept) });
  createFile(join(directory, 'admin.macaroon'), `${credential}\n`, 0o600);
  const keeping = keepingOf(directory, siteKey, () => new Date());
  const tls = speaksTls(config) ? await keepTls(tlsSettings(config), keeping) : undefined;
  renameFile(join(directory, unfinished), join(directory, 'larder.toml'));
  return { siteKey, tls, approvers: approvers.map(({ handout }) => handout) };
}

/**
 * Returns the files of an earlier attempt that are made again. If that attempt made records on a server, they stay, and the site key must
 * stay with them.
 */
function left(directory: string, place: DatabasePlace): readonly string[] {
  if ('file' in place) return halfMade;
  const kept = new Set(keys.filter((key) => isWhole(join(directory, key))));
  return halfMade.filter((name) => !kept.has(name) && !(name === 'audit.seal' && kept.has('site.key')));
}

const keys: readonly string[] = ['site.key', 'master.key'];

const isWhole = (file: string): boolean => Buffer.from(readIfThere(file) ?? '', 'base64').length === 32;

/** A store already exists at the place of the new one. The message is for a person. */
export class StoreThere extends Error {}

/** Throws StoreThere if a database has a store that no earlier attempt in this directory made. */
export async function refuseStoreThere(directory: string, place: PostgresPlace): Promise<void> {
  const db = await openDatabase({ ...place, isNew: true }, {});
  try {
    if (!(await db.hasTable('appliance'))) return;
    const known = records(db);
    if ((await known.appliance.find(siteKeyCheckName)) === undefined) return;
    if (isWhole(join(directory, 'site.key'))) {
      const siteKey = readSiteKey({ directory, credentials: undefined, masterKeyFile: undefined });
      await refuseForeignKey(known, siteKey);
      return;
    }
  } catch (error) {
    if (!(error instanceof ForeignSiteKey)) throw error;
  } finally {
    await db.close();
  }
  throw new StoreThere(
    `there is a store in ${nameOf(place)} already. To serve it from this host too, copy larder.toml, site.key, master.key, ` +
      `audit.seal and tls/ into ${directory} from a host that serves it; a store of its own needs a database of its own`,
  );
}

const madeBefore =
  'an earlier init has made the records on the server already, and their approvers cannot be shown again. ' +
  'Empty the database and the directory, and make the store again';

async function makeRecords(
  directory: string,
  place: DatabasePlace,
  { email, by, siteKey, approvers }: Pick<NewStore, 'email' | 'by'> & { siteKey: Buffer; approvers: FirstApprover[] },
): Promise<void> {
  // SQLite gives the same mode to the files that it makes next to this one.
  if ('file' in place) createFile(place.file, '', 0o600);
  else await refuseStoreThere(directory, place);
  const at = 'file' in place ? place : { ...place, isNew: true as const };
  const { records: known, acts, close } = await openRecords(directory, { held: true, siteKey, place: at });
  try {
    if ((await known.appliance.find(siteKeyCheckName)) !== undefined) {
      // The secrets of approvers from an earlier attempt are lost.
      if (approvers.length > 0) throw new StoreThere(madeBefore);
      return;
    }
    await acts.do(init, by, { email, siteKeyCheck: keyCheckOf(siteKey), approvers });
  } catch (error) {
    // Another host may have made a store there at the same moment.
    if (!('file' in place)) await refuseStoreThere(directory, place);
    throw error;
  } finally {
    await close();
  }
}
