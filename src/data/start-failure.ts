// Records why the last start of a server failed, in the data directory for 'larder doctor', until a start succeeds.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface StartFailure {
  /** RFC 3339. */
  at: string;
  because: string;
  /** How to remove the cause, in whole sentences, if known. */
  remedy?: string;
}

const fileIn = (directory: string): string => join(directory, 'start-failure.json');

/** Records why the start failed. On a full disk the reason is only in the log. */
export function keepStartFailure(directory: string, failure: StartFailure): void {
  // A folder without a store stays unchanged, so that a store can be made there.
  if (!existsSync(join(directory, 'larder.toml'))) return;
  try {
    writeFileSync(fileIn(directory), JSON.stringify(failure), { mode: 0o600 });
  } catch {
    // The caller has the error itself.
  }
}

/** Returns the failure, if no start has succeeded since. */
export function readStartFailure(directory: string): StartFailure | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(directory), 'utf8')) as StartFailure;
  } catch {
    return undefined;
  }
}

/** Removes the failure after a successful start. */
export const forgetStartFailure = (directory: string): void => rmSync(fileIn(directory), { force: true });
