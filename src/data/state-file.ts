// Where the serving process says how it goes, for commands on the host; good only while the directory is held.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const name = 'serving.json';

/** The file in a data directory. */
export const stateFile = (directory: string): string => join(directory, name);

/** Says how it goes. */
export function writeState(directory: string, state: object): void {
  const file = stateFile(directory);
  try {
    writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // On a full disk the store serves on; what it says of itself is then old.
  }
}

/** Says nothing any more. */
export const removeState = (directory: string): void => {
  rmSync(stateFile(directory), { force: true });
};
