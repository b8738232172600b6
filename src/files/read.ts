// Reading what may not be there.
import { readdirSync, readFileSync } from 'node:fs';

/** The text of a file; nothing where there is none. */
export const readIfThere = (file: string): string | undefined => ifThere(() => readFileSync(file, 'utf8'));

/** The names in a folder; none where there is no folder. */
export const namesIn = (folder: string): string[] => ifThere(() => readdirSync(folder)) ?? [];

function ifThere<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
