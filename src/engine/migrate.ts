// Brings a database up to date: numbered SQL files run in order, forward only, and are recorded by name.
import { list, sql, type Database, type Queries } from './database.ts';

/** A migration: its name, such as `0001-accounts`, and its statements. */
export interface Migration {
  name: string;
  text: string;
  /** The names of the migrations that were joined into it. If all of them have run on a database, it does not run: its name replaces theirs. */
  joins?: readonly string[];
}

/** The last commit that has the joined migrations one by one. */
const lastUnjoined = 'b70d7b4b';

/** Returns the recorded names that are neither migrations of a release nor joined in one. */
export const unknownMigrations = (done: readonly string[], migrations: readonly Migration[]): string[] => {
  const names = new Set(migrations.flatMap(({ name, joins = [] }) => [name, ...joins]));
  return done.filter((name) => !names.has(name));
};

/**
 * Returns the names of the migrations that have not run yet or are not recorded under their own names. Throws if a newer release has
 * written the data, or an unreleased state that ran only some of the migrations that are joined now: this release cannot interpret it.
 */
export async function findMissing(
  db: Database,
  migrations: readonly Migration[],
): Promise<{ names: string[]; fresh: boolean }> {
  const done = await applied(db);
  const unknown = unknownMigrations([...done], migrations);
  if (unknown.length > 0) {
    throw new Error(
      `cannot open data written by a newer release of larder (it holds ${unknown.join(', ')}); use that release or a newer one`,
    );
  }
  for (const { name, joins = [] } of migrations) requireAllOrNone(joins, done, done.has(name));
  const names = migrations.map(({ name }) => name).filter((name) => !done.has(name));
  return { names, fresh: done.size === 0 };
}

/** Throws if some of the joined migrations are recorded without the others, or beside the migration that they were joined to. */
function requireAllOrNone(joins: readonly string[], done: ReadonlySet<string>, isJoined: boolean): void {
  const ran = joins.filter((name) => done.has(name));
  if (ran.length === 0 || (ran.length === joins.length && !isJoined)) return;
  const missing = joins.find((name) => !done.has(name));
  throw new Error(
    `cannot open data written by an unreleased state of larder (it holds ${ran.at(-1)!}${missing === undefined ? '' : `, but not ${missing}`}); ` +
      `open it once with commit ${lastUnjoined} of larder, which brings it up to date, and then with this release`,
  );
}

/**
 * Runs the migrations that have not run yet, each in its own transaction. If the joined migrations ran one by one, their migration is only
 * recorded in their place. Returns the names of the migrations that ran or were recorded. `newest` is a script with the result of the first
 * migrations, perhaps of all. A new database runs it in one transaction: 36 ms, while 69 migrations take 180 ms.
 */
export async function migrate(db: Database, migrations: readonly Migration[], newest?: string): Promise<string[]> {
  if ((await findMissing(db, migrations)).fresh && newest !== undefined) await makeNew(db, newest);
  const { names } = await findMissing(db, migrations);
  const ran: string[] = [];
  for (const { name, text, joins = [] } of migrations.filter((migration) => names.includes(migration.name))) {
    const isDone = await db.transaction(async (tx) => {
      // Another process may have opened the data at the same moment and run this migration first.
      if ((await tx.run(sql`INSERT INTO migrations (name) VALUES (${name}) ON CONFLICT DO NOTHING`)) === 0)
        return false;
      const done = await recorded(tx);
      requireAllOrNone(joins, done, false);
      if (joins.some((joined) => done.has(joined)))
        await tx.run(sql`DELETE FROM migrations WHERE name IN ${list(joins)}`);
      else await tx.script(text);
      return true;
    });
    if (isDone) ran.push(name);
  }
  return ran;
}

/** Makes all tables of a new database within the caller's transaction. */
export async function makeTables(tx: Queries, migrations: readonly Migration[], newest: string): Promise<void> {
  await tx.script('CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)');
  await tx.script(newest);
  const done = await recorded(tx);
  for (const { name, text } of migrations.filter(({ name }) => !done.has(name))) {
    await tx.script(text);
    await tx.run(sql`INSERT INTO migrations (name) VALUES (${name})`);
  }
}

/** Makes the tables of a new database, unless another process has made them at the same moment. */
const makeNew = (db: Database, text: string): Promise<void> =>
  db.transaction(async (tx) => {
    if ((await tx.get(sql`SELECT 1 FROM migrations`)) === undefined) await tx.script(text);
  });

async function applied(db: Database): Promise<Set<string>> {
  if (!(await db.hasTable('migrations'))) {
    await db.transaction((tx) => tx.run(sql`CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)`));
  }
  return recorded(db);
}

const recorded = async (db: Pick<Queries, 'all'>): Promise<Set<string>> =>
  new Set((await db.all<{ name: string }>(sql`SELECT name FROM migrations`)).map(({ name }) => name));
