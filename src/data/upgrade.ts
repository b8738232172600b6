// Data of an older release, brought up to date: it is copied before anything in it is changed, and nobody serves it meanwhile.
import { setTimeout as sleep } from 'node:timers/promises';

import { keepForReturn } from '#backup/before-upgrade.ts';
import { seconds } from '#domain/clock.ts';
import type { Database } from '#engine/database.ts';
import { checkDatabase } from '#engine/sqlite/check.ts';

import { migrate, missing, type Migration } from '#engine/migrate.ts';
import { refuseForeignKey } from '#macaroons/site-key.ts';
import { beginSealing, type Sealing } from '#records/audit-seals.ts';
import { records } from '#records/index.ts';
import { otherHosts } from '#shared/processes.ts';
import { embeddedNames, embeddedText } from '#src/embedded.ts';
import { nativeBinding } from '#src/native.ts';
import { lockDirectory } from './lock.ts';

/** Data of an older release that was brought up to date. */
export interface Upgrade {
  /** The names of the migrations that ran. */
  migrations: string[];
  /** The database as it was before; nothing where a server has it, of which whoever administers it keeps copies. */
  copy: string | undefined;
  /** How many things were wrong with it then. The digests of its rows are made anew, and tell of that no more. */
  problems: number;
}

/** The first migration that data of an older release lacks; nothing where it is up to date, or new. */
async function firstMissing(db: Database): Promise<string | undefined> {
  const { names, fresh } = await missing(db, migrations());
  return fresh ? undefined : names[0];
}

/**
 * Holds the directory where there is something to bring up to date. Whoever holds it already may be a server of this
 * release in the midst of the very upgrade, and is given a moment; nothing when it has done it.
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

interface Place {
  directory: string;
  /** The database, where it is a file. */
  file: string | undefined;
  sealing: Sealing | undefined;
  /** Told of other hosts that serve the store; what it throws leaves everything as it is. */
  meets: ((hosts: readonly string[]) => void) | undefined;
}

/**
 * Brings the database up to date; whoever calls this holds the directory, or it has nothing to upgrade. `sealsAnew` where
 * the release before sealed no audit log.
 */
export async function bringUpToDate(
  db: Database,
  { directory, file, sealing, meets }: Place,
): Promise<{ upgrade: Upgrade | undefined; sealsAnew: boolean }> {
  await meetOthers(db, meets);
  const nativeModule = nativeBinding();
  const engine = file === undefined ? 'postgres' : 'sqlite';
  const migration = await firstMissing(db);
  const isCopied = migration !== undefined && file !== undefined;
  const copy = isCopied ? await keepForReturn({ directory, migration, nativeBinding: nativeModule }) : undefined;
  const problems = isCopied ? checkDatabase(file, { nativeBinding: nativeModule }).length : 0;
  // Releases before the chain of seals had none, or single ones.
  const sealsAnew = !(await db.hasTable('audit_seal_chain'));
  if (sealsAnew && sealing !== undefined) {
    // Nothing is sealed with the key of another store.
    if (migration !== undefined) await refuseForeignKey(records(db), sealing.siteKey);
    beginSealing(sealing);
  }
  await refuseBeside(db, engine);
  const ran = await migrate(db, migrations(engine), newStore(engine));
  db.keepRowDigests();
  const upgrade = migration === undefined || ran.length === 0 ? undefined : { migrations: ran, copy, problems };
  return { upgrade, sealsAnew };
}

/** Tells of the hosts that serve the store beside this one, before anything is changed. */
async function meetOthers(db: Database, meets: Place['meets']): Promise<void> {
  if (meets === undefined || db.server === undefined || !(await db.hasTable('passing_leases'))) return;
  const hosts = await otherHosts(records(db), () => new Date());
  if (hosts.length > 0) meets(hosts);
}

/**
 * Refuses to change tables in a way that processes of an older release on other hosts cannot work with, as long as there are any. What
 * they can work with is changed beside them, so that hosts are upgraded one after the other.
 */
async function refuseBeside(db: Database, engine: Engine): Promise<void> {
  const { names, fresh } = await missing(db, migrations(engine));
  if (db.server === undefined || fresh) return;
  const reasons = migrations(engine).flatMap(({ name, text }) =>
    names.includes(name) ? (aloneBecause(text) ?? []) : [],
  );
  if (reasons.length === 0) return;
  const hosts = await otherHosts(records(db), () => new Date());
  if (hosts.length === 0) return;
  throw new Error(
    `cannot bring the records up to date while an older release works with them (${reasons[0]!}): ` +
      `stop larder on ${hosts.join(', ')} first; a host that was cut off counts for a minute`,
  );
}

/** Why a migration cannot be stood by releases before it, where its text says so. */
export const aloneBecause = (text: string): string | undefined =>
  /^-- Not beside older releases: (.+)\.$/m.exec(text)?.[1];

/** The migrations that travel with the program, in order: one text for both engines, or a twin for the one that reads another. */
export function migrations(engine: Engine = 'sqlite'): readonly Migration[] {
  return (knownMigrations[engine] ??= readMigrations(engine));
}

/** Read once: to open a store asks for them four times. */
const knownMigrations: Partial<Record<Engine, readonly Migration[]>> = {};

function readMigrations(engine: Engine): Migration[] {
  const files = new Set(embeddedNames('src/records/migrations'));
  const names = [...files].filter((file) => !file.endsWith(twin)).map((file) => file.replace(/\.sql$/, ''));
  return names.map((name) => {
    const file = engine === 'postgres' && files.has(`${name}${twin}`) ? `${name}${twin}` : `${name}.sql`;
    return { name, text: embeddedText(`src/records/migrations/${file}`) };
  });
}

const twin = '.postgres.sql';

/** What all migrations leave where there was nothing. */
export const newStore = (engine: Engine): string =>
  embeddedText(`src/records/new-store${engine === 'postgres' ? twin : '.sql'}`);

type Engine = 'sqlite' | 'postgres';
