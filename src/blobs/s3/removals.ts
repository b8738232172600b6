// One process may remove content while another receives the same content, and acknowledged content must stay. S3 has no
// conditional removal, so the processes coordinate:
//
// - The removing process takes a lease on the content, checks that it is old, removes it, and releases the lease. The
//   removal expires 30 seconds after the check, by the server's clock, before the lease does (see Bucket.remove). If the
//   result is unknown, the lease is left to expire.
// - The receiving process sends the content, waits until no process has the lease, checks that the content exists, and
//   sends it again if it does not. Only then it acknowledges.
//
// If the lease was taken before the receiving process checked for it, that process waits until the removal is over and
// then sees the result. If it was taken afterwards, the content had already been sent, so the removing process finds it
// new and keeps it.

export interface Removals {
  /**
   * Runs `work` while no other process removes this content; undefined if another one does. After an error the result
   * is unknown, so other processes wait until the lease expires.
   */
  alone<Result>(
    sha3_384: string,
    work: (certain: LeasedInspection) => Promise<Result>,
  ): Promise<{ result: Result } | undefined>;
  /** Resolves when no process is removing it. */
  none(sha3_384: string): Promise<void>;
}

/** Inspects the content to remove; throws unless the lease is valid for another 30 seconds. */
export type LeasedInspection = <Found>(look: () => Promise<Found>) => Promise<Found>;

/** For a process that is the only one of the store. */
export function createLocalRemovals(): Removals {
  const running = new Map<string, Promise<unknown>>();
  return {
    async alone(sha3_384, work) {
      if (running.has(sha3_384)) return undefined;
      const done = work((look) => look());
      running.set(sha3_384, done);
      try {
        return { result: await done };
      } finally {
        running.delete(sha3_384);
      }
    },
    async none(sha3_384) {
      await running.get(sha3_384)?.catch(() => undefined);
    },
  };
}
