// What another registry tells of: images that were pushed. Its word comes a moment after the push, so whoever asks for an
// image may have to wait for it.

export interface News {
  /** Says that this is there now. */
  tell(what: string): void;
  /** Resolves when it is told of, or when so many milliseconds have gone by. */
  wait(what: string, patience: number): Promise<void>;
}

/** Beyond this, nobody is made to wait. */
const waitingAtOnce = 256;

export function createNews(): News {
  const waiting = new Map<string, Set<() => void>>();
  let count = 0;

  return {
    tell(what) {
      for (const wake of waiting.get(what) ?? []) wake();
    },

    async wait(what, patience) {
      if (count >= waitingAtOnce) return;
      const told = Promise.withResolvers<void>();
      const others = waiting.get(what) ?? new Set();
      waiting.set(what, others.add(told.resolve));
      count++;
      const clock = setTimeout(told.resolve, patience);
      await told.promise;
      clearTimeout(clock);
      count--;
      others.delete(told.resolve);
      if (others.size === 0) waiting.delete(what);
    },
  };
}
