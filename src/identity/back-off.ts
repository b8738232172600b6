// Back-off: whoever guesses passwords waits longer and longer. Nobody is locked out for good, and a stranger's guesses
// do not keep somebody out who logs in from where he has logged in before.
import { createHash } from 'node:crypto';

import { minutes, seconds, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';

export interface BackOff {
  /**
   * Refuses an attempt that comes too early. `changedAt` is when the account's password was last set:
   * what went wrong before that is forgotten.
   */
  check(attempt: Attempt, changedAt?: string): void;
  /** Counts a failure; what is put off from now on, and was not before. */
  failed(attempt: Attempt): ('name' | 'address')[];
  succeeded(attempt: Attempt): void;
}

interface Attempt {
  /** The name that was given, whether it is anybody's or not. */
  name: string;
  address: string;
}

interface Failures {
  count: number;
  first: number;
  last: number;
}

const period = minutes(15);
const freeForName = 10;
const freeForAddress = 100;
const longestWait = minutes(15);
/** How many names and addresses are remembered; those that failed longest ago are forgotten first. */
const remembered = 20_000;

export function createBackOff(now: Now): BackOff {
  const failures = new Map<string, Failures>();
  const familiar = new Set<string>();

  const recent = (key: string): Failures | undefined => {
    const found = failures.get(key);
    return found !== undefined && now().getTime() < found.last + period ? found : undefined;
  };

  const add = (key: string): number => {
    const moment = now().getTime();
    const before = recent(key);
    failures.delete(key);
    if (failures.size >= remembered) failures.delete(failures.keys().next().value as string);
    const count = (before?.count ?? 0) + 1;
    failures.set(key, { count, first: before?.first ?? moment, last: moment });
    return count;
  };

  /** From a familiar place a name is counted by itself. */
  const nameKey = ({ name, address }: Attempt): string => {
    const pair = keyOf('familiar', name, address);
    return familiar.has(pair) ? pair : keyOf('name', name);
  };

  const refuseUntil = (moment: number): void => {
    const wait = moment - now().getTime();
    if (wait <= 0) return;
    const text =
      wait > minutes(1)
        ? `${Math.ceil(wait / minutes(1))} minutes`
        : wait > seconds(1)
          ? `${Math.ceil(wait / seconds(1))} seconds`
          : 'a second';
    throw new Refusal(
      'too-many-requests',
      `Too many failed logins; try again in ${text}.`,
      Math.ceil(wait / seconds(1)),
    );
  };

  return {
    check(attempt, changedAt) {
      const byAddress = recent(keyOf('address', attempt.address));
      if (byAddress !== undefined && byAddress.count >= freeForAddress) refuseUntil(byAddress.last + period);
      const key = nameKey(attempt);
      const byName = recent(key);
      if (byName === undefined || byName.count < freeForName) return;
      if (changedAt !== undefined && Date.parse(changedAt) > byName.last) failures.delete(key);
      else refuseUntil(byName.last + Math.min(seconds(2 ** (byName.count - freeForName)), longestWait));
    },

    failed(attempt) {
      const [byAddress, byName] = [add(keyOf('address', attempt.address)), add(nameKey(attempt))];
      return [
        ...(byName === freeForName ? (['name'] as const) : []),
        ...(byAddress === freeForAddress ? (['address'] as const) : []),
      ];
    },

    succeeded(attempt) {
      failures.delete(nameKey(attempt));
      const pair = keyOf('familiar', attempt.name, attempt.address);
      familiar.delete(pair);
      if (familiar.size >= remembered) familiar.delete(familiar.values().next().value as string);
      familiar.add(pair);
    },
  };
}

/** Of one length, however long the name is. */
const keyOf = (kind: string, ...parts: string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, ...parts.map((part) => part.trim().toLowerCase())]))
    .digest('base64url');
