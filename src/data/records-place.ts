// Where the records of a data directory are, as its configuration says.
import { join } from 'node:path';
import { shellWord } from '#domain/shell-word.ts';

import type { DatabasePlace } from '#engine/place.ts';
import type { Config } from '#src/config.ts';
import { readPostgresPassword } from './secrets.ts';

/** The file of the database, where the records of a data directory are one. */
export const databaseFile = (directory: string): string => join(directory, 'larder.db');

/**
 * Where its configuration says that the records of a data directory are; `credentials` is where systemd puts some, if it does.
 * `waits` is told where a server is waited for.
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

/** What somebody does whose records are damaged, in a sentence. */
export const mendOfRecords = (place: DatabasePlace, directory: string): string =>
  'file' in place
    ? `Stop the server, move ${directory} aside, and restore the last backup from before: larder restore FILE --data ${shellWord(directory)} --keys DIR`
    : 'Stop every larder that serves the store, and have the database put back as a backup of the PostgreSQL server has it from before.';
