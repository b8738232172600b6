// Stores the newest seal of the audit log in a file next to the database, so that write access to the database alone is not enough to cut
// the log.
import { join } from 'node:path';

import type { SealFile } from '#records/audit/audit-seals.ts';
import { replaceFile } from '#files/durable.ts';
import { readIfPresent } from '#files/read.ts';

/** The name of the file in a data directory. */
export const sealFileName = 'audit.seal';

/** Returns the seal file of a data directory. */
export function sealFileIn(directory: string): SealFile {
  const path = join(directory, sealFileName);
  const read = (): string | undefined => {
    try {
      return readIfPresent(path);
    } catch (error) {
      throw new Error(`cannot read ${path}`, { cause: error });
    }
  };
  let running: Promise<unknown> = Promise.resolve();
  return {
    path,
    read,
    update(change) {
      const update = running.then(async () => {
        const text = await change(read());
        if (text !== undefined) await replaceFile(path, text, 0o600);
      });
      running = update.catch(() => undefined);
      return update;
    },
  };
}
