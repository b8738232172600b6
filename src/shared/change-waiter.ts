// Waits for changes by this process or another one. Changes by this process wake the waiter at once; for those of other
// processes it checks a few times per second.

export interface ChangeWaiter {
  /** Calls `find` now and after changes, until it returns a result. Resolves to undefined at the timeout, the signal or `close`. */
  until<Found>(
    key: string,
    find: () => Promise<Found | undefined>,
    options?: { timeoutMs?: number; signal?: AbortSignal },
  ): Promise<Found | undefined>;
  /** Signals a change of a key. */
  tell(key: string): void;
  /** Ends all waiting calls. */
  close(): void;
}

/** Default of `pause`: milliseconds between checks for changes by other processes. A check reads one row by its key. */
const every = 250;

export function createChangeWaiter(pause = every): ChangeWaiter {
  const waiting = new Map<string, Set<() => void>>();
  let closed = false;

  /** Listens from now on. `next` resolves at a signal, or after the given milliseconds. */
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
    async until(key, find, { timeoutMs = Infinity, signal } = {}) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        // Listen before the check, so that a change during it is not missed.
        const listening = listen(key, signal);
        try {
          const result = await find();
          const left = deadline - performance.now();
          if (result !== undefined || closed || signal?.aborted === true || left <= 0) return result;
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
