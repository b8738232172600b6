// The records of a data directory on a PostgreSQL server: the server as it is measured, and the move to it.
import { copyFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { copyForBackup } from '#data/copies.ts';
import { databaseFile, recordsPlace } from '#data/records-place.ts';
import { changeConfig, readConfig } from '#configuration/config.ts';
import { startPostgres, type PostgresServer } from '#test/fixtures/servers/postgres.ts';
import { larder } from '#test/fixtures/processes/served.ts';

/** A PostgreSQL server with enough memory for the measurement, like a real one, and without its periodic tasks. */
export const startMeasuredServer = (): Promise<PostgresServer> =>
  startPostgres({ settings: ['shared_buffers = 256MB', 'max_wal_size = 4GB', 'autovacuum = off'] });

/** Moves the records from their file to a database of their own. */
export async function moveRecords(directory: string, server: PostgresServer): Promise<void> {
  const [current, target] = ['larder.toml', 'wanted.toml'].map((name) => join(directory, name)) as [string, string];
  const address = await server.newDatabase();
  copyFileSync(current, target);
  changeConfig(target, { 'records.postgres': address });
  await larder('move', '--data', directory, '--to', target);
  rmSync(target);
  for (const name of readdirSync(directory).filter((entry) => entry.startsWith('larder.db.moved-'))) {
    rmSync(join(directory, name));
  }
  // As the server would do it by itself a while later.
  await server.ask('VACUUM', /\/(\w+)\?/.exec(address)![1]);
}

/** Brings the records from a server into a file, which counts from then on. */
export async function bringIntoFile(directory: string): Promise<void> {
  const file = join(directory, 'larder.toml');
  await copyForBackup(recordsPlace(directory, readConfig(file), undefined))(databaseFile(directory), () => undefined);
  changeConfig(file, { 'records.postgres': undefined });
}
