// Errors for changes and files that do not fit on a disk.
import { formatBytes } from './byte-size.ts';
import { withCause, Refusal } from './refusal.ts';

/** Seconds after which a retry makes sense: an administrator has to free space first. */
const retryAfter = 300;

const full = (message: string): Refusal => new Refusal('insufficient-storage', message, retryAfter);

/** The error for a change that failed because the disk is full. */
export const diskFull = (cause: unknown, disk = 'The disk of the store'): Refusal =>
  withCause(
    cause,
    full(
      `${disk} is full, so nothing was changed. Ask the administrator of the store to free space, and try again later.`,
    ),
  );

/** Whether an error, or one of its causes, says that a disk or a quota is full. */
export function isDiskFull(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && /^(?:SQLITE_FULL|ENOSPC|EDQUOT|insufficient-storage)$/.test(String(cause.code))) return true;
  }
  return false;
}

/** The size of a file, and the free bytes above the reserve that are not reserved for another file; both in bytes. */
export interface SpaceNeeded {
  readonly needed: number;
  readonly free: number;
}

/** The error for a file that is refused or aborted for lack of space. */
export function notEnoughSpace(space?: SpaceNeeded): Refusal {
  const numbers =
    space === undefined
      ? ''
      : `: it needs ${formatBytes(space.needed)}, and ${formatBytes(Math.max(0, space.free))} are free for uploads (uploads.reserve is kept free)`;
  return full(
    `The store has not enough free space for this${numbers}. Ask its administrator to free space, or try again later.`,
  );
}
