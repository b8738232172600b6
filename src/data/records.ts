// Opens the records of a data directory, upgrades them, and seals the audit log.
import { join } from 'node:path';

import { itself, type Acts } from '#acts/act.ts';
import { upgrade as upgradeRecords } from '#acts/store/appliance.ts';
import { createActs, type ActRules } from '#acts/door.ts';
import { releaseBallast } from '#blobs/ballast.ts';
import type { Now } from '#domain/clock.ts';
import type { Database, DatabaseSize, DatabaseServer } from '#engine/database.ts';
import { isLockTimeout } from '#engine/lock-timeout.ts';
import { openDatabase, type DatabasePlace } from '#engine/place.ts';
import type { RowPlace } from '#engine/sqlite/row-digests.ts';
import type { SealFile, Sealing } from '#records/audit/audit-seals.ts';
import { records, type StoreRecords } from '#records/index.ts';
import { nativeBinding } from '#platform/native.ts';
import { version } from '#platform/version.ts';
import { databaseFile } from './records-place.ts';
import { sealFileIn } from './seal-file.ts';
import { upgradeDatabase, lockForUpgrade, type Upgrade } from './upgrade.ts';

/** Options for opening the records of a data directory. */
export interface OpenRecordsOptions {
  fatal?: (error: Error) => void;
  /** Whether this process already holds the lock of the data directory. */
  held?: boolean;
  now?: Now;
  /** Makes room for the database on a full disk; by default, releases the ballast. */
  makeRoom?: () => Promise<boolean>;
  /** Called with a corrupt row when a caller was about to use it. */
  damaged?: (table: string, row: RowPlace) => void;
  /** The key that seals the audit log. Without it new entries are not sealed, and so do not count as intact. */
  siteKey?: Buffer;
  /** Called with the other hosts that serve the store, before anything is changed. An error that it throws prevents the upgrade. */
  meets?: (hosts: readonly string[]) => void;
  /** Returns the rules of the configuration for acts; none by default. */
  actRules?: () => ActRules;
  /** Where the database is; by default, the file in the data directory. */
  place?: DatabasePlace;
}

/** The seals of a data directory's audit log. */
export interface AuditSealing {
  file: SealFile;
  /** Returns the last known problem of the seals. */
  problem(): string | undefined;
  /** Calls the listener with the problem now and after every check. */
  hear(listener: (problem: string | undefined) => void): void;
}

/** The database with the records. */
export interface OpenDatabase {
  place: DatabasePlace;
  size(): Promise<DatabaseSize>;
  /** Returns whether a change can start; false if another program has held the lock for five seconds. */
  isFree(): Promise<boolean>;
  /** The server that has the database; undefined if it is a file. */
  server: DatabaseServer | undefined;
}

/** The open records of a data directory. */
export interface OpenRecords {
  records: StoreRecords;
  acts: Acts;
  database: OpenDatabase;
  upgrade: Upgrade | undefined;
  sealing: AuditSealing;
  close(): Promise<void>;
}

/**
 * Opens the database of a data directory and upgrades it. Data of an older release is copied before any change, and is not upgraded while
 * another process, perhaps of that release, serves it.
 */
export async function openRecords(
  directory: string,
  {
    fatal,
    damaged,
    held = false,
    now = () => new Date(),
    makeRoom = () => releaseBallast(join(directory, 'blobs')),
    siteKey,
    meets,
    actRules,
    place = { file: databaseFile(directory) },
  }: OpenRecordsOptions = {},
): Promise<OpenRecords> {
  const sealing = sealingOf(directory, siteKey);
  const db = await openDatabase(place, {
    nativeBinding: nativeBinding(),
    makeRoom,
    ...(fatal && { fatal }),
    ...(damaged && { damaged }),
  });
  let lock: { close(): unknown } | undefined;
  try {
    // On a server, the database lock lets one process at a time run migrations.
    const file = 'file' in place ? place.file : undefined;
    if (!held && file !== undefined) lock = await lockForUpgrade(db, directory);
    const { upgrade, sealsAnew } = await upgradeDatabase(db, { directory, file, sealing: sealing.with, meets });
    const storeRecords = records(db, sealing.with);
    const acts = createActs(storeRecords, now, actRules);
    if (upgrade !== undefined) {
      const { migrations, problems } = upgrade;
      // Later seals may exist if the store was rolled back to an older release, which does not seal; the chain then starts again.
      await (sealsAnew ? acts.beginAnew : acts.do)(upgradeRecords, itself, { migrations, version, problems });
    }
    const close = async (): Promise<void> => {
      await storeRecords.writeCounters().catch(() => undefined);
      await storeRecords.writeContacts().catch(() => undefined);
      await storeRecords.noteAuditEnd().catch(() => undefined);
      await db.close();
    };
    const database = { place, size: () => db.size(), isFree: () => isFree(db), server: db.server };
    return { records: storeRecords, acts, database, upgrade, sealing, close };
  } catch (error) {
    await db.close();
    throw error;
  } finally {
    lock?.close();
  }
}

/** Starts a change and rolls it back. Errors of other kinds say nothing about the lock. */
async function isFree(db: Pick<Database, 'transaction'>): Promise<boolean> {
  const begun = new Error('the change has begun');
  return db
    .transaction(() => Promise.reject(begun))
    .then(
      () => true,
      (error: unknown) => !isLockTimeout(error),
    );
}

/** Returns how to seal the audit log, with the key if there is one. */
function sealingOf(directory: string, siteKey: Buffer | undefined): AuditSealing & { with: Sealing | undefined } {
  const file = sealFileIn(directory);
  let problem: string | undefined;
  const listeners: ((problem: string | undefined) => void)[] = [];
  const report = (newProblem: string | undefined): void => {
    problem = newProblem;
    for (const listener of listeners) listener(newProblem);
  };
  const hear = (listener: (problem: string | undefined) => void): void => {
    listeners.push(listener);
    listener(problem);
  };
  return { file, problem: () => problem, hear, with: siteKey && { siteKey, file, report } };
}
