// Tells where the records of a data directory are, according to its configuration.
import { join } from 'node:path';
import { shellWord } from '#domain/shell-word.ts';

import type { DatabasePlace } from '#engine/place.ts';
import type { Config } from '#configuration/config.ts';
import { readPostgresPassword } from './secrets.ts';

/** Returns the database file of a data directory with records in a file. */
export const databaseFile = (directory: string): string => join(directory, 'larder.db');

/**
 * Returns where the records of a data directory are, according to its configuration. `credentials` is the folder of systemd's credentials.
 * `waits` is called if a server does not answer yet.
 */
export function recordsPlace(
  directory: string,
  { records }: Pick<Config, 'records'>,
  credentials: string | undefined,
  waits?: (place: string) => void,
): DatabasePlace {
  const { postgres, password_file: file } = records;
  if (postgres === undefined) return { file: databaseFile(directory) };
  return { postgres, password: () => readPostgresPassword({ credentials }, file), waits };
}

/** Returns the remedy for corrupt records, in a sentence. */
export const mendOfRecords = (place: DatabasePlace, directory: string): string =>
  'file' in place
    ? `Stop the server, move ${directory} aside, and restore the last backup from before: larder restore FILE --data ${shellWord(directory)} --keys DIR`
    : 'Stop every larder that serves the store, and restore the database from an earlier backup of the PostgreSQL server.';
