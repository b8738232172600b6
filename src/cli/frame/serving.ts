// Whether a process serves a data directory, and what it says of itself.
import { readFileSync } from 'node:fs';
import { type ServingState } from '#appliance/state.ts';
import { DataDirectoryInUse, lockDirectory } from '#data/lock.ts';
import { stateFile } from '#data/state-file.ts';

/** What the serving process said last; nothing when the directory is not being served. */
export function servingState(data: string): ServingState | undefined {
  try {
    lockDirectory(data).close();
    return undefined;
  } catch (error) {
    if (!(error instanceof DataDirectoryInUse)) throw error;
  }
  try {
    return JSON.parse(readFileSync(stateFile(data), 'utf8')) as ServingState;
  } catch {
    // It begins or ends at this moment, or something else holds the directory.
    return undefined;
  }
}
