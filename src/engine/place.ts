// Where a database is: in a file, or on a PostgreSQL server; and by which engine it is opened and looked over.
import type { Database } from './database.ts';
import { databaseAt } from './postgres/address.ts';
import { inspectFile, type DatabaseVerdict } from './sqlite/check.ts';
import { openSqlite, type SqliteOptions } from './sqlite/driver.ts';

export type DatabasePlace = { readonly file: string } | PostgresPlace;

export interface PostgresPlace {
  /** The address of the database. */
  readonly postgres: string;
  /** What the server knows the store by, read whenever a connection is opened; nothing where it knows it otherwise. */
  readonly password?: () => string | undefined;
  /** Told once, in words for a person where, that a server is waited for which does not answer yet. */
  readonly waits?: ((place: string) => void) | undefined;
  /** Whether a new store is made there. */
  readonly isNew?: true;
}

/** Where it is, in words for a person, without any secret. */
export const nameOf = (place: DatabasePlace): string => ('file' in place ? place.file : databaseAt(place.postgres));

/** Opens the database there as it is: nothing is brought up to date. */
export async function openDatabase(place: DatabasePlace, options: SqliteOptions): Promise<Database> {
  if ('file' in place) return openSqlite(place.file, options);
  // Nobody whose records are a file waits for what speaks to a server.
  const { openPostgres } = await import('./postgres/driver.ts');
  return openPostgres(place.postgres, {
    password: place.password,
    waits: place.waits,
    mustHoldStore: place.isNew !== true,
  });
}

/** Reads all of the database there; what is wrong with it. A file is read in one go, and nobody else is heard meanwhile. */
export async function inspectDatabase(
  place: DatabasePlace,
  options: Pick<SqliteOptions, 'nativeBinding'>,
): Promise<DatabaseVerdict> {
  if ('file' in place) return inspectFile(place.file, options);
  const { inspectPostgres } = await import('./postgres/check.ts');
  return inspectPostgres(place.postgres, place.password);
}
