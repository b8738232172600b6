// Keeps uploads from filling the disk: what running uploads were promised counts as used before it is written.
import { statfsSync } from 'node:fs';
import { Refusal } from '#domain/refusal.ts';

/** The space one upload was promised. */
export interface SpaceClaim {
  /** `size` bytes have been written. Refuses when the disk became too full to go on. */
  wrote(size: number): void;
  release(): void;
}

export interface Space {
  /** Promises `expected` bytes, or refuses. Without an announcement the promise grows with what is written. */
  claim(expected: number | undefined): SpaceClaim;
  free(): number;
}

/** How often a running upload looks at the disk again, in bytes. */
const stride = 64 * 1024 * 1024;
/** Seconds after which trying again makes sense: an administrator has to make room first. */
const retryAfter = 300;

export function diskFull(): Refusal {
  return new Refusal(
    'insufficient-storage',
    'The store has not enough free space for this; try again later.',
    retryAfter,
  );
}

/** Bytes that an unprivileged process may still write on the file system of `directory`. */
export function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Bytes of the whole file system of `directory`. */
export function diskBytes(directory: string): number {
  const { blocks, bsize } = statfsSync(directory);
  return blocks * bsize;
}

/**
 * Never lets the sum of what was promised come below `reserve` bytes from the end of the disk. `freeOnDisk` answers at
 * once: between looking and promising nothing else may run. A write that is under way counts twice for a moment, as
 * used and as promised, which errs on the safe side.
 */
export function space(reserve: number, freeOnDisk: () => number): Space {
  const claims = new Set<{ promised: number; written: number }>();

  function free(): number {
    let owed = 0;
    for (const claim of claims) owed += Math.max(0, claim.promised - claim.written);
    return freeOnDisk() - owed - reserve;
  }

  return {
    free,

    claim(expected) {
      const claim = { promised: expected ?? 0, written: 0 };
      if (free() < claim.promised) throw diskFull();
      claims.add(claim);
      let lookAgainAt = 0;

      return {
        wrote(size) {
          claim.written = size;
          if (size < lookAgainAt) return;
          lookAgainAt = size + stride;
          if (expected === undefined) claim.promised = lookAgainAt;
          if (free() < 0) throw diskFull();
        },
        release() {
          claims.delete(claim);
        },
      };
    },
  };
}
