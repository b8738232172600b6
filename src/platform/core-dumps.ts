// Keeps keys out of core dumps: a process that crashes must not leave them in a file.
import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Excludes the memory of this process and of its child processes from core dumps, even if the limits of the process permit core dumps. Does
 * nothing if the system does not support it; doctor reports that.
 */
export function excludeMemory(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // Only Linux has the file, and a sandbox may forbid writing it.
  }
}

/** Whether a crash could write the memory of a process to a file; undefined if the system does not tell. */
export function leavesMemory(pid: number | 'self'): boolean | undefined {
  try {
    const filter = parseInt(readFileSync(`/proc/${String(pid)}/coredump_filter`, 'latin1'), 16);
    const limit = /^Max core file size +(\S+)/m.exec(readFileSync(`/proc/${String(pid)}/limits`, 'latin1'))?.[1];
    // The fifth bit selects ELF headers, which contain no data of ours.
    return (filter & ~0x10) !== 0 && limit !== '0';
  } catch {
    return undefined;
  }
}
