// Why the last attempt to serve a data directory ended: kept in the directory for 'larder doctor', until it is served again.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface StartFailure {
  /** RFC 3339. */
  at: string;
  because: string;
  /** How to remove the cause, in whole sentences, if that is known. */
  remedy?: string;
}

const fileIn = (directory: string): string => join(directory, 'start-failure.json');

/** Keeps why it could not be served; on a full disk that stays in the log alone. */
export function keepStartFailure(directory: string, failure: StartFailure): void {
  // A folder without a store stays as it is, so that one can be made there.
  if (!existsSync(join(directory, 'larder.toml'))) return;
  try {
    writeFileSync(fileIn(directory), JSON.stringify(failure), { mode: 0o600 });
  } catch {
    // The caller has the error itself.
  }
}

/** The failure, if the directory was not served since. */
export function readStartFailure(directory: string): StartFailure | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(directory), 'utf8')) as StartFailure;
  } catch {
    return undefined;
  }
}

/** Forgets it, because the directory is served. */
export const forgetStartFailure = (directory: string): void => rmSync(fileIn(directory), { force: true });
