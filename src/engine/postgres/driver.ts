// PostgreSQL behind the door: connections that read, and one that writes.
import { randomBytes } from 'node:crypto';

import { sql, type Database, type Statement } from '../database.ts';
import { placeOf, type PostgresAddress } from './address.ts';
import { lastCommit, marks } from './commits.ts';
import type { Connection } from './connection.ts';
import { NoConnection } from './errors.ts';
import { queriesOn, serverClock, tableNamed } from './queries.ts';
import { reach, type Password } from './reach.ts';
import { Readers } from './readers.ts';
import { Versions } from './versions.ts';
import { WriteLane } from './write-lane.ts';

export interface PostgresOptions {
  password?: Password;
  /** Whether a database without the tables of a store is refused, and left as it is. */
  mustHoldStore?: boolean;
}

/**
 * Opens a database of a server, by its address. Every commit is on its disk before it is reported, and on those of its synchronous standbys:
 * a server that is set to promise less is refused, and so is a schema with tables of somebody else. Other processes, also of
 * other machines, may have it open.
 */
export async function openPostgres(
  text: string,
  { password, mustHoldStore = false }: PostgresOptions = {},
): Promise<Database> {
  const { address, open } = reach(text, password);
  await prepare(address, await open('writes'), mustHoldStore);
  const readers = new Readers(() => open('reads'));
  const lane = new WriteLane(() => open('writes'), randomBytes(16).toString('hex'));
  const versions = new Versions(async () => (await readers.all<{ number: number }>(lastCommit()))[0]!.number);
  let closing: Promise<void> | undefined;

  return {
    server: { clock: async () => new Date((await readers.all<{ at: number }>(serverClock(), 0))[0]!.at) },
    get: async <Row>(statement: Statement) => (await readers.all<Row>(statement))[0],
    all: (statement) => readers.all(statement),
    isDamaged: () => Promise.resolve(false),
    hasTable: async (name) => (await readers.all(tableNamed(name))).length > 0,
    version: () => versions.current(),
    transaction: (work) =>
      closing ? Promise.reject(new Error('cannot write: the database is closed')) : lane.transaction(work),
    keepRowDigests() {
      // The server has checksums of its pages; whoever looks the store over is told where they are off.
    },
    close: () => (closing ??= lane.close().then(() => readers.close())),
  };
}

/** Makes the marks of commits where they are not there. */
async function prepare(address: PostgresAddress, connection: Connection, mustHoldStore: boolean): Promise<void> {
  const { get } = queriesOn(connection, () => undefined);
  try {
    await connection.script(`BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('larder ' || current_schema(), 0))`);
    const foreign = await get<{ name: string }>(sql`
      SELECT table_name AS name FROM information_schema.tables
      WHERE table_schema = current_schema()
        AND NOT EXISTS (
          SELECT 1 FROM information_schema.tables
          WHERE table_schema = current_schema() AND table_name IN ('migrations', 'larder_commits'))
      ORDER BY table_name LIMIT 1`);
    if (foreign !== undefined) {
      throw new Error(
        `cannot use ${placeOf(address)}: it holds tables of something else, such as ${foreign.name}; name the database, or the ` +
          'schema, of the store, or an empty one for a new store',
      );
    }
    // One that is named by mistake would become a new and empty store.
    if (mustHoldStore && (await get(tableNamed('migrations'))) === undefined) {
      throw new NoConnection(
        `cannot open ${placeOf(address)}: it holds no store; name the database that has its records, or make a new store ` +
          "with 'larder init --postgres'",
      );
    }
    await connection.script(`${marks}; COMMIT`);
  } finally {
    await connection.close();
  }
}
