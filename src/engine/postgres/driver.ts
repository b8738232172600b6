// The PostgreSQL engine: several connections for reads, and one for writes.
import { randomBytes } from '#domain/cryptography.ts';
import type { Database, SqlStatement } from '../database.ts';
import { describeAddress, type PostgresAddress } from '#contract/postgres-address.ts';
import { lastCommit, lock, marks } from './commits.ts';
import type { PostgresConnection } from './connection.ts';
import { requireStoreDatabase } from './require-store.ts';
import { newCounts } from './counts.ts';
import { codeOf, hasLockTimedOut, ConnectionFailure } from './errors.ts';
import { findLockHolder, findOpenDatabase, summarizePool, sizeFrom, readServerState } from './server-state.ts';
import { createQueries, serverClock, selectTable } from './queries.ts';
import { createConnector, type PostgresConnectorOptions } from './connector.ts';
import { Readers } from './readers.ts';
import { Versions } from './versions.ts';
import { WriteLane } from './write-lane.ts';

export interface PostgresOptions extends Pick<PostgresConnectorOptions, 'password' | 'waits' | 'lasting'> {
  /** Whether to refuse a database without the tables of a store, and leave it unchanged. */
  mustHoldStore?: boolean;
}

/**
 * Opens a database on a server by its address. Every commit is on the server's disk, and on the disks of its synchronous standbys, before
 * it is reported. Refuses a server with weaker settings, and a schema with tables of another application. Other processes, also on other
 * hosts, may have the database open.
 */
export async function openPostgres(
  text: string,
  { mustHoldStore = false, ...options }: PostgresOptions = {},
): Promise<Database> {
  const counts = newCounts();
  const { address, open, begin } = createConnector(text, { ...options, counts });
  await begin('writes', (connection) => prepare(address, connection, mustHoldStore));
  const readers = new Readers((time) => open('reads', time), counts);
  const lane = new WriteLane((time) => open('writes', time), randomBytes(16).toString('hex'), counts);
  const versions = new Versions(async () => (await readers.all<{ number: number }>(lastCommit()))[0]!.number);
  let closing: Promise<void> | undefined;

  return {
    get: async <Row>(statement: SqlStatement) => (await readers.all<Row>(statement))[0],
    all: (statement) => readers.all(statement),
    isDamaged: () => Promise.resolve(false),
    hasTable: async (name) => (await readers.all(selectTable(name))).length > 0,
    version: () => versions.current(),
    transaction: (work) =>
      closing ? Promise.reject(new Error('cannot write: the database is closed')) : lane.transaction(work),
    keepRowDigests() {
      // The server verifies the checksums of its own pages.
    },
    size: sizeFrom(readers),
    server: {
      place: describeAddress(address),
      clock: async () => new Date((await readers.all<{ at: number }>(serverClock(), 0))[0]!.at),
      state: () => readServerState(readers),
      lockHolder: () => findLockHolder(readers),
      openDatabase: () => findOpenDatabase(readers),
      pool: () => summarizePool(readers, lane, counts),
    },
    close: () => (closing ??= lane.close().then(() => readers.close())),
  };
}

/** Creates the table for the marks of commits if it does not exist. */
async function prepare(
  address: PostgresAddress,
  connection: PostgresConnection,
  mustHoldStore: boolean,
): Promise<void> {
  try {
    await connection.script(`BEGIN; ${lock}`);
    await requireStoreDatabase(createQueries(connection), address, mustHoldStore);
    await connection.script(`${marks}; COMMIT`);
  } catch (error) {
    // If a host hangs during a change, the server ends its session after ten seconds.
    const held = `cannot use ${describeAddress(address)}: another process holds the lock that changes need`;
    if (hasLockTimedOut(error)) throw new ConnectionFailure(held, { cause: error, mayPass: true });
    if (codeOf(error) !== '42501') throw error;
    const reason = `its user ${address.user} does not have the rights there that the store needs; make it the owner of the database`;
    throw new ConnectionFailure(`cannot use ${describeAddress(address)}: ${reason}`, { cause: error });
  } finally {
    await connection.close();
  }
}
