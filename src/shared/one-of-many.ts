// What one process of a store does for all of them for as long as it goes on, such as reading all that they keep together.
import { seconds } from '#domain/clock.ts';
import type { Leases } from './leases.ts';

export interface OneOfMany {
  /** Whether this process is the one. */
  isThis(): boolean;
  /** Leaves it to others. */
  end(): Promise<void>;
}

/** How often those who are not the one look whether it has ended. */
const every = seconds(15);

export function oneOfMany(leases: Leases, name: string): OneOfMany {
  const ended = Promise.withResolvers<void>();
  let isThis = false;
  const be = async (): Promise<void> => {
    isThis = true;
    await ended.promise;
  };
  const trying = { now: attempt(), timer: undefined as NodeJS.Timeout | undefined };

  async function attempt(): Promise<void> {
    // Where nobody can be asked who it is, it is asked again.
    const was = await leases.holding(name, be).catch(() => undefined);
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
