// Writes a generated file so that another process reads the old text or the new one, never a part of it.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The text of a file; empty if the file does not exist. */
export function readIfPresent(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** Replaces the file; leaves it alone if it has this text. */
export function writeGenerated(file: string, text: string): void {
  if (readIfPresent(file) === text) return;
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.${String(process.pid)}`;
  try {
    writeFileSync(fresh, text);
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
}
