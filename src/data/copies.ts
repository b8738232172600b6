// All records of a store, copied from the engine that has them to the other one.
import { createFile, syncPath } from '#files/durable.ts';
import { makeTables } from '#engine/migrate.ts';
import { copyRows, type CopyOptions, type Counted } from '#engine/rows.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { sqliteSource, sqliteTarget } from '#engine/sqlite/rows.ts';
import { nativeBinding } from '#src/native.ts';
import type { PostgresPlace } from './records-place.ts';
import { migrations, newStore } from './upgrade.ts';

export type CopiedRecords = ReadonlyMap<string, Counted>;

export interface ToServer extends CopyOptions {
  /** The database file, of this very release, which nobody writes meanwhile. */
  file: string;
  /** The database, which is empty. */
  to: PostgresPlace;
  /** What this attempt is known by until `settle`: what an earlier one of that name has left is taken away first. */
  attempt: string;
}

/** Copies a file to a server: all of it, or nothing. Throws NotEmpty, and NotTheSame. */
export async function copyToServer({ file, to: place, attempt, ...options }: ToServer): Promise<CopiedRecords> {
  // Nobody whose records are a file waits for what speaks to a server.
  const { postgresTarget } = await import('#engine/postgres/rows.ts');
  const binding = { nativeBinding: nativeBinding() };
  const from = sqliteSource(file, binding);
  try {
    const make: Parameters<typeof postgresTarget>[1]['make'] = (tx) =>
      makeTables(tx, migrations('postgres'), newStore('postgres'));
    const to = await postgresTarget(place.postgres, { make, attempt, password: place.password });
    try {
      const copied = await copyRows(from, to, options);
      await to.commit();
      return copied;
    } finally {
      await to.close();
    }
  } finally {
    from.close();
  }
}

export interface ToFile extends CopyOptions {
  /** The database, which others may write meanwhile. */
  from: PostgresPlace;
  /** Not there yet; of a copy that fails it is left behind. */
  file: string;
}

/** Copies the records of a server to a new file, as of one moment. Throws NotTheSame. */
export async function copyToFile({ from: place, file, ...options }: ToFile): Promise<CopiedRecords> {
  const { postgresSource } = await import('#engine/postgres/rows.ts');
  const binding = { nativeBinding: nativeBinding() };
  const from = await postgresSource(place.postgres, place.password);
  try {
    // SQLite gives the files that it makes beside this one the same mode.
    createFile(file, '', 0o600);
    const fresh = openSqlite(file, binding);
    await fresh
      .transaction((tx) => makeTables(tx, migrations('sqlite'), newStore('sqlite')))
      .finally(() => fresh.close());
    const to = sqliteTarget(file, binding);
    try {
      const copied = await copyRows(from, to, options);
      to.finish();
      return copied;
    } finally {
      to.close();
      syncPath(file);
    }
  } finally {
    await from.close();
  }
}

/** What passes is worth nothing in a backup. */
export const passes = (table: string): boolean => table.startsWith('passing_');
