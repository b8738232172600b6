// The records of a data directory: opened, brought up to date, sealed.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { createActs, itself, type Acts } from '#acts/act.ts';
import { upgrade as upgradeRecords } from '#acts/appliance.ts';
import { keepForReturn } from '#backup/before-upgrade.ts';
import { releaseBallast } from '#blobs/ballast.ts';
import { seconds, type Now } from '#domain/clock.ts';
import { checkDatabase } from '#engine/sqlite/check.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { migrate, missing } from '#engine/sqlite/migrate.ts';
import { refuseForeignKey } from '#macaroons/site-key.ts';
import { beginSealing, chainsSeals, type SealFile, type Sealing } from '#records/audit-seals.ts';
import { records, type Records } from '#records/index.ts';
import { embeddedNames, embeddedText } from '#src/embedded.ts';
import { nativeBinding } from '#src/native.ts';
import { version } from '#src/version.ts';
import { lockDirectory } from './lock.ts';
import { sealFileIn } from './seal-file.ts';

/** How the records of a data directory are opened. */
export interface Opening {
  fatal?: (error: Error) => void;
  /** Whether this process holds the data directory already. */
  held?: boolean;
  now?: Now;
  /** Makes room for the database on a full disk, instead of giving up the ballast alone. */
  makeRoom?: () => Promise<boolean>;
  /** Told of a row that is not as it was written, when somebody was about to build on it. */
  damaged?: (table: string, row: number) => void;
  /** Under which the audit log is sealed; without it what is written is not sealed, and so does not count as whole. */
  siteKey?: Buffer;
  /** The database, where it is not the one of the data directory. */
  file?: string;
}

/** How the audit log of a data directory is sealed. */
export interface AuditSealing {
  file: SealFile;
  /** What is wrong with the seals, as far as it was noticed. */
  problem(): string | undefined;
  /** Tells that now, and whenever it is looked at again. */
  hear(listener: (problem: string | undefined) => void): void;
}

/** Data of an older release that was brought up to date. */
export interface Upgrade {
  /** The names of the migrations that ran. */
  migrations: string[];
  /** The database as it was before. */
  copy: string;
  /** How many things were wrong with it then. The digests of its rows are made anew, and tell of that no more. */
  problems: number;
}

/** The records of a data directory while they are open. */
export interface OpenRecords {
  records: Records;
  acts: Acts;
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
    file = join(directory, 'larder.db'),
  }: Opening = {},
): Promise<OpenRecords> {
  const binding = nativeBinding();
  const sealing = sealingOf(directory, siteKey);
  const db = openSqlite(file, {
    nativeBinding: binding,
    makeRoom,
    ...(fatal && { fatal }),
    ...(damaged && { damaged }),
  });
  let lock: { close(): unknown } | undefined;
  let upgrade: Upgrade | undefined;
  try {
    const isUpgrade = async (): Promise<string | undefined> => {
      const { names, fresh } = await missing(db, migrations());
      return fresh ? undefined : names[0];
    };
    if ((await isUpgrade()) !== undefined && !held) lock = await lockForUpgrade(directory, isUpgrade);
    // Asked again: another process may have upgraded it before the directory was ours.
    const migration = await isUpgrade();
    const copy = migration && (await keepForReturn({ directory, migration, nativeBinding: binding }));
    const problems = copy === undefined ? 0 : checkDatabase(file, { nativeBinding: binding }).length;
    const isUnsealed = !(await chainsSeals(db));
    if (isUnsealed && sealing.with !== undefined) {
      // Nothing is sealed with the key of another store.
      if (migration !== undefined) await refuseForeignKey(records(db), sealing.with.siteKey);
      beginSealing(sealing.with);
    }
    const ran = await migrate(db, migrations());
    db.keepRowDigests();
    const known = records(db, sealing.with);
    const acts = createActs(known, now);
    if (copy !== undefined && ran.length > 0) {
      upgrade = { migrations: ran, copy, problems };
      // Seals of a later time are those of data that an older release has put aside since.
      await (isUnsealed ? acts.beginAnew : acts.do)(upgradeRecords, itself, { migrations: ran, version, problems });
    }
    const close = async (): Promise<void> => {
      await known.writeNotes().catch(() => undefined);
      await db.close();
    };
    return { records: known, acts, upgrade, sealing, close };
  } catch (error) {
    await db.close();
    throw error;
  } finally {
    lock?.close();
  }
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

/**
 * Holds the directory for an upgrade. Whoever holds it already may be a server of this release in the midst of the very
 * upgrade, and is given a moment; nothing when it has done it.
 */
async function lockForUpgrade(
  directory: string,
  isUpgrade: () => Promise<string | undefined>,
): Promise<{ close(): unknown } | undefined> {
  for (const deadline = performance.now() + seconds(5); ;) {
    try {
      return lockDirectory(directory);
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await sleep(100);
    if ((await isUpgrade()) === undefined) return undefined;
  }
}

/** The migrations that travel with the program, in order. */
export const migrations = (): { name: string; text: string }[] =>
  embeddedNames('src/records/migrations').map((file) => ({
    name: file.replace(/\.sql$/, ''),
    text: embeddedText(`src/records/migrations/${file}`),
  }));
