// Reads the state of the server and of the connections of this process to it.
import { sql, type Database, type LockHolder, type PoolFigures, type ServerState } from '../database.ts';
import type { PostgresCounts } from './counts.ts';
import { maxPending, type Readers } from './readers.ts';
import type { WriteLane } from './write-lane.ts';

/** Returns the figures of the reading connections and the writing one together. */
export function summarizePool(readers: Readers, lane: WriteLane, counts: PostgresCounts): PoolFigures {
  const [reading, writing] = [readers.pending(), lane.state()];
  const used = reading.filter((pending) => pending > 0);
  return {
    open: reading.length + Number(writing.isOpen),
    used: used.length + Number(writing.isUsed),
    // Queries that are sent together do not count as waiting for each other.
    waiting: used.reduce((sum, pending) => sum + Math.max(0, pending - maxPending), writing.waiting),
    ...counts,
  };
}

const bytesTaken = () => sql`
  SELECT coalesce(sum(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`;

/**
 * Milliseconds for which the size of the tables is cached. To compute it, the server asks its file system for each file of each table and
 * index.
 */
const fresh = 15_000;

/**
 * Returns the bytes of a store's tables with their indexes and large values. The write-ahead log belongs to the server and is not counted.
 */
export function sizeFrom(readers: Pick<Readers, 'all'>): Database['size'] {
  let cached: { bytes: number; at: number } | undefined;
  return async () => {
    if (cached === undefined || performance.now() - cached.at > fresh) {
      const at = performance.now();
      cached = { ...(await readers.all<{ bytes: number }>(bytesTaken()))[0]!, at };
    }
    return { bytes: cached.bytes, logBytes: undefined };
  };
}

const selectServerState = () => sql`
  SELECT current_setting('server_version') AS version, current_setting('data_checksums') = 'on' AS checksums,
    current_setting('full_page_writes') = 'on' AS "fullPageWrites",
    (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS "isSuperuser",
    has_schema_privilege(current_schema(), 'CREATE') AS "mayMakeTables",
    (SELECT count(*) FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND NOT pg_has_role(relowner, 'USAGE')
    ) AS "foreignTables",
    current_database() AS database,
    has_database_privilege('public', current_database(), 'CONNECT') AS "isOpenToAll",
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
    extract(epoch FROM clock_timestamp()) * 1000 AS clock`;

interface ServerStateRow {
  version: string;
  checksums: 0 | 1;
  fullPageWrites: 0 | 1;
  isSuperuser: 0 | 1;
  mayMakeTables: 0 | 1;
  foreignTables: number;
  database: string;
  isOpenToAll: 0 | 1;
  used: number;
  most: number;
  clock: number;
}

const selectLockHolder = () => sql`
  SELECT usename AS role, application_name AS application, usename = current_user AS "isOwnRole"
  FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32) | objid::bigint = hashtextextended('larder ' || current_schema(), 0)
  LIMIT 1`;

/** Returns the session that holds the lock for changes of the store. */
export async function findLockHolder(readers: Pick<Readers, 'all'>): Promise<LockHolder | undefined> {
  const [row] = await readers.all<Omit<LockHolder, 'isOwnRole'> & { isOwnRole: 0 | 1 }>(selectLockHolder());
  return row && { ...row, isOwnRole: row.isOwnRole === 1 };
}

const openDatabase = () => sql`
  SELECT current_database() AS name WHERE has_database_privilege('public', current_database(), 'CONNECT')`;

/** Returns the name of the database if every role may connect to it: the part of `readServerState` that is cheap enough for every `/readyz`. */
export const findOpenDatabase = async (readers: Pick<Readers, 'all'>): Promise<string | undefined> =>
  (await readers.all<{ name: string }>(openDatabase()))[0]?.name;

export async function readServerState(readers: Pick<Readers, 'all'>): Promise<ServerState> {
  // This first query may wait for a connection to be opened; the second one is timed.
  await readers.all(sql`SELECT 1`);
  const [requestedAt, since] = [Date.now(), performance.now()];
  const row = (await readers.all<ServerStateRow>(selectServerState()))[0]!;
  const took = performance.now() - since;
  return {
    // The rest is the version of the distribution's package.
    version: row.version.split(' ')[0]!,
    checksums: row.checksums === 1,
    fullPageWrites: row.fullPageWrites === 1,
    isSuperuser: row.isSuperuser === 1,
    mayMakeTables: row.mayMakeTables === 1,
    foreignTables: row.foreignTables,
    database: row.database,
    isOpenToAll: row.isOpenToAll === 1,
    connections: { used: row.used, max: row.most },
    clock: { ahead: row.clock - requestedAt - took / 2, within: took / 2 },
  };
}
