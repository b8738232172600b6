// The changes of this process, one after the other on one connection, and one after the other with those of other processes,
// which an advisory lock sees to: so no change ever builds on what another one is about to replace, and the audit log stays one
// chain. Those that wait are committed together.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

import type { Queries } from '../database.ts';
import { heldTooLong } from '../held.ts';
import { whileOpen } from '../while-open.ts';
import { patienceUntil, type Connection } from './connection.ts';
import { forCaller, isConflict, isHeld, isLost, NoConnection, unavailable } from './errors.ts';
import { marking, markOf } from './commits.ts';
import type { Counts } from './counts.ts';
import { queriesOn } from './queries.ts';

/** So many changes are committed together at most: whoever came first waits for all of them. */
const most = 64;

/**
 * After so many milliseconds no further change joins those that are committed together: whoever writes from another process waits for
 * them, and is refused after five seconds.
 */
const enough = 1500;

/** So often a change is done again that another transaction was in the way of. */
const tries = 5;

/** How many milliseconds a change tries to reach a server that does not answer: its caller hears of it within five seconds. */
const patience = 4000;

/** One lock for each store: a database may have several, each in its schema. */
const lock = `SELECT pg_advisory_xact_lock(hashtextextended('larder ' || current_schema(), 0))`;

/** What somebody is told whose change may have been made. */
const unknown = 'It is not known whether the change was made, so look first.';

interface Change {
  /** When its caller has waited long enough for a server that does not answer. */
  deadline: number;
  work(queries: Queries): Promise<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** What became of a change in its transaction, and how that is told once it is committed. */
interface Performed {
  isRefused: boolean;
  answer(): void;
}

/** Tells all of them why their changes were not made. */
function refuse(changes: readonly Change[], why: unknown): void {
  for (const { reject } of changes) reject(why);
}

/** It is not known whether a commit was done, and nobody can be asked. */
class Unknown extends Error {}

export class WriteLane {
  readonly #open: (time: number) => Promise<Connection>;
  /** Who this is among all who write. */
  readonly #writer: string;
  readonly #counts: Counts;
  readonly #waiting: Change[] = [];
  #connection: Connection | undefined;
  #running: Promise<void> | undefined;
  /** How many are committed together: where each answer of the server takes long, only as many as there was time for. */
  #together = most;
  /** The number of the last commit that was tried. */
  #mark = 0;

  constructor(open: (time: number) => Promise<Connection>, writer: string, counts: Counts) {
    this.#open = open;
    this.#writer = writer;
    this.#counts = counts;
  }

