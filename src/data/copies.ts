// All records of a store, copied from where they are to another place.
import { createFile, syncPath } from '#files/durable.ts';
import { makeTables } from '#engine/migrate.ts';
import { copyRows, type CopyOptions, type Counted, type RowSource } from '#engine/rows.ts';
import { copyDatabase } from '#engine/sqlite/check.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { sqliteSource, sqliteTarget } from '#engine/sqlite/rows.ts';
import { nativeBinding } from '#src/native.ts';
import type { DatabasePlace, PostgresPlace } from '#engine/place.ts';
import { migrations, newStore } from './upgrade.ts';

type CopiedRecords = ReadonlyMap<string, Counted>;

/** Nobody whose records are a file waits for what speaks to a server. */
const onServer = () => import('#engine/postgres/rows.ts');

/** Records as of one moment, until they are closed. */
interface OpenSource extends RowSource {
  close(): unknown;
}

/** Opens the records that are copied: of this very release. A file is one that nobody writes meanwhile. */
const sourceAt = async (place: DatabasePlace, alone: boolean): Promise<OpenSource> =>
  'file' in place
    ? sqliteSource(place.file, { nativeBinding: nativeBinding() })
    : (await onServer()).postgresSource(place.postgres, { password: place.password, alone });

export interface Copying extends CopyOptions {
  from: DatabasePlace;
  /** A file that is not there yet, and is left behind by a copy that fails; or an empty database, which has all of it or nothing. */
  to: DatabasePlace;
  /** What this attempt is known by on a server until `settle`: what an earlier one of that name has left is taken away first. */
  attempt: string;
  /** Whether nobody may write what is on a server meanwhile. */
  alone?: boolean;
}

/** Copies all records. Throws NotEmpty, and NotTheSame. */
export async function copyRecords({ from, to, attempt, alone = false, ...options }: Copying): Promise<CopiedRecords> {
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
  options: CopyOptions,
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

async function toFile(from: RowSource, file: string, options: CopyOptions): Promise<CopiedRecords> {
  const binding = { nativeBinding: nativeBinding() };
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
}

/** Forgets by what an attempt was known: what it has made is taken away by nobody from then on. */
export async function settle({ postgres, password }: PostgresPlace): Promise<void> {
  await (await onServer()).settle(postgres, password);
}

/** Takes away what an attempt has made that came to nothing. */
export async function takeBack({ postgres, password }: PostgresPlace, attempt: string): Promise<void> {
  await (await onServer()).takeBack(postgres, { attempt, password });
}

/** Throws NotEmpty where a database has anything but what an attempt has left. */
export async function refuseUsed({ postgres, password, waits }: PostgresPlace, attempt: string): Promise<void> {
  await (await onServer()).refuseUsed(postgres, { attempt, password, waits });
}

/** Gives the tables of a store a schema of their own; false where they have it, or are gone. See `putAside` of the engine. */
export async function putAsideOnServer({ postgres, password }: PostgresPlace, schema: string): Promise<boolean> {
  return (await onServer()).putAside(postgres, schema, password);
}

/** Copies the records to a new file as of one moment, wherever they are, without what passes. */
export const copyForBackup =
  (from: DatabasePlace) =>
  async (file: string, progress: (done: number, total: number) => void): Promise<void> => {
    if ('file' in from) return copyDatabase(from.file, file, { nativeBinding: nativeBinding(), progress });
    const leave = (table: string): boolean => table.startsWith('passing_');
    // A server does not say how many rows there are before they are counted.
    await copyRecords({ from, to: { file }, attempt: '', leave, progress: (rows) => progress(rows, 0) });
  };
