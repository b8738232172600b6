// Core dumps: a process that crashes must not leave its keys in a file.
import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Keeps the memory of this process, and of what it starts, out of any core dump, whatever limits it was started with.
 * Where the system does not know how, nothing happens, and doctor says so.
 */
export function leaveMemoryOut(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // There is no such file but on Linux, and a sandbox may forbid to write it.
  }
}

/** Whether a crash could leave a process's memory in a file; undefined where the system does not tell. */
export function leavesMemory(pid: number | 'self'): boolean | undefined {
  try {
    const filter = parseInt(readFileSync(`/proc/${String(pid)}/coredump_filter`, 'latin1'), 16);
    const limit = /^Max core file size +(\S+)/m.exec(readFileSync(`/proc/${String(pid)}/limits`, 'latin1'))?.[1];
    // The fifth bit stands for the headers of programs, which hold nothing of ours.
    return (filter & ~0x10) !== 0 && limit !== '0';
  } catch {
    return undefined;
  }
}
