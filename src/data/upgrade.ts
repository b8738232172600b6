// Upgrades the data of an older release. It is copied before any change, and no process serves it during the upgrade.
import { setTimeout as sleep } from 'node:timers/promises';

import { copyBeforeUpgrade } from '#backup/upgrade-copies.ts';
import { seconds } from '#domain/clock.ts';
import type { Database } from '#engine/database.ts';
import { checkDatabase } from '#engine/sqlite/check.ts';

import { migrate, findMissing, type Migration } from '#engine/migrate.ts';
import { refuseForeignKey } from '#macaroons/site-key.ts';
import { beginSealing, type Sealing } from '#records/audit/audit-seals.ts';
import { records } from '#records/index.ts';
import { otherHosts } from '#shared/processes.ts';
import { embeddedNames, embeddedText } from '#platform/embedded.ts';
import { nativeBinding } from '#platform/native.ts';
import { lockDirectory } from './lock.ts';

/** An upgrade of data of an older release. */
export interface Upgrade {
  /** The names of the migrations that are newly recorded: they ran, or all migrations that they replace had run before. */
  migrations: string[];
  /** The file with a copy of the database as it was before the upgrade. Undefined on a server: its administrator makes backups. */
  copy: string | undefined;
  /** The number of corrupt rows found before the upgrade. After it they look intact, because it computes new row digests. */
  problems: number;
}

/** Returns the first migration that data of an older release lacks; undefined if it is up to date or new. */
async function firstMissing(db: Database): Promise<string | undefined> {
  const { names, fresh } = await findMissing(db, migrations());
  return fresh ? undefined : names[0];
}

/**
 * Locks the directory if there is something to upgrade. A server of this release may hold the lock during the same upgrade, so this waits
 * up to five seconds. Returns undefined when nothing is left to do.
 */
export async function lockForUpgrade(db: Database, directory: string): Promise<{ close(): unknown } | undefined> {
  for (const deadline = performance.now() + seconds(5); (await firstMissing(db)) !== undefined;) {
    try {
      return lockDirectory(directory);
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await sleep(100);
  }
  return undefined;
}

interface RecordsUpgradeOptions {
  directory: string;
  /** The database, if it is a file. */
  file: string | undefined;
  sealing: Sealing | undefined;
  /** Called with the other hosts that serve the store. An error that it throws leaves everything unchanged. */
  meets: ((hosts: readonly string[]) => void) | undefined;
}

/**
 * Upgrades the database. The caller holds the lock of the directory, unless there is nothing to upgrade. `sealsAnew` is true if the release
 * before did not seal the audit log with a chain.
 */
export async function upgradeDatabase(
  db: Database,
  { directory, file, sealing, meets }: RecordsUpgradeOptions,
): Promise<{ upgrade: Upgrade | undefined; sealsAnew: boolean }> {
  await reportOtherHosts(db, meets);
  const nativeModule = nativeBinding();
  const engine = file === undefined ? 'postgres' : 'sqlite';
  const migration = await firstMissing(db);
  const isCopied = migration !== undefined && file !== undefined;
  const copy = isCopied ? await copyBeforeUpgrade({ directory, migration, nativeBinding: nativeModule }) : undefined;
  const problems = isCopied ? checkDatabase(file, { nativeBinding: nativeModule }).length : 0;
  // Releases before the chain of seals had no seals or single ones.
  const sealsAnew = !(await db.hasTable('audit_seal_chain'));
  if (sealsAnew && sealing !== undefined) {
    // Do not seal with the key of another store.
    if (migration !== undefined) await refuseForeignKey(records(db), sealing.siteKey);
    await beginSealing(sealing);
  }
  await refuseIncompatibleMigration(db, engine);
  const ran = await migrate(db, migrations(engine), newStore(engine));
  db.keepRowDigests();
  const upgrade = migration === undefined || ran.length === 0 ? undefined : { migrations: ran, copy, problems };
  return { upgrade, sealsAnew };
}

/** Reports the other hosts that serve the store, before anything is changed. */
async function reportOtherHosts(db: Database, meets: RecordsUpgradeOptions['meets']): Promise<void> {
  if (meets === undefined || db.server === undefined || !(await db.hasTable('passing_leases'))) return;
  const hosts = await otherHosts(records(db), () => new Date());
  if (hosts.length > 0) meets(hosts);
}

/**
 * Refuses a migration that an older release cannot work with while other hosts still serve. Compatible migrations run while they serve, so
 * that hosts can be upgraded one after the other.
 */
async function refuseIncompatibleMigration(db: Database, engine: MigrationEngine): Promise<void> {
  const { names, fresh } = await findMissing(db, migrations(engine));
  if (db.server === undefined || fresh) return;
  const reasons = migrations(engine).flatMap(({ name, text }) =>
    names.includes(name) ? (findIncompatibilityReason(text) ?? []) : [],
  );
  if (reasons.length === 0) return;
  const hosts = await otherHosts(records(db), () => new Date());
  if (hosts.length === 0) return;
  throw new Error(
    `cannot bring the records up to date while an older release works with them (${reasons[0]!}): ` +
      `stop larder on ${hosts.join(', ')} first; a host that was cut off counts for a minute`,
  );
}

/** Returns why older releases cannot work with a migration, if its text says so. */
export const findIncompatibilityReason = (text: string): string | undefined =>
  /^-- Not beside older releases: (.+)\.$/m.exec(text)?.[1];

/** Returns the migrations of this release in order. A migration has one text for both engines, or a second one for PostgreSQL. */
export function migrations(engine: MigrationEngine = 'sqlite'): readonly Migration[] {
  return (knownMigrations[engine] ??= readMigrations(engine));
}

/** Read once: opening a store needs them four times. */
const knownMigrations: Partial<Record<MigrationEngine, readonly Migration[]>> = {};

function readMigrations(engine: MigrationEngine): Migration[] {
  const files = new Set(embeddedNames('src/records/migrations'));
  const names = [...files].filter((file) => !file.endsWith(twin)).map((file) => file.replace(/\.sql$/, ''));
  return names.map((name) => {
    const file = engine === 'postgres' && files.has(`${name}${twin}`) ? `${name}${twin}` : `${name}.sql`;
    const text = embeddedText(`src/records/migrations/${file}`);
    return { name, text, joins: findJoined(text) };
  });
}

/** Returns the names of the migrations that a migration replaces: the lines `-- Joins: NAME NAME` in its text. */
const findJoined = (text: string): string[] =>
  [...text.matchAll(/^-- Joins: (.+)$/gm)].flatMap(([, names = '']) => names.split(' '));

const twin = '.postgres.sql';

/** Returns the script with the result of all migrations, for a new database. */
export const newStore = (engine: MigrationEngine): string =>
  embeddedText(`src/records/new-store${engine === 'postgres' ? twin : '.sql'}`);

type MigrationEngine = 'sqlite' | 'postgres';
