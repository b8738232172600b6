// The thread that looks over the database: SQLite does it in one go, and nobody else shall wait for that.
import { parentPort, workerData } from 'node:worker_threads';

import { checkDatabase } from '#records/check.ts';
import { nativeBindingAt } from '#src/native.ts';

/** The database, and where this process has SQLite from. */
export interface DatabaseToCheck {
  file: string;
  native: string | undefined;
}

const { file, native } = workerData as DatabaseToCheck;
parentPort?.postMessage(checkDatabase(file, { nativeBinding: nativeBindingAt(native) }));
