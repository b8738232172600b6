// One connection to PostgreSQL: opens it, checks the server, and sends queries without waiting for the results of earlier ones.
import type { Socket } from 'node:net';
import type { ConnectionOptions as TlsOptions } from 'node:tls';

import pg from 'pg';

import type { SqlStatement } from '../database.ts';
import type { Cell } from '../rows.ts';
import { describeAddress, tlsOptions, type PostgresAddress } from '#contract/postgres-address.ts';
import { newCounts, type PostgresCounts } from './counts.ts';
import { cannotConnect, endsSession, isLost, isServerError, isStale, ConnectionFailure } from './errors.ts';
import { PreparedQuery, type ParserOf, type RowShapes } from './prepared-query.ts';
import { prepareStatement } from './statements.ts';

/** Connect timeout in milliseconds, restarted at each step of the handshake. */
export const connectTimeoutMs = 3100;

/**
 * Connect timeout for a retry: its caller must get an error within five seconds, so no attempt lasts longer than 0.9 s after the deadline.
 */
export const connectTimeoutUntil = (deadline: number): number =>
  Math.min(connectTimeoutMs, Math.max(500, deadline + 900 - performance.now()));

/**
 * Milliseconds without a response after which the connection tests whether the server answers on another connection. With the timeout above,
 * a dead server is noticed within five seconds.
 */
const silenceMs = 1500;

/**
 * Connect timeout in milliseconds of that test while all rows of a store are read or written. Such work can keep a server from accepting
 * connections for seconds, and repeating the work would take minutes.
 */
const bulkConnectTimeoutMs = 60_000;

/**
 * Makes the planner use indexes and keep its first plan. Every statement of the store has an index, because SQLite needs it.
 *
 * - Sequential scans: the server plans with the table sizes of its last analysis, and keeps the plan. If a table was empty at that time,
 * every later query would read the whole table: 20,000 entries of the audit log for each new entry.
 * - Hash and merge joins: a cached plan does not know the value of `LIMIT` and assumes a tenth of the table. To list the 100 largest of
 * 100,000 packages, the server would read all of them and join them by a hash.
 * - JIT: compiling an expensive plan costs more than the rest of the query.
 * - Custom plans: because of that assumption, the server rates a cached plan as more expensive than a plan for the actual values, and would
 * plan again at every call. Planning is half the cost of the first page of 100,000 packages. The choice of index does not depend on the
 * values.
 */
const byIndex = ['enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off', 'jit = off']
  .concat('plan_cache_mode = force_generic_plan')
  .map((setting) => `SET ${setting}`)
  .join('; ');

/** Session settings for each purpose of a connection: a reader refuses writes, and a writer does not block other processes forever. */
const settings = {
  reads: `SET default_transaction_read_only = on; ${byIndex}`,
  // Reads whole tables, in the order of the disk, so sequential scans are right.
  'reads all': `SET default_transaction_read_only = on`,
  // A process that was suspended during a change must not keep all others from writing.
  writes: `SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '10s'; ${byIndex}`,
  // A connection that writes a whole store waits for the disk that it reads from.
  loads: `SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '10min'`,
} as const;

/** Numbers and booleans as SQLite gives them. The client of PostgreSQL would give strings for numbers, and true for 1. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.INT8]: Number,
  [pg.types.builtins.NUMERIC]: Number,
  [pg.types.builtins.BOOL]: (text) => (text === 't' ? 1 : 0),
};
/** Parsers that keep whole numbers of any size exact. */
const exact: Readonly<Record<number, (text: string) => unknown>> = { [pg.types.builtins.INT8]: BigInt };
const others = pg.types.getTypeParser as ParserOf;
const createTypeParsers = (parsers: Readonly<Record<number, (text: string) => unknown>>) => ({
  getTypeParser: ((type, format) => parsers[type] ?? others(type, format)) satisfies ParserOf,
});
const [types, exactTypes] = [createTypeParsers(parsers), createTypeParsers(exact)];

export type ConnectionPurpose = keyof typeof settings;

export interface ConnectionOptions {
  counts?: PostgresCounts | undefined;
  /** Connect timeout in milliseconds. */
  connectTimeoutMs?: number;
}

