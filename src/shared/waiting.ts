// Waiting for what this process or another one does: told at once of what is done here, and looking again a few times a
// second for what is done elsewhere.

export interface Waiting {
  /** What `find` gives, as soon as it gives anything; nothing when the patience, the signal or the store has ended first. */
  until<Found>(
    key: string,
    find: () => Promise<Found | undefined>,
    options?: { patience?: number; signal?: AbortSignal },
  ): Promise<Found | undefined>;
  /** Says that something has changed about this. */
  tell(key: string): void;
  /** Sends everybody away who waits. */
  close(): void;
}

/** Milliseconds between two looks at what others may have done; a look is one row by its key. */
const every = 250;

export function createWaiting(pause = every): Waiting {
  const waiting = new Map<string, Set<() => void>>();
  let closed = false;

  /** Listens from now on; `next` resolves when somebody tells, or after so many milliseconds. */
  function listen(key: string, signal: AbortSignal | undefined) {
    const woken = Promise.withResolvers<undefined>();
    const wake = (): void => {
      woken.resolve(undefined);
    };
    const others = waiting.get(key) ?? new Set();
    waiting.set(key, others.add(wake));
    signal?.addEventListener('abort', wake);
    return {
      async next(milliseconds: number): Promise<void> {
        const timer = setTimeout(wake, milliseconds);
        await woken.promise;
        clearTimeout(timer);
      },
      leave(): void {
        signal?.removeEventListener('abort', wake);
        others.delete(wake);
        if (others.size === 0) waiting.delete(key);
      },
    };
  }

  return {
    async until(key, find, { patience = Infinity, signal } = {}) {
      const deadline = performance.now() + patience;
      for (;;) {
        // Heard from before the look: what is told of during it is not missed.
        const listening = listen(key, signal);
        try {
          const found = await find();
          const left = deadline - performance.now();
          if (found !== undefined || closed || signal?.aborted === true || left <= 0) return found;
          await listening.next(Math.min(pause, left));
        } finally {
          listening.leave();
        }
      }
    },

    tell(key) {
      for (const wake of waiting.get(key) ?? []) wake();
    },

    close() {
      closed = true;
      for (const others of waiting.values()) for (const wake of others) wake();
    },
  };
}
