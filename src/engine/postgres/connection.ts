// One connection to PostgreSQL: opened, looked over, and asked one thing after the other.
import type { Socket } from 'node:net';
import type { ConnectionOptions as TlsOptions } from 'node:tls';

import pg from 'pg';

import { limit } from '#domain/limit.ts';
import type { Statement } from '../database.ts';
import type { Cell } from '../rows.ts';
import { placeOf, tlsOptions, type PostgresAddress } from './address.ts';
import { newCounts, type Counts } from './counts.ts';
import { cannotConnect, endsSession, isLost, isSaidByServer, isStale, NoConnection } from './errors.ts';
import { prepared } from './statements.ts';

/** How many milliseconds a server that one connects to may say nothing: it speaks at each step of that, of which there are some. */
export const patience = 3100;

/** The same where it has been tried for some time, and a caller has to hear of it five seconds after he came: by then he tries no more for a second. */
export const patienceUntil = (deadline: number): number =>
  Math.min(patience, Math.max(500, deadline + 900 - performance.now()));

/** After so many without an answer it is tried whether the server answers anybody; with the above that is within five seconds. */
const silence = 1500;

/**
 * So many it is waited for an answer to anybody where all rows of a store come or go: what they keep a server busy with lasts for
 * seconds in which it takes nobody else, and to begin anew would take minutes.
 */
const patienceInBulk = 60_000;

/**
 * Every statement of the store has its index, as SQLite needs it. The server plans by how large its tables were when it last looked, and keeps
 * that plan: where a table was empty then it would read all of it from then on, 20,000 entries of the audit log for each new one. A plan that
 * is kept does not know how much `LIMIT` leaves either, and takes that for a tenth of a table: to name the hundred largest packages it would
 * read all of a hundred thousand and join them by a hash. And what it finds dear it would compile first, which costs more than the rest of an answer.
 * For that tenth it takes a plan that is kept for dearer than one that is made for the values, too, and would make another at every call: half of what
 * the first page of a hundred thousand packages costs. Which index it uses does not follow from the values, so the first plan is kept.
 */
const byIndex = ['enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off', 'jit = off']
  .concat('plan_cache_mode = force_generic_plan')
  .map((one) => `SET ${one}`)
  .join('; ');

/** What a connection is for: one that reads refuses to write, and one that writes does not hold others up for ever. */
const settings = {
  reads: `SET default_transaction_read_only = on; ${byIndex}`,
  // Whole tables, in the order in which they lie on the disk.
  'reads all': `SET default_transaction_read_only = on`,
  // A process that was stopped in the midst of a change must not keep all others from writing.
  writes: `SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '10s'; ${byIndex}`,
  // One that brings a whole store waits for the disk that it comes from.
  loads: `SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '10min'`,
} as const;

/** Numbers and truth as SQLite gives them: PostgreSQL's client would give texts, and true for 1. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.INT8]: Number,
  [pg.types.builtins.NUMERIC]: Number,
  [pg.types.builtins.BOOL]: (text) => (text === 't' ? 1 : 0),
};
/** As they are, whatever their size. */
const exact: Readonly<Record<number, (text: string) => unknown>> = { [pg.types.builtins.INT8]: BigInt };
type ParserOf = (type: number, format?: 'text' | 'binary') => (text: string) => unknown;
const others = pg.types.getTypeParser as ParserOf;
const typesBy = (parsers: Readonly<Record<number, (text: string) => unknown>>) => ({
  getTypeParser: ((type, format) => parsers[type] ?? others(type, format)) satisfies ParserOf,
});
const [types, exactTypes] = [typesBy(parsers), typesBy(exact)];

export type Purpose = keyof typeof settings;

export interface ConnectionOptions {
  counts?: Counts | undefined;
  /** How many milliseconds the server may say nothing. */
  patience?: number;
}

export class Connection {
  readonly #client: pg.Client;
  /** What all bytes come through, also where it is TLS that they are. */
  readonly #socket: Socket;
  readonly #address: PostgresAddress;
  readonly #purpose: Purpose;
  readonly #inTurn = limit({ atOnce: 1 });
  readonly #counts: Counts;
  #pending = 0;
  #isOpen = false;
  #isLost = false;
  #trying: Promise<void> | undefined;

  private constructor(client: pg.Client, address: PostgresAddress, purpose: Purpose, counts: Counts) {
    this.#client = client;
    this.#socket = socketOf(client);
    this.#address = address;
    this.#purpose = purpose;
    this.#counts = counts;
    const lost = (): void => {
      this.#lose();
    };
    // An error without anybody who waits would end the process; whoever asks next hears of it.
    client.on('error', lost).on('end', lost);
  }

  /** Opens one, and throws in words for a person where there is none, or the server keeps less than is promised here. */
  static async open(
    address: PostgresAddress,
    purpose: Purpose,
    { counts = newCounts(), patience: lasting = patience }: ConnectionOptions = {},
  ): Promise<Connection> {
    const { host, port, database, user, password, options } = address;
    const client = new pg.Client({
      host,
      port,
      database,
      user,
      password,
      ssl: tlsOf(address),
      types: types,
      application_name: 'larder',
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      enableChannelBinding: true,
      ...(options !== undefined && { options }),
    });
    const connection = new Connection(client, address, purpose, counts);
    // Also for a server that takes a connection and says nothing.
    const quiet = whenQuiet(socketOf(client), lasting, () => connection.destroy(new Error('timeout expired')));
    try {
      await client.connect();
      await client.query(settings[purpose]);
      const { rows } = await client.query<Server>(lookedOver);
      refuseLess(rows[0]!, placeOf(address));
      connection.#isOpen = true;
      return connection;
    } catch (error) {
      connection.destroy();
      throw error instanceof NoConnection ? error : cannotConnect(address, error);
    } finally {
      clearInterval(quiet);
    }
  }

