// Copies all records of a store to another place.
import { createFile, syncPath } from '#files/durable.ts';
import { makeTables } from '#engine/migrate.ts';
import { copyRows, type RowCopyOptions, type TableChecksum, type RowSource } from '#engine/rows.ts';
import { copyDatabase } from '#engine/sqlite/check.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { sqliteSource, sqliteTarget } from '#engine/sqlite/rows.ts';
import { nativeBinding } from '#platform/native.ts';
import type { DatabasePlace, PostgresPlace } from '#engine/place.ts';
import { migrations, newStore } from './upgrade.ts';

type CopiedRecords = ReadonlyMap<string, TableChecksum>;

/** Loaded only when needed: stores in a file do not pay for the client of PostgreSQL. */
const onServer = () => import('#engine/postgres/rows.ts');

/** A snapshot of the records, valid until it is closed. */
interface OpenSource extends RowSource {
  close(): unknown;
}

/** Opens the records to copy. They must be up to date with this release. No other process may write a file while it is copied. */
const sourceAt = async (place: DatabasePlace, alone: boolean): Promise<OpenSource> =>
  'file' in place
    ? sqliteSource(place.file, { nativeBinding: nativeBinding() })
    : (await onServer()).postgresSource(place.postgres, { password: place.password, alone });

export interface RecordsCopyOptions extends RowCopyOptions {
  from: DatabasePlace;
  /** A file that does not exist yet, which a failed copy leaves behind; or an empty database, which gets everything or nothing. */
  to: DatabasePlace;
  /** The name of this attempt on a server until `settleAttempt`. Tables that an earlier attempt of that name left are removed first. */
  attempt: string;
  /** Whether to block writes to a database on a server while it is copied. */
  alone?: boolean;
}

/** Copies all records. Throws DatabaseNotEmpty and CopyMismatch. */
export async function copyRecords({
  from,
  to,
  attempt,
  alone = false,
  ...options
}: RecordsCopyOptions): Promise<CopiedRecords> {
  const source = await sourceAt(from, alone);
  try {
    return await ('file' in to ? toFile(source, to.file, options) : toServer(source, to, attempt, options));
  } finally {
    await source.close();
  }
}

async function toServer(
  from: RowSource,
  { postgres, password }: PostgresPlace,
  attempt: string,
  options: RowCopyOptions,
): Promise<CopiedRecords> {
  const { postgresTarget } = await onServer();
  const make: Parameters<typeof postgresTarget>[1]['make'] = (tx) =>
    makeTables(tx, migrations('postgres'), newStore('postgres'));
  const to = await postgresTarget(postgres, { make, attempt, password });
  try {
    const copied = await copyRows(from, to, options);
    await to.commit();
    return copied;
  } finally {
    await to.close();
  }
}

async function toFile(from: RowSource, file: string, options: RowCopyOptions): Promise<CopiedRecords> {
  const binding = { nativeBinding: nativeBinding() };
  // SQLite gives the same mode to the files that it makes next to this one.
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
}

/** Removes the name of the attempt from its tables, so that they can no longer be removed as leftovers. */
export async function confirmRecordsCopy({ postgres, password }: PostgresPlace): Promise<void> {
  await (await onServer()).settleAttempt(postgres, password);
}

/** Removes the tables of a failed attempt. */
export async function removeRecordsCopy({ postgres, password }: PostgresPlace, attempt: string): Promise<void> {
  await (await onServer()).removeAttempt(postgres, { attempt, password });
}

/** Throws DatabaseNotEmpty if a database has anything but the tables that an attempt left. */
export async function refuseUsed({ postgres, password, waits }: PostgresPlace, attempt: string): Promise<void> {
  await (await onServer()).refuseUsed(postgres, { attempt, password, waits });
}

/**
 * Moves the tables of a store into a schema of their own. Returns false if they cannot be moved or are gone; see `moveToSchema` of the engine.
 */
export async function moveTablesAside({ postgres, password }: PostgresPlace, schema: string): Promise<boolean> {
  return (await onServer()).moveToSchema(postgres, schema, password);
}

/** Returns a function that copies a snapshot of the records to a new file, without ephemeral rows. */
export const copyForBackup =
  (from: DatabasePlace) =>
  async (file: string, progress: (done: number, total: number) => void): Promise<void> => {
    if ('file' in from) return copyDatabase(from.file, file, { nativeBinding: nativeBinding(), progress });
    const leave = (table: string): boolean => table.startsWith('passing_');
    // The total stays 0: a server knows the number of rows only after counting them.
    await copyRecords({ from, to: { file }, attempt: '', leave, progress: (rows) => progress(rows, 0) });
  };
