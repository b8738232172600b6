// Makes a new store in an empty directory: the keys, the records with their administrator, the certificates, and the configuration last.
// Without the configuration the directory is not a store.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { Actor } from '#acts/act.ts';
import { init, type FirstApprover } from '#acts/store/appliance.ts';
import { siteKeyCheckName } from '#acts/keys/site-key.ts';
import { randomIds } from '#domain/ids.ts';
import { describeDatabase, openDatabase, type DatabasePlace, type PostgresPlace } from '#engine/place.ts';
import { createFile, renameFile, targetOfTemporary } from '#files/durable.ts';
import { readIfPresent } from '#files/read.ts';
import { ForeignSiteKey, keyCheckOf, refuseForeignKey } from '#macaroons/site-key.ts';
import { records } from '#records/index.ts';
import { parseConfig } from '#configuration/config.ts';
import { prepareTls } from '#tls/keeper.ts';
import { speaksTls, tlsSettings, type ServerTls } from '#tls/settings.ts';
import { newApprover, type ApproverHandout } from './first-approvers.ts';
import { recordsPlace } from './records-place.ts';
import { openRecords } from './records.ts';
import { newWrappingKey, readSiteKey } from './secrets.ts';
import { toTlsKeeperOptions } from './store.ts';

/** The name of the configuration until everything else is done. A directory with this file contains an unfinished store. */
export const unfinished = 'larder.toml.init';

/** The files that an unfinished store may have. */
const unfinishedStoreFiles: readonly string[] = [
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

/** Whether a file is of an unfinished store, perhaps a temporary file of a killed attempt. */
export const isOfUnfinishedStore = (name: string): boolean =>
  unfinishedStoreFiles.includes(targetOfTemporary(name) ?? name);

export interface NewStore {
  /** The text of larder.toml. */
  configuration: string;
  /** Email address of the store administrator. */
  email: string;
  credential: string;
  /** User names of the first approvers; none by default. */
  approvers?: readonly string[];
  actor: Actor;
  /** The folder of systemd's credentials, if there is one. */
  credentials?: string | undefined;
}

export interface NewStoreResult {
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
  { configuration, email, credential, approvers: usernames = [], actor, credentials }: NewStore,
): Promise<NewStoreResult> {
  const config = parseConfig('larder.toml', configuration);
  const place = recordsPlace(directory, config, credentials);
  for (const name of listLeftoverFiles(directory, place))
    rmSync(join(directory, name), { recursive: true, force: true });
  createFile(join(directory, unfinished), configuration, 0o600);
  for (const key of keys) {
    if (!existsSync(join(directory, key))) createFile(join(directory, key), newWrappingKey(), 0o400);
  }
  const siteKey = readSiteKey({ directory, credentials: undefined, masterKeyFile: undefined });
  const baseUrl = config.http.base_url;
  const approvers = usernames.map((username) => newApprover(username, { siteKey, baseUrl, newId: randomIds }));
  await makeRecords(directory, place, { email, actor, siteKey, approvers: approvers.map(({ approver }) => approver) });
  createFile(join(directory, 'admin.macaroon'), `${credential}\n`, 0o600);
  const keeping = toTlsKeeperOptions(directory, siteKey, () => new Date());
  const tls = speaksTls(config) ? await prepareTls(tlsSettings(config), keeping) : undefined;
  renameFile(join(directory, unfinished), join(directory, 'larder.toml'));
  return { siteKey, tls, approvers: approvers.map(({ handout }) => handout) };
}

/**
 * Lists the files of an interrupted attempt to remove before the next one. If its records are on a server, keeps intact keys and the seal
 * file: the records on the server are kept, and can be opened only with this site key.
 */
function listLeftoverFiles(directory: string, place: DatabasePlace): readonly string[] {
  const names = readdirSync(directory).filter(isOfUnfinishedStore);
  if ('file' in place) return names;
  const intactKeys = new Set(keys.filter((key) => isWhole(join(directory, key))));
  return names.filter((name) => !intactKeys.has(name) && !(name === 'audit.seal' && intactKeys.has('site.key')));
}

const keys: readonly string[] = ['site.key', 'master.key'];

const isWhole = (file: string): boolean => Buffer.from(readIfPresent(file) ?? '', 'base64').length === 32;

/** A store already exists at the place of the new one. The message is for a person. */
export class StoreExistsError extends Error {}

/** Throws StoreExistsError if a database has a store that no earlier attempt in this directory made. */
export async function refuseExistingStore(directory: string, place: PostgresPlace): Promise<void> {
  const db = await openDatabase({ ...place, isNew: true }, {});
  try {
    if (!(await db.hasTable('appliance'))) return;
    const storeRecords = records(db);
    if ((await storeRecords.appliance.find(siteKeyCheckName)) === undefined) return;
    if (isWhole(join(directory, 'site.key'))) {
      const siteKey = readSiteKey({ directory, credentials: undefined, masterKeyFile: undefined });
      await refuseForeignKey(storeRecords, siteKey);
      return;
    }
  } catch (error) {
    if (!(error instanceof ForeignSiteKey)) throw error;
  } finally {
    await db.close();
  }
  throw new StoreExistsError(
    `there is a store in ${describeDatabase(place)} already. To serve it from this host too, copy larder.toml, site.key, master.key, ` +
      `audit.seal and tls/ into ${directory} from a host that serves it; a store of its own needs a database of its own`,
  );
}

const madeBefore =
  'an earlier init has made the records on the server already, and their approvers cannot be shown again. ' +
  'Empty the database and the directory, and make the store again';

async function makeRecords(
  directory: string,
  place: DatabasePlace,
  {
    email,
    actor,
    siteKey,
    approvers,
  }: Pick<NewStore, 'email' | 'actor'> & { siteKey: Buffer; approvers: FirstApprover[] },
): Promise<void> {
  // SQLite gives the same mode to the files that it makes next to this one.
  if ('file' in place) createFile(place.file, '', 0o600);
  else await refuseExistingStore(directory, place);
  const at = 'file' in place ? place : { ...place, isNew: true as const };
  const { records: storeRecords, acts, close } = await openRecords(directory, { held: true, siteKey, place: at });
  try {
    if ((await storeRecords.appliance.find(siteKeyCheckName)) !== undefined) {
      // The secrets of approvers from an earlier attempt are lost.
      if (approvers.length > 0) throw new StoreExistsError(madeBefore);
      return;
    }
    await acts.do(init, actor, { email, siteKeyCheck: keyCheckOf(siteKey), approvers });
  } catch (error) {
    // Another host may have made a store there at the same moment.
    if (!('file' in place)) await refuseExistingStore(directory, place);
    throw error;
  } finally {
    await close();
  }
}
