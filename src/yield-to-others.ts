// A thread whose work can wait lets every other go first.
import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';

/** Called in the thread itself: Linux keeps a priority for each, by its id (sched(7)). */
export function yieldToOthers(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_LOW);
  } catch {
    // Where that is not allowed it takes its turn like the others.
  }
}
