// The connections that read: each question is one statement, which sees what is committed when it arrives.
import type { Statement } from '../database.ts';
import { patienceUntil, type Connection } from './connection.ts';
import type { Counts } from './counts.ts';
import { forCaller, isLost, isStale, NoConnection } from './errors.ts';

/** So many are opened at most; a question beyond that waits behind others. */
const most = 8;

/** How many milliseconds a question tries to reach a server that does not answer. */
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

  /** How many questions each connection has that is open. */
  pending(): number[] {
    return this.#connections.filter(({ isLost }) => !isLost).map(({ pending }) => pending);
  }

  /** Asks a question; where the connection breaks under it, on another one, for so many milliseconds. */
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

  /** One that nobody waits for; otherwise a new one, or where there are enough the one that fewest wait for. */
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
    // Another question may have begun it, with more time left than this one has.
    if (first === undefined) return time === undefined ? this.#opening : withinTime(this.#opening, time);
    // Others wait no longer for the new one than for those that are there.
    this.#opening.catch(() => undefined);
    return first;
  }
}

/** A connection that is being opened, for a caller that can wait for so many milliseconds. */
async function withinTime(opening: Promise<Connection>, time: number): Promise<Connection> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new NoConnection('the server does not answer', { mayPass: true })), time);
  try {
    return await Promise.race([opening, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
