// Checks a database file in its own thread, because SQLite does it synchronously.
import { once } from 'node:events';

import type { DatabaseVerdict } from '#engine/sqlite/check.ts';
import type { StartWorker } from '#platform/embedded.ts';
import type { DatabaseToCheck } from './database-worker.ts';

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
