// The records of a data directory: opened, brought up to date, sealed.
import { join } from 'node:path';

import { itself, type Acts } from '#acts/act.ts';
import { upgrade as upgradeRecords } from '#acts/appliance.ts';
import { createActs } from '#acts/door.ts';
import { releaseBallast } from '#blobs/ballast.ts';
import type { ApprovalPolicy } from '#domain/approvals.ts';
import type { Now } from '#domain/clock.ts';
import type { Database, DatabaseSize, DatabaseServer } from '#engine/database.ts';
import { isHeldTooLong } from '#engine/held.ts';
import { openDatabase, type DatabasePlace } from '#engine/place.ts';
import type { RowPlace } from '#engine/sqlite/row-digests.ts';
import type { SealFile, Sealing } from '#records/audit-seals.ts';
import { records, type Records } from '#records/index.ts';
import { nativeBinding } from '#src/native.ts';
import { version } from '#src/version.ts';
import { databaseFile } from './records-place.ts';
import { sealFileIn } from './seal-file.ts';
import { bringUpToDate, lockForUpgrade, type Upgrade } from './upgrade.ts';

/** How the records of a data directory are opened. */
export interface Opening {
  fatal?: (error: Error) => void;
  /** Whether this process holds the data directory already. */
  held?: boolean;
  now?: Now;
  /** Makes room for the database on a full disk, instead of giving up the ballast alone. */
  makeRoom?: () => Promise<boolean>;
  /** Told of a row that is not as it was written, when somebody was about to build on it. */
  damaged?: (table: string, row: RowPlace) => void;
  /** Under which the audit log is sealed; without it what is written is not sealed, and so does not count as whole. */
  siteKey?: Buffer;
  /** Told of other hosts that serve the store, before anything is changed; what it throws leaves it as it is. */
  meets?: (hosts: readonly string[]) => void;
  /** The approval policy that the configuration asks for; no policy unless it is given. */
  configuredPolicy?: () => ApprovalPolicy;
  /** Where the database is, where it is not the one of the data directory. */
  place?: DatabasePlace;
}

/** How the audit log of a data directory is sealed. */
export interface AuditSealing {
  file: SealFile;
  /** What is wrong with the seals, as far as it was noticed. */
  problem(): string | undefined;
  /** Tells that now, and whenever it is looked at again. */
  hear(listener: (problem: string | undefined) => void): void;
}

/** The database that has the records, beside what is in it. */
export interface OpenDatabase {
  place: DatabasePlace;
  size(): Promise<DatabaseSize>;
  /** Whether changes get their turn; false if another program has kept them from it for five seconds. */
  isFree(): Promise<boolean>;
  /** The server that has it; nothing where it is a file. */
  server: DatabaseServer | undefined;
}

/** The records of a data directory while they are open. */
export interface OpenRecords {
  records: Records;
  acts: Acts;
  database: OpenDatabase;
  upgrade: Upgrade | undefined;
  sealing: AuditSealing;
  close(): Promise<void>;
}

/**
 * Opens the database of a data directory, and brings it up to date. Data of an older release is copied before anything
 * in it is changed, and is left alone while another process, perhaps of that release, serves it.
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
    configuredPolicy,
    place = { file: databaseFile(directory) },
  }: Opening = {},
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
    // A server lets one process at a time bring its tables up to date.
    const file = 'file' in place ? place.file : undefined;
    if (!held && file !== undefined) lock = await lockForUpgrade(db, directory);
    const { upgrade, sealsAnew } = await bringUpToDate(db, { directory, file, sealing: sealing.with, meets });
    const known = records(db, sealing.with);
    const acts = createActs(known, now, configuredPolicy);
    if (upgrade !== undefined) {
      const { migrations, problems } = upgrade;
      // Seals of a later time are those of data that an older release has put aside since.
      await (sealsAnew ? acts.beginAnew : acts.do)(upgradeRecords, itself, { migrations, version, problems });
    }
    const close = async (): Promise<void> => {
      await known.writeNotes().catch(() => undefined);
      await known.writeContacts().catch(() => undefined);
      await known.noteAuditEnd().catch(() => undefined);
      await db.close();
    };
    const database = { place, size: () => db.size(), isFree: () => isFree(db), server: db.server };
    return { records: known, acts, database, upgrade, sealing, close };
  } catch (error) {
    await db.close();
    throw error;
  } finally {
    lock?.close();
  }
}

/** Begins a change as any other, and makes none. An error of another kind says nothing of the lock. */
async function isFree(db: Pick<Database, 'transaction'>): Promise<boolean> {
  const begun = new Error('the change has begun');
  return db
    .transaction(() => Promise.reject(begun))
    .then(
      () => true,
      (error: unknown) => !isHeldTooLong(error),
    );
}

/** How the audit log is sealed, with the key for it where there is one. */
function sealingOf(directory: string, siteKey: Buffer | undefined): AuditSealing & { with: Sealing | undefined } {
  const file = sealFileIn(directory);
  let problem: string | undefined;
  const listeners: ((problem: string | undefined) => void)[] = [];
  const report = (found: string | undefined): void => {
    problem = found;
    for (const listener of listeners) listener(found);
  };
  const hear = (listener: (problem: string | undefined) => void): void => {
    listeners.push(listener);
    listener(problem);
  };
  return { file, problem: () => problem, hear, with: siteKey && { siteKey, file, report } };
}
