// Group commit: waiting changes are committed together, so that many of them cost one sync (`npm run bench -- writes`), in the order of the
// calls. No caller is answered before the whole batch is on disk, not even with a refusal: the refusal may depend on an earlier change of
// the batch.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

import SQLite from 'better-sqlite3';

import { SharedState } from '../commit-state.ts';
import type { TransactionWork, Queries } from '../database.ts';
import { diskFull } from '#domain/disk-full.ts';
import { lockTimeoutRefusal } from '../lock-timeout.ts';
import { guardQueries } from '../guard-queries.ts';
import { carefulBatchCount, NeedsSavepoints } from '../savepoints.ts';
import { findLoss, isDiskFailure, isFull } from './disk-errors.ts';

/** Maximum size of a batch in changes, and in milliseconds: the first change waits until the whole batch is committed. */
const maxBatchSize = 64;
const maxBatchMs = 20;

/** Milliseconds to wait for another process that writes. */
const maxWaitMs = 5000;

interface GroupCommitOptions {
  /** Called after each commit. */
  committed(): void;
  /** Called after a change, or a batch, was rolled back. */
  rolledBack(): void;
  /** Called when the disk fails during a write, or the locks of this process are lost. From then on no change may be acknowledged. */
  fatal?: ((error: Error) => void) | undefined;
  /** Called when the disk is full. Returns true if there is room now, so that the change can run a second time. */
  makeRoom?: (() => Promise<boolean>) | undefined;
}

/** A waiting change and the promise of its caller. */
interface QueuedSqliteChange {
  work: TransactionWork<unknown>;
  deadline: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** The only user of the connection that writes. */
export class GroupCommit {
  readonly #writer: SQLite.Database;
  readonly #writing: Queries;
  readonly #options: GroupCommitOptions;
  readonly #begin: SQLite.Statement;
  readonly #savepoint: SQLite.Statement;
  readonly #release: SQLite.Statement;
  readonly #commit: SQLite.Statement;
  readonly #waiting: QueuedSqliteChange[] = [];
  #running: Promise<void> | undefined;
  /** How many of the next batches use savepoints. */
  #carefulBatches = 0;

  constructor(writer: SQLite.Database, writing: Queries, options: GroupCommitOptions) {
    this.#writer = writer;
    this.#writing = writing;
    this.#options = options;
    this.#begin = writer.prepare('BEGIN IMMEDIATE');
    this.#savepoint = writer.prepare('SAVEPOINT change');
    this.#release = writer.prepare('RELEASE change');
    this.#commit = writer.prepare('COMMIT');
  }

