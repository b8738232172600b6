// Per-client rate limit (leaky bucket). Requests fill the bucket; while it is full, the client is told how long to
// wait.
import { BoundedMap } from './bounded-map.ts';
import { seconds, type Now } from './clock.ts';

export interface TokenBucket {
  /** The drain per second, which is the sustained rate. */
  perSecond: number;
  /** The capacity, which is the burst size. */
  holds: number;
}

export interface RateLimiter {
  /**
   * Requests an amount. Returns undefined if it is granted, else the number of whole seconds to wait. The last granted
   * amount may exceed the remaining capacity, so that no amount is too large to be granted.
   */
  take(client: string, amount: number, vessel: TokenBucket): number | undefined;
  /** Returns an amount that was not used or should not count. */
  refund(client: string, amount: number): void;
}

interface BucketLevel {
  amount: number;
  at: number;
}

/** `remembered` is the maximum number of clients; the least recent one is dropped first. */
export function createRateLimiter(now: Now, remembered = 20_000): RateLimiter {
  const levels = new BoundedMap<string, BucketLevel>(remembered);
  return {
    take(client, amount, { perSecond, holds }) {
      const at = now().getTime();
      const before = levels.get(client) ?? { amount: 0, at };
      // If the clock is set back, the bucket neither drains nor fills.
      const leaked = (Math.max(0, at - before.at) / seconds(1)) * perSecond;
      const level = { amount: Math.max(0, before.amount - leaked), at };
      const isFull = level.amount > holds - 1;
      if (!isFull) level.amount += amount;
      levels.set(client, level);
      return isFull ? Math.max(1, Math.ceil((level.amount - holds + 1) / perSecond)) : undefined;
    },

    refund(client, amount) {
      const level = levels.get(client);
      if (level !== undefined) level.amount = Math.max(0, level.amount - amount);
    },
  };
}