  /** How many wait for an answer here. */
  get pending(): number {
    return this.#pending;
  }

  /** Whether nothing can be asked here any more. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Asks one thing; rows, and how many were changed. */
  query<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>> {
    return this.#ask(() => answer<pg.QueryResult<Row>>(this.#client, prepared(statement)));
  }

  /** Asks in PostgreSQL's own words; the values of each row one after the other, and whole numbers of any size. */
  async rows(text: string, values: readonly (Cell | readonly Cell[])[] = []): Promise<Cell[][]> {
    const wanted = { text, values: [...values], rowMode: 'array' as const, types: exactTypes };
    return (await this.#ask(() => answer<pg.QueryArrayResult<Cell[]>>(this.#client, wanted))).rows;
  }

  /** Runs a text of several statements, without values. */
  async script(text: string): Promise<void> {
    await this.#ask(() => this.#client.query(text));
  }

  async #ask<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    this.#pending++;
    this.#counts.queries++;
    const silent = setInterval(() => {
      this.#trying ??= this.#tryServer();
    }, silence);
    try {
      return await this.#inTurn(ask);
    } catch (error) {
      const ends = endsSession(error);
      if (ends || isLost(error) || isStale(error)) this.destroy();
      // Whatever it says: of a server that ends for want of room in its log a commit may be done all the same.
      throw ends ? new NoConnection('the server has ended the connection', { cause: error, mayPass: true }) : error;
    } finally {
      clearInterval(silent);
      this.#pending--;
    }
  }

  /** Whether the server answers anybody: one that does may take its time here, and from one that does not nothing will come. */
  async #tryServer(): Promise<void> {
    const inBulk = this.#purpose === 'loads' || this.#purpose === 'reads all';
    const before = this.#socket.bytesRead;
    try {
      const other = await Connection.open(this.#address, 'reads', { patience: inBulk ? patienceInBulk : patience });
      await other.close();
    } catch (error) {
      if (!isSaidByServer(error) && this.#socket.bytesRead === before) this.destroy();
    }
    this.#trying = undefined;
  }

  /** Once what was asked is answered. */
  async close(): Promise<void> {
    this.#isLost = true;
    await this.#inTurn(() => this.#client.end()).catch(() => undefined);
  }

  /** Counts it once, where it was ever open. */
  #lose(): void {
    if (this.#isOpen && !this.#isLost) this.#counts.lost++;
    this.#isLost = true;
  }

  /** At once; whoever waits for an answer gets an error: this one, if it is said. */
  destroy(why?: Error): void {
    this.#lose();
    // To end it in words first would leave whoever waits for the connection itself without an answer.
    socketOf(this.#client).destroy(why);
  }
}

/**
 * Asks a client. The promise that it would give itself keeps all rows for as long as the collector looks at young objects alone: of a list
 * of a thousand rows that is half a megabyte a request, which is copied twice, and costs as much as to make the list.
 */
const answer = <Result>(client: pg.Client, query: pg.QueryConfig): Promise<Result> =>
  new Promise((resolve, reject) => {
    client.query(query, (error: Error | null, result) => {
      if (error === null) resolve(result as Result);
      else reject(error);
    });
  });

/** What a client speaks through just now. */
const socketOf = (client: pg.Client): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

/** Does something when nothing has come for so many milliseconds. */
function whenQuiet(socket: Socket, lasting: number, work: () => void): NodeJS.Timeout {
  let heard = { bytes: 0, at: performance.now() };
  return setInterval(() => {
    const [bytes, at] = [socket.bytesRead, performance.now()];
    if (bytes !== heard.bytes) heard = { bytes, at };
    else if (at - heard.at >= lasting) work();
  }, lasting / 20);
}

function tlsOf(address: PostgresAddress): TlsOptions | false {
  try {
    return tlsOptions(address);
  } catch (cause) {
    throw new NoConnection(`cannot open ${placeOf(address)}`, { cause, saysAll: false });
  }
}

/** What is asked of a server before it is trusted with anything. */
const lookedOver = `
  SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
    current_setting('synchronous_commit') AS synchronous, current_setting('fsync') AS fsync,
    current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby, current_schema() AS schema`;

export interface Server {
  version: string;
  number: number;
  synchronous: string;
  fsync: string;
  encoding: string;
  standby: 0 | 1;
  schema: string | null;
}

/** Throws where a server, or how it is set, keeps less than is promised of what is committed. */
export function refuseLess(
  { version, number, synchronous, fsync, encoding, standby, schema }: Server,
  place: string,
): void {
  const cannot = (why: string): never => {
    throw new NoConnection(`cannot use ${place}: ${why}`);
  };
  if (number < 150_000) cannot(`the server is PostgreSQL ${version}, and larder needs 15 or newer`);
  if (fsync !== 'on') cannot(`the server runs with fsync = ${fsync}, and may lose what it has confirmed; turn it on`);
  if (!['on', 'remote_apply'].includes(synchronous))
    cannot(
      `the server runs with synchronous_commit = ${synchronous}, and may lose what it has confirmed; set it to on`,
    );
  if (encoding !== 'UTF8') cannot(`it keeps texts as ${encoding}; make a database with the encoding UTF8`);
  if (standby === 1) cannot('the server is a standby, which only reads; name the primary');
  if (schema === null) cannot('it has no schema of its search_path; make one, or name one that is there');
}
