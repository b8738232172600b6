// Performs the changes of this process on one connection, one after the other. An advisory lock keeps them apart from the changes of other
// processes, so that no change reads rows that another process is replacing, and the audit log stays a single chain. Waiting changes are
// committed together.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

import { SharedState } from '../commit-state.ts';
import type { TransactionWork } from '../database.ts';
import { lockTimeoutRefusal } from '../lock-timeout.ts';
import { guardQueries } from '../guard-queries.ts';
import { carefulBatchCount, NeedsSavepoints } from '../savepoints.ts';
import { connectTimeoutUntil, type PostgresConnection } from './connection.ts';
import { forCaller, isConflict, hasLockTimedOut, isLost, ConnectionFailure, unavailable } from './errors.ts';
import { locking, marking, markOf, preparing } from './commits.ts';
import type { PostgresCounts } from './counts.ts';
import { createQueries } from './queries.ts';
import { UnawaitedStatements } from './unawaited.ts';

/** Maximum of changes that are committed together: the first one waits for all of them. */
const maxBatchSize = 64;

/**
 * Milliseconds after which no further change joins a batch. Writers in other processes wait for the batch, and are refused after five
 * seconds.
 */
const maxBatchMs = 1500;

/** Maximum of attempts for a change that conflicts with another transaction. */
const maxAttempts = 5;

/** Milliseconds for which a change tries to reach a server that does not answer. Its caller gets an error within five seconds. */
const maxRetryMs = 4000;

/** The sentence for a change that may have been committed. */
const unknown = 'It is not known whether the change was made. Check before you repeat it.';

interface QueuedPostgresChange {
  /** When the change fails if the server does not answer, in milliseconds of `performance.now()`. */
  deadline: number;
  work: TransactionWork<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** The result of a change in its transaction. `answer` reports it to the caller after the commit. */
interface PerformedChange {
  isRefused: boolean;
  answer(): void;
}

/** The transaction of the changes that are committed together. */
interface Batch {
  connection: PostgresConnection;
  shared: SharedState;
  unawaited: UnawaitedStatements;
  /** The statements that begin the next change, so that it can be rolled back alone; empty without savepoints. */
  savepoint: string;
  isAlone: boolean;
}

/** The savepoint of a change; it replaces that of the change before, with one message for both. */
const [firstSavepoint, nextSavepoint] = ['SAVEPOINT change', 'RELEASE change; SAVEPOINT change'];

/** Rejects all changes with the same error. */
function refuse(changes: readonly QueuedPostgresChange[], error: unknown): void {
  for (const { reject } of changes) reject(error);
}

/** Finishes the shared state of a commit. Throws errors of the server as they are, so that the commit can be tried again. */
async function finish({ connection, shared, unawaited }: Batch): Promise<void> {
  let failure: unknown;
  try {
    await shared.finish(createQueries(connection, { failed: (error) => (failure ??= error), unawaited }));
  } catch (error) {
    throw failure ?? error;
  }
}

/** It is unknown whether a commit was done, because the server cannot be asked. */
class UnknownOutcome extends Error {}

export class WriteLane {
  readonly #open: (time: number) => Promise<PostgresConnection>;
  /** The id of this process among all writers. */
  readonly #writer: string;
  readonly #counts: PostgresCounts;
  readonly #waiting: QueuedPostgresChange[] = [];
  #connection: PostgresConnection | undefined;
  #running: Promise<void> | undefined;
  /** Maximum size of the next batch. After a batch that took too long, it is the number of changes that the batch completed. */
  #together = maxBatchSize;
  /** How many of the next batches use savepoints. */
  #carefulBatches = 0;
  /** The mark of the last attempted commit. */
  #mark = 0;

  constructor(open: (time: number) => Promise<PostgresConnection>, writer: string, counts: PostgresCounts) {
    this.#open = open;
    this.#writer = writer;
    this.#counts = counts;
  }

