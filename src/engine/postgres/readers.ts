// The connections that read. Each query is one statement and sees everything that was committed before it arrives.
import type { MaybePromise } from '#domain/maybe-promise.ts';
import type { SqlStatement } from '../database.ts';
import { connectTimeoutUntil, type PostgresConnection } from './connection.ts';
import type { PostgresCounts } from './counts.ts';
import { forCaller, isLost, isStale, ConnectionFailure } from './errors.ts';

/** Maximum of open connections; further queries wait behind others. */
const maxConnections = 8;

/** Maximum of pending queries of a connection that takes further queries of the same turn of the event loop. */
export const maxPending = 16;

/** Milliseconds for which a query tries to reach a server that does not answer. */
const maxRetryMs = 4000;

export class Readers {
  readonly #open: (time?: number) => Promise<PostgresConnection>;
  readonly #counts: PostgresCounts;
  #connections: PostgresConnection[] = [];
  #opening: Promise<PostgresConnection> | undefined;
  /** The connection for the queries of this turn of the event loop. */
  #ofTurn: PostgresConnection | undefined;
  #isClosed = false;

  constructor(open: (time?: number) => Promise<PostgresConnection>, counts: PostgresCounts) {
    this.#open = open;
    this.#counts = counts;
  }

  /** Returns the number of pending queries of each open connection. */
  pending(): number[] {
    return this.#connections.filter(({ isLost }) => !isLost).map(({ pending }) => pending);
  }

  /** Runs a query. If its connection breaks, retries on another one for `retryMs`. */
  async all<Row>(statement: SqlStatement, retryMs = maxRetryMs): Promise<Row[]> {
    const deadline = performance.now() + retryMs;
    for (let time: number | undefined; ; time = connectTimeoutUntil(deadline)) {
      try {
        // Awaited only if it has to be opened: the next query of this turn counts this one as pending.
        const picked = this.#pick(time);
        const connection = picked instanceof Promise ? await picked : picked;
        return (await connection.query<Record<string, unknown>>(statement)).rows as Row[];
      } catch (error) {
        const again = isStale(error) || (isLost(error) && performance.now() < deadline && !this.#isClosed);
        if (!again) throw forCaller(error);
        this.#counts.retries++;
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opening?.catch(() => undefined);
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }

  /**
   * Picks a connection. Queries of one turn of the event loop share it up to a limit, because one write to it sends them all. The first of
   * them picks the connection with the fewest pending queries; if none is idle and there are fewer than the maximum, it also opens a new one.
   */
  #pick(time?: number): MaybePromise<PostgresConnection> {
    if (this.#isClosed) throw new Error('cannot read: the database is closed');
    if (this.#ofTurn?.isLost === false && this.#ofTurn.pending < maxPending) return this.#ofTurn;
    this.#connections = this.#connections.filter(({ isLost }) => !isLost);
    const [first] = this.#connections.sort((connection, other) => connection.pending - other.pending);
    // Do not wait for the new connection if an existing one can take the query.
    if (first !== undefined) this.#use(first);
    if (first !== undefined && (first.pending === 0 || this.#connections.length >= maxConnections)) return first;
    this.#opening ??= this.#open(time)
      .then((opened) => {
        this.#connections.push(opened);
        return opened;
      })
      .finally(() => (this.#opening = undefined));
    // Another query may have started the opening, with more time left than this one has.
    if (first === undefined) return time === undefined ? this.#opening : withinTime(this.#opening, time);
    this.#opening.catch(() => undefined);
    return first;
  }

  /** Gives further queries of this turn of the event loop to a connection. */
  #use(connection: PostgresConnection): void {
    if (this.#ofTurn === undefined) process.nextTick(() => (this.#ofTurn = undefined));
    this.#ofTurn = connection;
  }
}

/** Waits for a connection that is being opened, for at most `time` milliseconds. */
async function withinTime(opening: Promise<PostgresConnection>, time: number): Promise<PostgresConnection> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new ConnectionFailure('the server does not answer', { mayPass: true })),
    time,
  );
  try {
    return await Promise.race([opening, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
