// The thread that looks over the database: SQLite does it in one go, and nobody else shall wait for that.
import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';

import { inspectDatabase } from '#engine/sqlite/check.ts';
import { nativeBindingAt } from '#src/native.ts';

/** The database, and where this process has SQLite from. */
export interface DatabaseToCheck {
  file: string;
  native: string | undefined;
}

/** Lets every other thread go first: Linux keeps a priority for each, by its id (sched(7)). */
function yieldToOthers(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_LOW);
  } catch {
    // Where that is not allowed it takes its turn like the others.
  }
}

yieldToOthers();
const { file, native } = workerData as DatabaseToCheck;
parentPort?.postMessage(inspectDatabase(file, { nativeBinding: nativeBindingAt(native) }));
