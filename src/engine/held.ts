// The error for a change that waited too long for a change of another program.
import { away, type Refusal } from '#domain/refusal.ts';

const refusals = new WeakSet<Refusal>();

export function heldTooLong(cause: unknown): Refusal {
  const refusal = away(cause, 'Another process has held the records of the store for 5 seconds. Nothing was changed.');
  refusals.add(refusal);
  return refusal;
}

/** Returns whether a change failed because another program holds the lock of the records. */
export const isHeldTooLong = (error: unknown): boolean => refusals.has(error as Refusal);
