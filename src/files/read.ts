// Reads files and folders that may be missing.
import { readdirSync, readFileSync } from 'node:fs';

/** The text of a file; undefined if it does not exist. */
export const readIfPresent = (file: string): string | undefined => ifThere(() => readFileSync(file, 'utf8'));

/** The names in a folder; empty if it does not exist. */
export const listNames = (folder: string): string[] => ifThere(() => readdirSync(folder)) ?? [];

function ifThere<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
