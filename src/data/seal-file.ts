// The newest seal of the audit log, in a file beside the database: whoever can write the database alone cannot cut the log.
import { join } from 'node:path';

import { prepareFile } from '#files/durable.ts';
import { readIfThere } from '#files/read.ts';

/** The name of the file in a data directory. */
export const sealFileName = 'audit.seal';

/** The file of a data directory: small texts, put in their place durably and all at once. */
export function sealFileIn(directory: string): { path: string; read(): string | undefined; write(text: string): void } {
  const path = join(directory, sealFileName);
  return {
    path,
    read() {
      try {
        return readIfThere(path);
      } catch (error) {
        throw new Error(`cannot read ${path}`, { cause: error });
      }
    },
    write(text) {
      prepareFile(path, text, 0o600).place();
    },
  };
}
