// Checks a database file in its own thread, because SQLite does it synchronously. A small one is checked in steps instead.
import { once } from 'node:events';
import { statSync } from 'node:fs';

import { inspectFileInSteps, type DatabaseVerdict, type SqliteFileOptions } from '#engine/sqlite/check.ts';
import type { StartWorker } from '#platform/embedded.ts';
import type { DatabaseToCheck } from './database-worker.ts';

/**
 * Up to this size a file is checked without a thread. The longest step, the check of the pages, takes 5 ms for 2 MB. The thread has a peak of
 * 9 MiB, and malloc keeps 4 MiB when it ends (`npm run bench -- memory`).
 */
const maxBytesWithoutThread = 4 * 1024 * 1024;

/** Returns the problems of a database that this process has open. */
export function inspectOpenFile(
  startWorker: StartWorker,
  toCheck: DatabaseToCheck,
  options: SqliteFileOptions = {},
): Promise<DatabaseVerdict> {
  return statSync(toCheck.file).size <= maxBytesWithoutThread
    ? inspectFileInSteps(toCheck.file, options)
    : inspectInThread(startWorker, toCheck);
}

/** Returns the problems of the file. `startWorker` starts `database-worker.ts`. */
export async function inspectInThread(startWorker: StartWorker, toCheck: DatabaseToCheck): Promise<DatabaseVerdict> {
  const worker = startWorker({
    name: 'database',
    execArgv: [],
    workerData: toCheck,
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  });
  worker.unref();
  const ended = once(worker, 'exit').then(([code]) => {
    throw new Error(`cannot check the database: the thread ended with ${String(code)}`);
  });
  ended.catch(() => undefined);
  const [verdict] = (await Promise.race([once(worker, 'message'), ended])) as [DatabaseVerdict];
  return verdict;
}
