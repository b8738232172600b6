// Reads how many files and connections the system lets this process have open at the same time.
import { readFileSync } from 'node:fs';

/** The limit that the kernel enforces now; the default of most systems if it cannot be read. */
export function openFilesLimit(read = () => readFileSync('/proc/self/limits', 'utf8')): number {
  try {
    const limit = /^Max open files +(\d+|unlimited)/m.exec(read())?.[1];
    return limit === 'unlimited' ? 1024 * 1024 : Number(limit ?? usual);
  } catch {
    return usual;
  }
}

const usual = 1024;
