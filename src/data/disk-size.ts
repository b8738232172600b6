// Checks whether a disk is large enough for the configured reserve.
import type { FactsOf } from '#platform/faults.ts';

/** Returns the facts of the fault if a disk is not larger than the reserve; both in bytes. */
export const findReserveFault = (size: number, reserve: number): FactsOf<'reserve-too-large'> | undefined =>
  size > reserve ? undefined : { size, reserve };
