// Content is removed by one process while another takes the same in, and what has been acknowledged must stay. S3 has no removal
// that depends on what is there, so the processes agree:
//
// - Whoever removes takes a lease on the content, then looks whether it is old, then removes it, then gives the lease back. The
//   removal ends by itself 30 seconds after the look, by the server's clock, before the lease does (see Bucket.remove). Where it
//   is not known whether it was done, the lease is left to end.
// - Whoever takes in sends the content, then waits until nobody has the lease, then looks whether it is there, and sends it again
//   if it is not. Only then it is acknowledged.
//
// If the lease was taken before the second of them looked for it, he waits until the removal is over, and then sees what is
// there. If it was taken afterwards, the content had been sent before, so that whoever has it finds the content new and lets it be.

export interface Removals {
  /**
   * Does the work while nobody else removes this content; nothing where somebody does. After an error it is not known what was
   * done, so that the others wait for some time.
   */
  alone<Result>(sha3_384: string, work: (certain: Certain) => Promise<Result>): Promise<{ result: Result } | undefined>;
  /** Resolves when nobody removes it. */
  none(sha3_384: string): Promise<void>;
}

/** Looks at what may be removed, and throws unless nobody else may do so for another 30 seconds. */
export type Certain = <Found>(look: () => Promise<Found>) => Promise<Found>;

/** Of a process that nobody is beside. */
export function ownRemovals(): Removals {
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
