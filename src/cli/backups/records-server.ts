// Copies the records of a store to a PostgreSQL server: reads the options, changes the configuration, and copies the rows.
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { copyRecords, refuseUsed, removeRecordsCopy } from '#data/copies.ts';
import { databaseFile, recordsPlace } from '#data/records-place.ts';
import type { PostgresPlace } from '#engine/place.ts';
import { openRecords } from '#data/records.ts';
import { describeAddressText, parseAddress } from '#contract/postgres-address.ts';
import { isDatabaseNotEmpty } from '#engine/rows.ts';
import { verifyAudit } from '#records/audit/audit-verdict.ts';
import { changeConfig, readConfig } from '#configuration/config.ts';
import { Failure, UsageError, type World } from '../frame/command.ts';
import { reportWaiting } from '../frame/store.ts';

/** The options that name the server. */
export const serverOptions = {
  postgres: {
    type: 'string',
    value: 'ADDRESS',
    summary: 'Restore the records into this empty database of a PostgreSQL server.',
  },
  'postgres-password-file': {
    type: 'string',
    value: 'FILE',
    summary: 'The file with the password of the database, if the server requires one.',
  },
} as const;

/** A server that the options name. */
export interface NamedServer {
  postgres: string;
  passwordFile: string | undefined;
  place: PostgresPlace;
}

/** Parses the options; undefined if the records are to be in a file. Throws UsageError. */
export function namedServer(
  options: { readonly postgres: string | undefined; readonly 'postgres-password-file': string | undefined },
  world: World,
): NamedServer | undefined {
  const { postgres, 'postgres-password-file': file } = options;
  if (postgres === undefined) {
    if (file !== undefined) throw new UsageError('--postgres-password-file needs --postgres');
    return undefined;
  }
  const read = parseAddress(postgres);
  if ('wrong' in read) throw new UsageError(`--postgres: ${read.wrong}`);
  if (read.password !== undefined) {
    throw new UsageError(
      '--postgres: it contains a password; write the password into its own file, and name that file with --postgres-password-file',
    );
  }
  const passwordFile = file === undefined ? undefined : resolve(file);
  const records = { postgres, ...(passwordFile !== undefined && { password_file: passwordFile }) };
  const credentials = world.env['CREDENTIALS_DIRECTORY'];
  const place = recordsPlace('', { records }, credentials, reportWaiting(world)) as PostgresPlace;
  return { postgres, passwordFile, place };
}

/** The former places of the records and the blobs, if they differ from the present ones. */
export interface FormerPlaces {
  records: string | undefined;
  blobs: string | undefined;
}

/** Sets the place of the records in the configuration, and the place of the blobs to the directory; returns the former places. */
export function configurePlaces(directory: string, server: NamedServer | undefined): FormerPlaces {
  const file = join(directory, 'larder.toml');
  const { records, blobs } = readConfig(file);
  const { postgres } = records;
  changeConfig(file, {
    'records.postgres': server?.postgres,
    'records.password_file': server?.passwordFile,
    'blobs.s3': undefined,
    'blobs.credentials_file': undefined,
    'blobs.authority_file': undefined,
    'blobs.redirect_downloads': undefined,
    'backup.bucket': undefined,
  });
  const isElsewhere = postgres !== undefined && postgres !== server?.postgres;
  return { records: isElsewhere ? describeAddressText(postgres) : undefined, blobs: blobs.s3 };
}

export interface ServerCopyOptions {
  server: NamedServer;
  /** The id of this attempt. */
  attempt: string;
  siteKey: Buffer;
  progress: (rows: number) => void;
}

/** Refuses a database that is not empty; tables that this attempt has created do not count. */
export const requireEmpty = (place: PostgresPlace, attempt: string): Promise<void> =>
  refuseUsed(place, attempt).catch((error: unknown) => {
    throw explainNotEmpty(error);
  });

/** Copies the records of a directory to the server, verifies the audit log there, and removes the database file. */
export async function copyRecordsToServer(
  directory: string,
  { server, attempt, siteKey, progress }: ServerCopyOptions,
): Promise<void> {
  const file = databaseFile(directory);
  await copyRecords({ from: { file }, to: server.place, attempt, progress }).catch((error: unknown) => {
    throw explainNotEmpty(error);
  });
  try {
    const { records, close } = await openRecords(directory, { held: true, siteKey, place: server.place });
    const { problems } = await verifyAudit(records, { siteKey }).finally(close);
    if (problems.length > 0) throw new Failure(`the audit log is not whole on the server: ${problems[0]!}`);
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  } catch (error) {
    await removeRecordsCopy(server.place, attempt).catch(() => undefined);
    throw error;
  }
}

/** Replaces the error for a database that is not empty by one with a remedy. */
export const explainNotEmpty = (error: unknown): unknown =>
  isDatabaseNotEmpty(error)
    ? new Failure(`${error.message}; name a database, or a schema, that is empty`, { code: 'not-empty', cause: error })
    : error;
