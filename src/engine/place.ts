// Names a database, in a file or on a PostgreSQL server, and opens and checks it with the right engine.
import type { Database } from './database.ts';
import { describeAddressText } from '#contract/postgres-address.ts';
import { inspectFile, type DatabaseVerdict } from './sqlite/check.ts';
import { openSqlite, type SqliteOptions } from './sqlite/driver.ts';

export type DatabasePlace = { readonly file: string } | PostgresPlace;

export interface PostgresPlace {
  /** The address of the database. */
  readonly postgres: string;
  /** Returns the password; called for each new connection. Returns undefined if the server authenticates the store in another way. */
  readonly password?: () => string | undefined;
  /** Called once, with the place in words for a person, if the server does not answer yet and the store waits for it. */
  readonly waits?: ((place: string) => void) | undefined;
  /** Whether a new store is made there. */
  readonly isNew?: true;
}

/** Returns where the database is, in words for a person and without secrets. */
export const describeDatabase = (place: DatabasePlace): string =>
  'file' in place ? place.file : describeAddressText(place.postgres);

/** Opens the database as it is, without migrations. */
export async function openDatabase(place: DatabasePlace, options: SqliteOptions): Promise<Database> {
  if ('file' in place) return openSqlite(place.file, options);
  // Loaded only when needed: stores in a file do not pay for the client of PostgreSQL.
  const { openPostgres } = await import('./postgres/driver.ts');
  return openPostgres(place.postgres, {
    password: place.password,
    waits: place.waits,
    mustHoldStore: place.isNew !== true,
  });
}

/** Reads the whole database and returns the problems found. A file is read synchronously, which blocks the thread. */
export async function inspectDatabase(
  place: DatabasePlace,
  options: Pick<SqliteOptions, 'nativeBinding'>,
): Promise<DatabaseVerdict> {
  if ('file' in place) return inspectFile(place.file, options);
  const { inspectPostgres } = await import('./postgres/check.ts');
  return inspectPostgres(place.postgres, place.password);
}