  /** Returns whether the connection is open, whether changes run on it, and how many changes wait. */
  state(): { isOpen: boolean; isUsed: boolean; waiting: number } {
    const isOpen = this.#connection?.isLost === false;
    return { isOpen, isUsed: isOpen && this.#running !== undefined, waiting: this.#waiting.length };
  }

  /** Performs a change, together with others that wait. `work` may run again, after the earlier run was rolled back. */
  transaction<Result>(work: TransactionWork<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const deadline = performance.now() + maxRetryMs;
      this.#waiting.push({ deadline, work, resolve: (result) => resolve(result as Result), reject });
      this.#running ??= this.#run();
    });
  }

  /** Waits for all changes, then closes the connection. */
  async close(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    await this.#connection?.close();
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Let all changes of the same turn of the event loop join the batch.
      await nextTurn();
      const batch = this.#waiting.splice(0, this.#together);
      const failed = await this.#commit(batch);
      // A single change may have failed the whole batch, so each is tried alone.
      if (failed !== undefined && batch.length > 1) for (const change of batch) await this.#alone(change);
      else if (failed !== undefined) batch[0]!.reject(failed.error);
    }
    this.#running = undefined;
  }

  async #alone(change: QueuedPostgresChange): Promise<void> {
    const failed = await this.#commit([change]);
    if (failed !== undefined) change.reject(failed.error);
  }

  /**
   * Commits changes together and answers them, except changes that return to the queue. Returns the error if it committed nothing and
   * answered no caller.
   */
  async #commit(batch: QueuedPostgresChange[]): Promise<{ error: unknown } | undefined> {
    // The deadline of the oldest change, so that a caller waits only once for a server that does not answer.
    const { deadline } = batch[0]!;
    for (let attempt = 1; ; attempt++) {
      try {
        for (const answer of await this.#attempt(batch, deadline)) answer();
        return undefined;
      } catch (error) {
        await this.#giveUp();
        if (error instanceof NeedsSavepoints) {
          this.#carefulBatches = carefulBatchCount;
          continue;
        }
        if (error instanceof UnknownOutcome) {
          refuse(batch, unavailable(error, unknown));
          return undefined;
        }
        if (hasLockTimedOut(error)) {
          // A retry of each change alone would only wait as long again for the same lock.
          refuse([...batch, ...this.#late()], lockTimeoutRefusal(error));
          return undefined;
        }
        const isLate = performance.now() > deadline;
        if (isLost(error) && isLate) {
          // A retry of each change alone takes half a second, so the last one would fail long after its deadline.
          this.#waiting.unshift(...batch);
          refuse([...this.#waiting.splice(0, 1), ...this.#late()], forCaller(error));
          return undefined;
        }
        const again = (isConflict(error) && attempt < maxAttempts) || (isLost(error) && !isLate);
        if (again) this.#counts.retries++;
        if (!again) return { error: forCaller(error) };
        await sleep(isLost(error) ? 100 : Math.random() * 10 * attempt);
      }
    }
  }

  /** Removes from the queue the changes that have waited about as long as the failed ones. They get the same error. */
  #late(): QueuedPostgresChange[] {
    const now = performance.now();
    const early = this.#waiting.findIndex(({ deadline }) => deadline > now + maxRetryMs / 2);
    return this.#waiting.splice(0, early === -1 ? Infinity : early);
  }

  async #attempt(batch: QueuedPostgresChange[], deadline: number): Promise<(() => void)[]> {
    const connection = await this.#connect(deadline);
    const isAlone = batch.length === 1;
    const begunBatch: Batch = {
      connection,
      shared: new SharedState(),
      unawaited: new UnawaitedStatements(),
      savepoint: isAlone || this.#carefulBatches === 0 ? '' : firstSavepoint,
      isAlone,
    };
    if (begunBatch.savepoint !== '') this.#carefulBatches--;
    // The server runs the queries of the changes behind the lock, so the first change need not wait for it.
    const locked = connection.script(`BEGIN; ${locking}`);
    await begunBatch.unawaited.add(locked);
    let begun = Infinity;
    locked.then(
      () => (begun = performance.now()),
      () => undefined,
    );
    const done: PerformedChange[] = [];
    const isLong = (): boolean => performance.now() - begun > maxBatchMs;
    for (const change of batch) {
      done.push(await this.#perform(change, begunBatch));
      if (isLong()) this.#waiting.unshift(...batch.splice(done.length));
    }
    this.#together = isLong() ? done.length : Math.min(2 * this.#together, maxBatchSize);
    if (done.some(({ isRefused }) => !isRefused)) {
      await finish(begunBatch);
      await this.#end(begunBatch, deadline);
    } else await connection.script('ROLLBACK');
    return done.map(({ answer }) => answer);
  }

  /**
   * Commits with a mark, which shows whether the commit was done if its confirmation is lost. If a statement of the transaction failed, the
   * server refuses the mark, and so does not reach the commit.
   */
  async #end({ connection, unawaited }: Batch, deadline: number): Promise<void> {
    const mark = ++this.#mark;
    try {
      await connection.script(`${marking(this.#writer, mark)}; COMMIT`);
    } catch (reported) {
      const error = unawaited.causeOf(reported);
      if (!isLost(error) || !(await this.#hasCommitted(mark, deadline))) throw error;
    }
  }

  /** Runs one change completely or not at all, and returns how to answer it later. Throws errors that end the whole transaction. */
  async #perform({ work, resolve, reject }: QueuedPostgresChange, batch: Batch): Promise<PerformedChange> {
    const { connection, shared, unawaited, savepoint, isAlone } = batch;
    let open = true;
    const state = shared.forChange();
    let ending: unknown;
    // Set by each statement that may have changed rows, or has failed.
    let mustUndo = false as boolean;
    // Even if `work` catches the error: the transaction has ended, so the change is not done.
    const failed = (error: unknown): void => {
      mustUndo = true;
      if (isConflict(error) || isLost(error) || hasLockTimedOut(error)) ending = error;
    };
    try {
      if (savepoint !== '') {
        batch.savepoint = nextSavepoint;
        await unawaited.add(connection.script(savepoint));
      }
      const result = await work(
        guardQueries(createQueries(connection, { failed, unawaited }), {
          isOpen: () => open && !connection.isLost,
          changes: () => (mustUndo = true),
        }),
        state,
      );
      if (ending === undefined) state.keep();
      if (ending === undefined) return { isRefused: false, answer: () => resolve(result) };
    } catch (error) {
      // The change may have turned the lost connection into its own error. It runs again when there is a connection.
      if (connection.isLost)
        ending ??= new ConnectionFailure('the connection was lost in the midst of a change', { cause: error });
      // A failed statement that was not waited for ends the transaction: it may be one of a change before.
      if (mustUndo) await unawaited.settle().catch((failure: unknown) => (ending ??= failure));
      // The transaction continues without this change.
      if (ending === undefined && mustUndo && savepoint !== '') await connection.script('ROLLBACK TO change');
      else if (mustUndo && !isAlone)
        ending ??= new NeedsSavepoints('a refused change must be undone', { cause: error });
      if (ending === undefined) return { isRefused: true, answer: () => reject(error) };
    } finally {
      open = false;
    }
    throw ending as Error;
  }

  /** Returns whether a commit with a lost confirmation was done. While this process holds the lock, that commit cannot still be running. */
  async #hasCommitted(mark: number, deadline: number): Promise<boolean> {
    this.#connection = undefined;
    for (;;) {
      try {
        const connection = await this.#connect(deadline);
        await connection.script(`BEGIN; ${locking}`);
        const [row] = (await connection.query<{ mark: number }>(markOf(this.#writer))).rows;
        await connection.script('ROLLBACK');
        return row !== undefined && row.mark >= mark;
      } catch (error) {
        await this.#giveUp();
        if (performance.now() > deadline) throw new UnknownOutcome('the answer to a commit was lost', { cause: error });
        await sleep(100);
      }
    }
  }

  async #connect(deadline: number): Promise<PostgresConnection> {
    if (this.#connection === undefined || this.#connection.isLost) {
      const opened = await this.#open(connectTimeoutUntil(deadline));
      try {
        await opened.script(preparing);
      } catch (error) {
        opened.destroy();
        throw error;
      }
      this.#connection = opened;
    }
    return this.#connection;
  }

  /** Rolls back a failed transaction. */
  async #giveUp(): Promise<void> {
    try {
      await this.#connection?.script('ROLLBACK');
    } catch {
      this.#connection?.destroy();
      this.#connection = undefined;
    }
  }
}
