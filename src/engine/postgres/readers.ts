// The connections that read. Each query is one statement and sees everything that was committed before it arrives.
import type { Statement } from '../database.ts';
import { patienceUntil, type Connection } from './connection.ts';
import type { Counts } from './counts.ts';
import { forCaller, isLost, isStale, NoConnection } from './errors.ts';

/** Maximum of open connections; further queries wait behind others. */
const most = 8;

/** Milliseconds for which a query tries to reach a server that does not answer. */
const patience = 4000;

export class Readers {
  readonly #open: (time?: number) => Promise<Connection>;
  readonly #counts: Counts;
  #connections: Connection[] = [];
  #opening: Promise<Connection> | undefined;
  #isClosed = false;

  constructor(open: (time?: number) => Promise<Connection>, counts: Counts) {
    this.#open = open;
    this.#counts = counts;
  }

  /** Returns the number of pending queries of each open connection. */
  pending(): number[] {
    return this.#connections.filter(({ isLost }) => !isLost).map(({ pending }) => pending);
  }

  /** Runs a query. If its connection breaks, retries on another one for `lasting` milliseconds. */
  async all<Row>(statement: Statement, lasting = patience): Promise<Row[]> {
    const deadline = performance.now() + lasting;
    for (let time: number | undefined; ; time = patienceUntil(deadline)) {
      try {
        const connection = await this.#pick(time);
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

  /** Picks the connection with the fewest pending queries. If none is idle and there are fewer than the maximum, also opens a new one. */
  async #pick(time?: number): Promise<Connection> {
    if (this.#isClosed) throw new Error('cannot read: the database is closed');
    this.#connections = this.#connections.filter(({ isLost }) => !isLost);
    const [first] = this.#connections.sort((one, other) => one.pending - other.pending);
    if (first !== undefined && (first.pending === 0 || this.#connections.length >= most)) return first;
    this.#opening ??= this.#open(time)
      .then((opened) => {
        this.#connections.push(opened);
        return opened;
      })
      .finally(() => (this.#opening = undefined));
    // Another query may have started the opening, with more time left than this one has.
    if (first === undefined) return time === undefined ? this.#opening : withinTime(this.#opening, time);
    // Do not wait for the new connection if an existing one can take the query.
    this.#opening.catch(() => undefined);
    return first;
  }
}

/** Waits for a connection that is being opened, for at most `time` milliseconds. */
async function withinTime(opening: Promise<Connection>, time: number): Promise<Connection> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new NoConnection('the server does not answer', { mayPass: true })), time);
  try {
    return await Promise.race([opening, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
