// The file with the state of the serving process, for commands on the host. It is valid only while a process holds the lock of the
// directory.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const name = 'serving.json';

/** Returns the state file of a data directory. */
export const stateFile = (directory: string): string => join(directory, name);

/** Writes the state. */
export function writeState(directory: string, state: object): void {
  const file = stateFile(directory);
  try {
    writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // On a full disk the store keeps serving; the state file is then out of date.
  }
}

/** Removes the state. */
export const removeState = (directory: string): void => {
  rmSync(stateFile(directory), { force: true });
};