export class PostgresConnection {
  readonly #client: pg.Client;
  /** The raw socket, which counts all bytes, also under TLS. */
  readonly #socket: Socket;
  readonly #address: PostgresAddress;
  readonly #purpose: ConnectionPurpose;
  readonly #counts: PostgresCounts;
  #pending = 0;
  #isOpen = false;
  #isLost = false;
  /** Whether the queries of this turn of the event loop are gathered for one write. */
  #isGathering = false;
  #trying: Promise<void> | undefined;
  /** Runs out when the server has not responded for a while. */
  #silence: NodeJS.Timeout | undefined;
  readonly #shapes: RowShapes = new Map();

  private constructor(client: pg.Client, address: PostgresAddress, purpose: ConnectionPurpose, counts: PostgresCounts) {
    this.#client = client;
    this.#socket = socketOf(client);
    this.#address = address;
    this.#purpose = purpose;
    this.#counts = counts;
    const lost = (): void => {
      this.#lose();
    };
    // An unhandled 'error' event would end the process. The next query gets the error.
    client.on('error', lost).on('end', lost);
  }

  /**
   * Opens a connection. Throws ConnectionFailure, with a message for a person, if there is none or if the server's durability is weaker than
   * larder promises.
   */
  static async open(
    address: PostgresAddress,
    purpose: ConnectionPurpose,
    { counts = newCounts(), connectTimeoutMs: quietMs = connectTimeoutMs }: ConnectionOptions = {},
  ): Promise<PostgresConnection> {
    const { host, port, database, user, password, options } = address;
    const client = new pg.Client({
      host,
      port,
      database,
      user,
      password,
      ssl: tlsOf(address),
      types,
      application_name: 'larder',
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      // The server runs the queries in the order of their arrival.
      pipeline: true,
      enableChannelBinding: true,
      ...(options !== undefined && { options }),
    });
    const connection = new PostgresConnection(client, address, purpose, counts);
    // Also ends the attempt if a server accepts a connection and sends nothing.
    const quiet = whenQuiet(socketOf(client), quietMs, () => connection.destroy(new Error('timeout expired')));
    try {
      await client.connect();
      await client.query(settings[purpose]);
      const { rows } = await client.query<ServerSettings>(selectSettings);
      refuseWeakDurability(rows[0]!, describeAddress(address));
      connection.#isOpen = true;
      return connection;
    } catch (error) {
      connection.destroy();
      throw error instanceof ConnectionFailure ? error : cannotConnect(address, error);
    } finally {
      clearInterval(quiet);
    }
  }

  /** The number of queries that wait for a result on this connection. */
  get pending(): number {
    return this.#pending;
  }

  /** Whether the connection can no longer be used. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Runs one statement. Returns its rows and the number of changed rows. */
  query<Row extends pg.QueryResultRow>(statement: SqlStatement): Promise<pg.QueryResult<Row>> {
    return this.#ask(new PreparedQuery(prepareStatement(statement), this.#shapes, types.getTypeParser));
  }

  /** Runs a statement in PostgreSQL's own syntax. Returns each row as an array of values, with whole numbers of any size. */
  async rows(text: string, values: readonly (Cell | readonly Cell[])[] = []): Promise<Cell[][]> {
    const query = { text, values: [...values], rowMode: 'array' as const, types: exactTypes };
    return (await this.#ask<pg.QueryArrayResult<Cell[]>>(query)).rows;
  }

  /** Runs a text of several statements, without values. */
  async script(text: string): Promise<void> {
    await this.#ask(text);
  }

  /**
   * Runs a query with a callback. The client's own promise keeps all rows alive until the garbage collector looks beyond young objects. For
   * a list of a thousand rows that is half a megabyte per request, copied twice, and costs as much as making the list.
   */
  #ask<Result>(query: PreparedQuery | pg.QueryConfig | string): Promise<Result> {
    if (this.#pending++ === 0) this.#expectResponse();
    this.#counts.queries++;
    this.#sendTogether();
    return new Promise<Result>((resolve, reject) => {
      this.#client.query(query as pg.QueryConfig, (error: Error | null, result: unknown) => {
        if (--this.#pending > 0) this.#expectResponse();
        if (error === null) resolve(result as Result);
        else reject(this.#settleError(error));
      });
    });
  }

  /** Closes the connection if it cannot be used after this error of a query. Returns the error for the caller. */
  #settleError(error: Error): Error {
    const ends = endsSession(error);
    if (ends || isLost(error) || isStale(error)) this.destroy();
    // For every error code: if a server ends because its log is out of space, the commit may still be done.
    return ends ? new ConnectionFailure('the server has ended the connection', { cause: error, mayPass: true }) : error;
  }

