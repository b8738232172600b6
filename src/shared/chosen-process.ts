// Lets one process of a store do work for all of them until it ends, such as reading the records that they share.
import { seconds } from '#domain/clock.ts';
import type { Leases } from './leases.ts';

export interface ChosenProcess {
  /** Whether this process is the chosen one. */
  isThis(): boolean;
  /** Releases the role. */
  end(): Promise<void>;
}

/** How often the other processes check whether the chosen one has ended. */
const every = seconds(15);

export function chooseProcess(leases: Leases, name: string): ChosenProcess {
  const ended = Promise.withResolvers<void>();
  let isThis = false;
  const be = async (): Promise<void> => {
    isThis = true;
    await ended.promise;
  };
  const trying = { now: attempt(), timer: undefined as NodeJS.Timeout | undefined };

  async function attempt(): Promise<void> {
    // If the records are unavailable, try again later.
    const was = await leases.withLease(name, be).catch(() => undefined);
    if (was === undefined) trying.timer = setTimeout(() => void (trying.now = attempt()), every).unref();
  }

  return {
    isThis: () => isThis,
    async end() {
      ended.resolve();
      clearTimeout(trying.timer);
      await trying.now;
      clearTimeout(trying.timer);
      isThis = false;
    },
  };
}
