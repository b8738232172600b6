// How much each client may ask for in a time: a vessel that leaks. What is asked for fills it; while it is full, whoever asks
// is told how long to wait.
import { seconds, type Now } from './clock.ts';

export interface Vessel {
  /** What leaks in a second, which is how much may be asked for in the long run. */
  perSecond: number;
  /** What it holds, which is how much may be asked for at once. */
  holds: number;
}

export interface Rates {
  /**
   * Asks for so much: nothing where there is room, else in how many whole seconds there will be. What is asked for last may
   * be more than there is room for, so that nothing is too large to be had at all.
   */
  ask(client: string, amount: number, vessel: Vessel): number | undefined;
  /** Takes back what was asked for and not used, or what should not count. */
  giveBack(client: string, amount: number): void;
}

interface Level {
  amount: number;
  at: number;
}

/** Clients are remembered up to a number; the one that asked longest ago is forgotten first. */
export function createRates(now: Now, remembered = 20_000): Rates {
  const levels = new Map<string, Level>();
  return {
    ask(client, amount, { perSecond, holds }) {
      const at = now().getTime();
      const before = levels.get(client) ?? { amount: 0, at };
      // A clock that is set back lets nothing leak, and fills nothing.
      const leaked = (Math.max(0, at - before.at) / seconds(1)) * perSecond;
      const level = { amount: Math.max(0, before.amount - leaked), at };
      const isFull = level.amount > holds - 1;
      if (!isFull) level.amount += amount;
      levels.delete(client);
      levels.set(client, level);
      const [oldest] = levels.size > remembered ? levels.keys() : [];
      if (oldest !== undefined) levels.delete(oldest);
      return isFull ? Math.max(1, Math.ceil((level.amount - holds + 1) / perSecond)) : undefined;
    },

    giveBack(client, amount) {
      const level = levels.get(client);
      if (level !== undefined) level.amount = Math.max(0, level.amount - amount);
    },
  };
}
