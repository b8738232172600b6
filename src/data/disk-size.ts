// Whether a disk is large enough for what is to be kept free on it.
import type { FactsOf } from '#src/faults.ts';

/** That a disk is smaller than what is to be kept free on it; both in bytes. */
export const tooSmall = (size: number, reserve: number): FactsOf<'reserve-too-large'> | undefined =>
  size > reserve ? undefined : { size, reserve };
