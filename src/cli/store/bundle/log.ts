// Selects the last lines of the log for a support bundle: the fields of an allow list, and no free text.
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
} from './values.ts';

/** Maximum number of log lines in a bundle. */
export const maxLines = 1000;
const maxBytes = 1024 * 1024;

/** Returns the end of a log file. */
export function endOfLog(file: string): string {
  const handle = openSync(file, 'r');
  try {
    const { size } = fstatSync(handle);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    const read = readSync(handle, bytes, 0, bytes.length, Math.max(0, size - bytes.length));
    const text = bytes.toString('utf8', 0, read);
    // The first line may be incomplete.
    return size > maxBytes ? text.slice(text.indexOf('\n') + 1) : text;
  } finally {
    closeSync(handle);
  }
}

/** The log lines of a bundle; `found` is false if there is no log. */
export function linesForBundle(log: string | undefined): { found: boolean; otherLines: number; lines: unknown[] } {
  const lines = (log ?? '').split('\n').filter((line) => line.trim() !== '');
  const read = lines.slice(-maxLines).map(membersOf);
  const parsed = read.filter((line) => line !== undefined);
  return { found: log !== undefined, otherLines: read.length - parsed.length, lines: parsed };
}

/** The fields of a line that cannot contain names; undefined if the line is not JSON of this log. */
function membersOf(line: string): Record<string, unknown> | undefined {
  let fields: Record<string, unknown> | null;
  try {
    fields = JSON.parse(line) as Record<string, unknown> | null;
  } catch {
    return undefined;
  }
  if (typeof fields !== 'object' || fields === null) return undefined;
  return {
    time: momentOrNothing(fields['time']),
    level: oneOf(logLevels, fields['level']),
    operation: oneOf(operationNames, fields['operation']),
    method: oneOf(httpMethods, fields['method']),
    status: statusOrNothing(fields['status']),
    ms: numberOrNothing(fields['ms']),
    worker: numberOrNothing(fields['worker']),
    fault: oneOf(faultCodes, fields['fault']),
    job: oneOf(jobNames, fields['job']),
    refusal: oneOf(refusalCodes, fields['refusal']),
    error: errorCodeOf(fields['err']),
  };
}

/** The code of an error of the system or of a database. */
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
