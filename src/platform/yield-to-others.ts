// Lowers the priority of a thread for work that can wait.
import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';

/** Call it in the thread itself: Linux has a priority per thread id (sched(7)). */
export function yieldToOthers(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_LOW);
  } catch {
    // If that is not allowed, the thread keeps its priority.
  }
}