  /** Performs a change, together with others that wait. `work` may run a second time, after the first run was rolled back. */
  transaction<Result>(work: TransactionWork<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      // Set at the call: queued changes must not wait one after the other for the same other process.
      const deadline = performance.now() + maxWaitMs;
      this.#waiting.push({ work, deadline, resolve: (result) => resolve(result as Result), reject });
      this.#running ??= this.#run();
    });
  }

  /** Waits until no change is queued. */
  async settled(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Let all changes of the same turn of the event loop join the batch.
      await nextTurn();
      await this.#commitTogether();
    }
    this.#running = undefined;
  }

  async #commitTogether(): Promise<void> {
    const batch: QueuedSqliteChange[] = [];
    const answers: (() => void)[] = [];
    let culprit: QueuedSqliteChange | undefined;
    const shared = new SharedState();
    try {
      if (!(await this.#mayBegin())) return;
      const isCareful = this.#carefulBatches > 0;
      if (isCareful) this.#carefulBatches--;
      const end = performance.now() + maxBatchMs;
      do {
        culprit = this.#waiting.shift()!;
        batch.push(culprit);
        answers.push(await this.#perform(culprit, shared, isCareful));
        culprit = undefined;
      } while (this.#waiting.length > 0 && batch.length < maxBatchSize && performance.now() < end);
      await shared.finish(this.#writing);
      this.#commit.run();
    } catch (error) {
      if (error instanceof NeedsSavepoints && batch.length > 1) {
        this.#giveUp(error);
        this.#waiting.unshift(...batch);
        this.#carefulBatches = carefulBatchCount;
        return;
      }
      if (batch.length === 0) batch.push(this.#waiting.shift()!);
      await this.#doAlone(batch, this.#giveUp(error), batch.length === 1 ? batch[0] : culprit);
      return;
    }
    this.#options.committed();
    for (const answer of answers) answer();
  }

  /** Begins when no other process writes. All changes with a passed deadline fail together. */
  async #mayBegin(): Promise<boolean> {
    try {
      await begin(this.#begin, this.#waiting[0]!.deadline);
    } catch (error) {
      if (!(error instanceof SqliteLockTimeout)) throw error;
      const now = performance.now();
      const refusal = lockTimeoutRefusal(error.cause);
      while ((this.#waiting[0]?.deadline ?? Infinity) < now) this.#waiting.shift()!.reject(refusal);
      return false;
    }
    return true;
  }

  /** Runs one change completely or not at all, and returns how to answer it later. Throws errors that end the whole transaction. */
  async #perform(
    { work, resolve, reject }: QueuedSqliteChange,
    shared: SharedState,
    hasSavepoint: boolean,
  ): Promise<() => void> {
    let open = true;
    let mustUndo = false as boolean;
    const state = shared.forChange();
    if (hasSavepoint) this.#savepoint.run();
    try {
      const guarded = guardQueries(this.#writing, {
        isOpen: () => open && this.#writer.inTransaction,
        changes: () => (mustUndo = true),
      });
      const result = await work(guarded, state);
      open = false;
      if (hasSavepoint) this.#release.run();
      state.keep();
      return () => resolve(result);
    } catch (error) {
      open = false;
      // SQLite may have ended the transaction, and so undone the other changes in it.
      if (!this.#writer.inTransaction || isFull(error) || isDiskFailure(error)) throw error;
      if (hasSavepoint) this.#writer.exec('ROLLBACK TO change; RELEASE change');
      else if (mustUndo) throw new NeedsSavepoints('a refused change must be undone', { cause: error });
      if (mustUndo) this.#options.rolledBack();
      return () => reject(error);
    }
  }

  /**
   * Runs each change of a failed batch again, alone and only once, except the change that caused the failure. After a failure of the disk
   * no change runs again, because the system may forget the lost write and accept the next write as if nothing had happened.
   */
  async #doAlone(
    batch: readonly QueuedSqliteChange[],
    failure: unknown,
    culprit: QueuedSqliteChange | undefined,
  ): Promise<void> {
    let error = failure;
    const hasRoom = isFull(error) && (await this.#options.makeRoom?.()) === true;
    for (const change of batch) {
      // The culprit hears of its own failure, not of that of a change that ran alone before it.
      const ended = isDiskFailure(error) ? error : change === culprit && !hasRoom ? failure : undefined;
      if (ended !== undefined) {
        change.reject(inWords(ended));
        continue;
      }
      try {
        await begin(this.#begin, change.deadline);
        const shared = new SharedState();
        const answer = await this.#perform(change, shared, false);
        await shared.finish(this.#writing);
        this.#commit.run();
        this.#options.committed();
        answer();
      } catch (again) {
        error = this.#giveUp(again);
        change.reject(inWords(error));
      }
    }
  }

  /** Rolls back a failed transaction. Returns the error of the change that failed it. */
  #giveUp(reason: unknown): unknown {
    const error = reason instanceof NeedsSavepoints ? reason.cause : reason;
    if (this.#writer.inTransaction) this.#writer.exec('ROLLBACK');
    this.#options.rolledBack();
    const failure = findLoss(error, this.#writer) ?? (isDiskFailure(error) ? error : undefined);
    if (failure !== undefined) this.#options.fatal?.(failure);
    return error;
  }
}

const inWords = (error: unknown): unknown => (isFull(error) ? diskFull(error) : error);

/** Another process has held the lock of the database for too long. */
class SqliteLockTimeout extends Error {}

/** Begins a transaction when no other process has one, and tries at least once. */
async function begin(immediately: SQLite.Statement, deadline: number): Promise<void> {
  for (;;) {
    try {
      immediately.run();
      return;
    } catch (error) {
      const busy = error instanceof SQLite.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!busy) throw error;
      if (performance.now() > deadline) throw new SqliteLockTimeout('another process writes', { cause: error });
    }
    // SQLite has no queue between processes. A process that checks rarely gets no turn while another process always has a batch ready.
    await sleep(1);
  }
}
