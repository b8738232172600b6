// Where the records of a store are: in a file of the data directory, or in a database of a PostgreSQL server.
import { join } from 'node:path';

import type { Database } from '#engine/database.ts';
import { openSqlite, type SqliteOptions } from '#engine/sqlite/driver.ts';
import type { Config } from '#src/config.ts';
import { readPostgresPassword } from './secrets.ts';

export type RecordsPlace = { readonly file: string } | PostgresPlace;

export interface PostgresPlace {
  /** The address of the database. */
  readonly postgres: string;
  /** What the server knows the store by, read whenever a connection is opened; nothing where it knows it otherwise. */
  readonly password?: () => string | undefined;
  /** Whether a new store is made there. */
  readonly isNew?: true;
}

/** The file of the database, where the records of a data directory are one. */
export const databaseFile = (directory: string): string => join(directory, 'larder.db');

/** Where the configuration of a data directory says that its records are; `credentials` is where systemd puts some, if it does. */
export function recordsPlace(
  directory: string,
  { records }: Pick<Config, 'records'>,
  credentials: string | undefined,
): RecordsPlace {
  const { postgres, password_file: file } = records;
  if (postgres === undefined) return { file: databaseFile(directory) };
  return { postgres, password: () => readPostgresPassword({ credentials }, file) };
}

/** Opens the database there as it is: nothing is brought up to date. */
export async function openDatabase(place: RecordsPlace, options: SqliteOptions): Promise<Database> {
  if ('file' in place) return openSqlite(place.file, options);
  // Nobody whose records are a file waits for what speaks to a server.
  const { openPostgres } = await import('#engine/postgres/driver.ts');
  return openPostgres(place.postgres, { password: place.password, mustHoldStore: place.isNew !== true });
}
