// Stores the newest seal of the audit log in a file next to the database, so that write access to the database alone is not enough to cut
// the log.
import { join } from 'node:path';

import { prepareFile } from '#files/durable.ts';
import { readIfPresent } from '#files/read.ts';

/** The name of the file in a data directory. */
export const sealFileName = 'audit.seal';

/** Returns the seal file of a data directory. Writes are atomic and durable. */
export function sealFileIn(directory: string): { path: string; read(): string | undefined; write(text: string): void } {
  const path = join(directory, sealFileName);
  return {
    path,
    read() {
      try {
        return readIfPresent(path);
      } catch (error) {
        throw new Error(`cannot read ${path}`, { cause: error });
      }
    },
    write(text) {
      prepareFile(path, text, 0o600).place();
    },
  };
}
