// The thread that looks over the database: SQLite does it in one go, and nobody else shall wait for that.
import { parentPort, workerData } from 'node:worker_threads';

import { inspectFile } from '#engine/sqlite/check.ts';
import { nativeBindingAt } from '#src/native.ts';
import { yieldToOthers } from '#src/yield-to-others.ts';

/** The database, and where this process has SQLite from. */
export interface DatabaseToCheck {
  file: string;
  native: string | undefined;
}

yieldToOthers();
const { file, native } = workerData as DatabaseToCheck;
parentPort?.postMessage(inspectFile(file, { nativeBinding: nativeBindingAt(native) }));
