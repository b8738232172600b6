// Group commit: changes that wait are committed together, so that many of them cost one sync (`npm run bench -- writes`). Each
// runs in a savepoint of its own, in the order in which they were asked for. Nobody is answered before all of them are on
// disk; not even that he was refused, because that may be for what somebody before him has done.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

import SQLite from 'better-sqlite3';

import type { Queries } from '../database.ts';
import { diskFull } from '#domain/disk-full.ts';
import { heldTooLong } from '../held.ts';
import { whileOpen } from '../while-open.ts';
import { isDiskFailure, isFull } from './disk-errors.ts';

/** A batch ends with so many changes, or when it has taken so many milliseconds: whoever came first waits for all of them. */
const most = 64;
const longest = 20;

/** How many milliseconds to wait for another process that writes. */
const patience = 5000;

interface GroupCommitOptions {
  /** Called after each commit. */
  committed(): void;
  /** Told when the disk failed under a write: nothing may be acknowledged from then on. */
  fatal?: ((error: Error) => void) | undefined;
  /** Asked for room when the disk is full; true when there is some now, and the change is worth a second try. */
  makeRoom?: (() => Promise<boolean>) | undefined;
}

/** A change that waits, and whoever waits for it. */
interface Change {
  work(queries: Queries): Promise<unknown>;
  deadline: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** The only one who uses a connection to write. */
export class GroupCommit {
  readonly #writer: SQLite.Database;
  readonly #writing: Queries;
  readonly #options: GroupCommitOptions;
  readonly #begin: SQLite.Statement;
  readonly #savepoint: SQLite.Statement;
  readonly #release: SQLite.Statement;
  readonly #commit: SQLite.Statement;
  readonly #waiting: Change[] = [];
  #running: Promise<void> | undefined;

  constructor(writer: SQLite.Database, writing: Queries, options: GroupCommitOptions) {
    this.#writer = writer;
    this.#writing = writing;
    this.#options = options;
    this.#begin = writer.prepare('BEGIN IMMEDIATE');
    this.#savepoint = writer.prepare('SAVEPOINT change');
    this.#release = writer.prepare('RELEASE change');
    this.#commit = writer.prepare('COMMIT');
  }

  /** Does a change, with those that wait as well; it may be run a second time, when nothing is left of the first. */
  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      // Counted from here: those who wait for their turn must not wait one after the other for the same other process.
      const deadline = performance.now() + patience;
      this.#waiting.push({ work, deadline, resolve: (result) => resolve(result as Result), reject });
      this.#running ??= this.#run();
    });
  }

  /** Once nobody waits any more. */
  async settled(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Whatever came in the same turn of the event loop comes along.
      await nextTurn();
      await this.#commitTogether();
    }
    this.#running = undefined;
  }

  async #commitTogether(): Promise<void> {
    const batch: Change[] = [];
    const answers: (() => void)[] = [];
    let culprit: Change | undefined;
    try {
      if (!(await this.#mayBegin())) return;
      const end = performance.now() + longest;
      do {
        culprit = this.#waiting.shift()!;
        batch.push(culprit);
        answers.push(await this.#perform(culprit));
        culprit = undefined;
      } while (this.#waiting.length > 0 && batch.length < most && performance.now() < end);
      this.#commit.run();
    } catch (error) {
      if (batch.length === 0) batch.push(this.#waiting.shift()!);
      await this.#doAlone(batch, this.#giveUp(error), batch.length === 1 ? batch[0] : culprit);
      return;
    }
    this.#options.committed();
    for (const answer of answers) answer();
  }

  /** Begins once no other process writes; those who have waited for that too long all hear of it together. */
  async #mayBegin(): Promise<boolean> {
    try {
      await begin(this.#begin, this.#waiting[0]!.deadline);
    } catch (error) {
      if (!(error instanceof Held)) throw error;
      const now = performance.now();
      const refusal = heldTooLong(error.cause);
      while ((this.#waiting[0]?.deadline ?? Infinity) < now) this.#waiting.shift()!.reject(refusal);
      return false;
    }
    return true;
  }

  /** Runs one change, all of it or nothing, and says how it is answered later; throws what ends everybody's. */
  async #perform({ work, resolve, reject }: Change): Promise<() => void> {
    let open = true;
    this.#savepoint.run();
    try {
      const result = await work(whileOpen(this.#writing, () => open && this.#writer.inTransaction));
      open = false;
      this.#release.run();
      return () => resolve(result);
    } catch (error) {
      open = false;
      // SQLite itself may have ended the transaction, and with it what others did in it.
      if (!this.#writer.inTransaction || isFull(error) || isDiskFailure(error)) throw error;
      this.#writer.exec('ROLLBACK TO change; RELEASE change');
      return () => reject(error);
    }
  }

  /**
   * Nothing of a batch is on disk: those who did not make it fail do their changes again, one at a time and once. After a
   * failure of the disk nobody does: what it lost it may forget, and take the next write as if nothing had been.
   */
  async #doAlone(batch: readonly Change[], failure: unknown, culprit: Change | undefined): Promise<void> {
    let error = failure;
    const hasRoom = isFull(error) && (await this.#options.makeRoom?.()) === true;
    for (const change of batch) {
      if (isDiskFailure(error) || (change === culprit && !hasRoom)) {
        change.reject(inWords(error));
        continue;
      }
      try {
        await begin(this.#begin, change.deadline);
        const answer = await this.#perform(change);
        this.#commit.run();
        this.#options.committed();
        answer();
      } catch (again) {
        error = this.#giveUp(again);
        change.reject(inWords(error));
      }
    }
  }

  /** Leaves nothing of a transaction that failed. */
  #giveUp(error: unknown): unknown {
    if (this.#writer.inTransaction) this.#writer.exec('ROLLBACK');
    if (isDiskFailure(error)) this.#options.fatal?.(error);
    return error;
  }
}

const inWords = (error: unknown): unknown => (isFull(error) ? diskFull(error) : error);

/** Another process has held the database for too long. */
class Held extends Error {}

/** Begins a transaction as soon as no other process is in one, and tries at least once. */
async function begin(immediately: SQLite.Statement, deadline: number): Promise<void> {
  for (;;) {
    try {
      immediately.run();
      return;
    } catch (error) {
      const busy = error instanceof SQLite.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!busy) throw error;
      if (performance.now() > deadline) throw new Held('another process writes', { cause: error });
    }
    // SQLite keeps no queue between processes: who looks seldom is left to chance beside one that has a batch ready after each.
    await sleep(1);
  }
}