  /** From now on the server may be silent for a while. One timer serves all queries: a timer for each costs more than sending it. */
  #expectResponse(): void {
    this.#silence ??= setTimeout(() => {
      if (this.#pending === 0) return;
      this.#trying ??= this.#tryServer();
      this.#silence?.refresh();
    }, silenceMs).unref();
    this.#silence.refresh();
  }

  /**
   * Tests whether the server answers on another connection. If it does, a slow query may continue; if not, no result will come and this
   * connection is destroyed.
   */
  async #tryServer(): Promise<void> {
    const inBulk = this.#purpose === 'loads' || this.#purpose === 'reads all';
    const before = this.#socket.bytesRead;
    try {
      const other = await PostgresConnection.open(this.#address, 'reads', {
        connectTimeoutMs: inBulk ? bulkConnectTimeoutMs : connectTimeoutMs,
      });
      await other.close();
    } catch (error) {
      if (!isServerError(error) && this.#socket.bytesRead === before) this.destroy();
    }
    this.#trying = undefined;
  }

  /**
   * Sends the queries of this turn of the event loop in one write. Each write wakes a process of the server, which costs more than the rest
   * of a short query. A list by 32 clients takes half of the processor time since queries are sent together (`LARDER_ONLY=engines npm run
   * bench -- scale`).
   */
  #sendTogether(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    const socket = socketOf(this.#client);
    socket.cork();
    process.nextTick(() => {
      this.#isGathering = false;
      socket.uncork();
    });
  }

  /** Closes the connection after all pending queries. */
  async close(): Promise<void> {
    this.#isLost = true;
    await this.#client.end().catch(() => undefined);
  }

  /** Counts a lost connection once, and only if it was ever open. */
  #lose(): void {
    if (this.#isOpen && !this.#isLost) this.#counts.lost++;
    this.#isLost = true;
  }

  /** Closes the connection at once. Pending queries fail, with `reason` if it is given. */
  destroy(reason?: Error): void {
    this.#lose();
    // Destroy the socket. `end()` would never settle the promise of a caller that still waits for the connection to open.
    socketOf(this.#client).destroy(reason);
  }
}

/** Returns the socket that a client uses now. */
const socketOf = (client: pg.Client): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

/** Calls `work` when no bytes have been received for `quietMs`. */
function whenQuiet(socket: Socket, quietMs: number, work: () => void): NodeJS.Timeout {
  let heard = { bytes: 0, at: performance.now() };
  return setInterval(() => {
    const [bytes, at] = [socket.bytesRead, performance.now()];
    if (bytes !== heard.bytes) heard = { bytes, at };
    else if (at - heard.at >= quietMs) work();
  }, quietMs / 20);
}

function tlsOf(address: PostgresAddress): TlsOptions | false {
  try {
    return tlsOptions(address);
  } catch (cause) {
    throw new ConnectionFailure(`cannot open ${describeAddress(address)}`, { cause, saysAll: false });
  }
}

/** The settings that are checked before a server is used. */
const selectSettings = `
  SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
    current_setting('synchronous_commit') AS synchronous, current_setting('fsync') AS fsync,
    current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby, current_schema() AS schema`;

export interface ServerSettings {
  version: string;
  number: number;
  synchronous: string;
  fsync: string;
  encoding: string;
  standby: 0 | 1;
  schema: string | null;
}

/** Throws if the durability of a server, or of its settings, is weaker than larder promises for committed changes. */
export function refuseWeakDurability(
  { version, number, synchronous, fsync, encoding, standby, schema }: ServerSettings,
  place: string,
): void {
  const cannot = (reason: string): never => {
    throw new ConnectionFailure(`cannot use ${place}: ${reason}`);
  };
  if (number < 150_000) cannot(`the server is PostgreSQL ${version}, but larder needs 15 or newer`);
  if (fsync !== 'on') cannot(`the server runs with fsync = ${fsync}, so confirmed changes can be lost; turn it on`);
  if (!['on', 'remote_apply'].includes(synchronous))
    cannot(`the server runs with synchronous_commit = ${synchronous}, so confirmed changes can be lost; set it to on`);
  if (encoding !== 'UTF8') cannot(`its encoding is ${encoding}; create a database with the encoding UTF8`);
  if (standby === 1) cannot('the server is a read-only standby; name the primary');
  if (schema === null) cannot('no schema of its search_path exists; create one, or name an existing one');
}
