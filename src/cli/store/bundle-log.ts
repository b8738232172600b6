// The last lines of the log as a support bundle shows them: of each line the members of an allow list, and no text.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

import {
  faultCodes,
  httpMethods,
  jobNames,
  logLevels,
  momentOrNothing,
  numberOrNothing,
  oneOf,
  operationNames,
  refusalCodes,
} from './bundle-values.ts';

/** How many lines of a log a bundle holds at most. */
export const maxLines = 1000;
const maxBytes = 1024 * 1024;

/** The end of a file that a log is written to. */
export function endOfLog(file: string): string {
  const handle = openSync(file, 'r');
  try {
    const { size } = fstatSync(handle);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    const read = readSync(handle, bytes, 0, bytes.length, Math.max(0, size - bytes.length));
    const text = bytes.toString('utf8', 0, read);
    // The first line may be the end of a longer one.
    return size > maxBytes ? text.slice(text.indexOf('\n') + 1) : text;
  } finally {
    closeSync(handle);
  }
}

/** What a bundle holds of a log; undefined if there is none. */
export function linesForBundle(log: string | undefined): { found: boolean; otherLines: number; lines: unknown[] } {
  const lines = (log ?? '').split('\n').filter((line) => line.trim() !== '');
  const read = lines.slice(-maxLines).map(membersOf);
  const known = read.filter((line) => line !== undefined);
  return { found: log !== undefined, otherLines: read.length - known.length, lines: known };
}

/** The members of a line that can hold no name; undefined for a line that is not one of the log in JSON. */
function membersOf(line: string): Record<string, unknown> | undefined {
  let said: Record<string, unknown> | null;
  try {
    said = JSON.parse(line) as Record<string, unknown> | null;
  } catch {
    return undefined;
  }
  if (typeof said !== 'object' || said === null) return undefined;
  return {
    time: momentOrNothing(said['time']),
    level: oneOf(logLevels, said['level']),
    operation: oneOf(operationNames, said['operation']),
    method: oneOf(httpMethods, said['method']),
    status: statusOrNothing(said['status']),
    ms: numberOrNothing(said['ms']),
    worker: numberOrNothing(said['worker']),
    fault: oneOf(faultCodes, said['fault']),
    job: oneOf(jobNames, said['job']),
    refusal: oneOf(refusalCodes, said['refusal']),
    error: errorCodeOf(said['err']),
  };
}

/** The code that the system or a database gives an error. */
function errorCodeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? oneOf(systemCodes, code) : undefined;
}

const systemCodes: ReadonlySet<string> = new Set([
  'EACCES',
  'EADDRINUSE',
  'EADDRNOTAVAIL',
  'ECONNREFUSED',
  'ECONNRESET',
  'EDQUOT',
  'EEXIST',
  'EHOSTUNREACH',
  'EIO',
  'EMFILE',
  'ENETUNREACH',
  'ENOENT',
  'ENOSPC',
  'ENOTFOUND',
  'EPERM',
  'EPIPE',
  'EROFS',
  'ETIMEDOUT',
  'SQLITE_BUSY',
  'SQLITE_CORRUPT',
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_NOTADB',
]);

const statusOrNothing = (value: unknown): number | undefined => {
  const status = numberOrNothing(value);
  return status !== undefined && Number.isInteger(status) && status >= 100 && status <= 599 ? status : undefined;
};
