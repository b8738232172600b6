// The error for a change that waited too long for a change of another program.
import { engineUnavailable, type Refusal } from '#domain/refusal.ts';

const refusals = new WeakSet<Refusal>();

export function lockTimeoutRefusal(cause: unknown): Refusal {
  const refusal = engineUnavailable(
    cause,
    'Another process has held the records of the store for 5 seconds. Nothing was changed.',
  );
  refusals.add(refusal);
  return refusal;
}

/** Returns whether a change failed because another program holds the lock of the records. */
export const isLockTimeout = (error: unknown): boolean => refusals.has(error as Refusal);
