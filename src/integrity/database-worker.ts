// The worker thread that checks the database: SQLite does it synchronously, which would block the main thread.
import { parentPort, workerData } from 'node:worker_threads';

import { inspectFile } from '#engine/sqlite/check.ts';
import { nativeBindingAt } from '#platform/native.ts';
import { yieldToOthers } from '#platform/yield-to-others.ts';

/** The database file, and the path of the native module of SQLite. */
export interface DatabaseToCheck {
  file: string;
  native: string | undefined;
}

yieldToOthers();
const { file, native } = workerData as DatabaseToCheck;
parentPort?.postMessage(inspectFile(file, { nativeBinding: nativeBindingAt(native) }));
