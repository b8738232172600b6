// All records of a store, copied from the engine that has them to the other one.
import { statSync } from 'node:fs';

import { createFile, syncPath } from '#files/durable.ts';
import { makeTables } from '#engine/migrate.ts';
import { copyRows, type CopyOptions, type Counted } from '#engine/rows.ts';
import { copyDatabase } from '#engine/sqlite/check.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { sqliteSource, sqliteTarget } from '#engine/sqlite/rows.ts';
import { nativeBinding } from '#src/native.ts';
import type { DatabasePlace, PostgresPlace } from '#engine/place.ts';
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

/** Forgets by what an attempt was known: what it has made is taken away by nobody from then on. */
export async function settle({ postgres, password }: PostgresPlace): Promise<void> {
  await (await import('#engine/postgres/rows.ts')).settle(postgres, password);
}

/** Takes away what an attempt has made that came to nothing. */
export async function takeBack({ postgres, password }: PostgresPlace, attempt: string): Promise<void> {
  await (await import('#engine/postgres/rows.ts')).takeBack(postgres, { attempt, password });
}

/** Throws NotEmpty where a database has anything but what an attempt has left. */
export async function refuseUsed({ postgres, password }: PostgresPlace, attempt: string): Promise<void> {
  await (await import('#engine/postgres/rows.ts')).refuseUsed(postgres, { attempt, password });
}

/** How many bytes the records take. */
export async function sizeOf(place: DatabasePlace): Promise<number> {
  const size = (name: string): number => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  if ('file' in place) return size(place.file) + size(`${place.file}-wal`);
  return (await import('#engine/postgres/rows.ts')).sizeOnServer(place.postgres, place.password);
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

/** Copies the records to a new file as of one moment, wherever they are, without what passes. */
export const copyForBackup =
  (from: DatabasePlace) =>
  async (file: string, progress: (done: number, total: number) => void): Promise<void> => {
    if ('file' in from) return copyDatabase(from.file, file, { nativeBinding: nativeBinding(), progress });
    const leave = (table: string): boolean => table.startsWith('passing_');
    // A server does not say how many rows there are before they are counted.
    await copyToFile({ from, file, leave, progress: (rows) => progress(rows, 0) });
  };