  /** Whether its connection is open, whether changes are made on it, and how many changes wait. */
  state(): { isOpen: boolean; isUsed: boolean; waiting: number } {
    const isOpen = this.#connection?.isLost === false;
    return { isOpen, isUsed: isOpen && this.#running !== undefined, waiting: this.#waiting.length };
  }

  /** Does a change, with those that wait as well; it may be run again, when nothing is left of the first time. */
  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const deadline = performance.now() + patience;
      this.#waiting.push({ deadline, work, resolve: (result) => resolve(result as Result), reject });
      this.#running ??= this.#run();
    });
  }

  /** Once nobody waits any more. */
  async close(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    await this.#connection?.close();
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Whatever came in the same turn of the event loop comes along.
      await nextTurn();
      const batch = this.#waiting.splice(0, this.#together);
      const failed = await this.#commit(batch);
      // What failed together may have failed for one of them.
      if (failed !== undefined && batch.length > 1) for (const change of batch) await this.#alone(change);
      else if (failed !== undefined) batch[0]!.reject(failed.error);
    }
    this.#running = undefined;
  }

  async #alone(change: Change): Promise<void> {
    const failed = await this.#commit([change]);
    if (failed !== undefined) change.reject(failed.error);
  }

  /** Commits changes together and answers them, but for those that it puts back; why not, where nothing was committed and nobody has been answered. */
  async #commit(batch: Change[]): Promise<{ error: unknown } | undefined> {
    // Those who have waited through the silence before are not kept through another one.
    const { deadline } = batch[0]!;
    for (let attempt = 1; ; attempt++) {
      try {
        for (const answer of await this.#attempt(batch, deadline)) answer();
        return undefined;
      } catch (error) {
        await this.#giveUp();
        if (error instanceof Unknown) {
          refuse(batch, unavailable(error, unknown));
          return undefined;
        }
        if (isHeld(error)) {
          // That is nobody's fault here, and whoever were to try alone would only wait as long again.
          refuse([...batch, ...this.#late()], heldTooLong(error));
          return undefined;
        }
        const isLate = performance.now() > deadline;
        if (isLost(error) && isLate) {
          // To try each of them alone would take half a second for each, and the last would hear of it long after its deadline.
          this.#waiting.unshift(...batch);
          refuse([...this.#waiting.splice(0, 1), ...this.#late()], forCaller(error));
          return undefined;
        }
        const again = (isConflict(error) && attempt < tries) || (isLost(error) && !isLate);
        if (again) this.#counts.retries++;
        if (!again) return { error: forCaller(error) };
        await sleep(isLost(error) ? 100 : Math.random() * 10 * attempt);
      }
    }
  }

  /** Those who wait behind, and have waited about as long as those before them: they hear what those do. */
  #late(): Change[] {
    const now = performance.now();
    const early = this.#waiting.findIndex(({ deadline }) => deadline > now + patience / 2);
    return this.#waiting.splice(0, early === -1 ? Infinity : early);
  }

  async #attempt(batch: Change[], deadline: number): Promise<(() => void)[]> {
    const connection = await this.#connect(deadline);
    await connection.script(`BEGIN; ${lock}`);
    const begun = performance.now();
    const isAlone = batch.length === 1;
    const done: Performed[] = [];
    const isLong = (): boolean => performance.now() - begun > enough;
    for (const change of batch) {
      done.push(await this.#perform(connection, change, isAlone));
      if (isLong()) this.#waiting.unshift(...batch.splice(done.length));
    }
    this.#together = isLong() ? done.length : Math.min(2 * this.#together, most);
    if (done.some(({ isRefused }) => !isRefused)) await this.#end(connection, deadline);
    else await connection.script('ROLLBACK');
    return done.map(({ answer }) => answer);
  }

  /** Commits, with a mark by which that is known also where the answer is lost. */
  async #end(connection: Connection, deadline: number): Promise<void> {
    const mark = ++this.#mark;
    try {
      await connection.script(`${marking(this.#writer, mark)}; COMMIT`);
    } catch (error) {
      if (!isLost(error) || !(await this.#hasCommitted(mark, deadline))) throw error;
    }
  }

  /** Runs one change, all of it or nothing, and says how it is answered later; throws what ends everybody's. */
  async #perform(connection: Connection, { work, resolve, reject }: Change, isAlone: boolean): Promise<Performed> {
    let open = true;
    let ending: unknown;
    // Whatever the work makes of it: what ended the transaction is not done.
    const failed = (error: unknown): void => {
      if (isConflict(error) || isLost(error) || isHeld(error)) ending = error;
    };
    if (!isAlone) await connection.script('SAVEPOINT change');
    try {
      const result = await work(whileOpen(queriesOn(connection, failed), () => open && !connection.isLost));
      if (ending === undefined && !isAlone) await connection.script('RELEASE change');
      if (ending === undefined) return { isRefused: false, answer: () => resolve(result) };
    } catch (error) {
      // What it makes of that is its own: it is done again where there is a connection.
      if (connection.isLost)
        ending ??= new NoConnection('the connection was lost in the midst of a change', { cause: error });
      // The transaction goes on with nothing of this one in it.
      if (ending === undefined && !isAlone) await connection.script('ROLLBACK TO change; RELEASE change');
      if (ending === undefined) return { isRefused: true, answer: () => reject(error) };
    } finally {
      open = false;
    }
    throw ending as Error;
  }

  /** Whether a commit was done whose answer was lost. Under the lock nobody is in the midst of it any more. */
  async #hasCommitted(mark: number, deadline: number): Promise<boolean> {
    this.#connection = undefined;
    for (;;) {
      try {
        const connection = await this.#connect(deadline);
        await connection.script(`BEGIN; ${lock}`);
        const [row] = (await connection.query<{ mark: number }>(markOf(this.#writer))).rows;
        await connection.script('ROLLBACK');
        return row !== undefined && row.mark >= mark;
      } catch (error) {
        await this.#giveUp();
        if (performance.now() > deadline) throw new Unknown('the answer to a commit was lost', { cause: error });
        await sleep(100);
      }
    }
  }

  async #connect(deadline: number): Promise<Connection> {
    if (this.#connection === undefined || this.#connection.isLost)
      this.#connection = await this.#open(patienceUntil(deadline));
    return this.#connection;
  }

  /** Leaves nothing of a transaction that failed. */
  async #giveUp(): Promise<void> {
    try {
      await this.#connection?.script('ROLLBACK');
    } catch {
      this.#connection?.destroy();
      this.#connection = undefined;
    }
  }
}
