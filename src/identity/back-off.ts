// Back-off: whoever guesses passwords waits longer and longer. Nobody is locked out for good, and a stranger's guesses
// do not keep somebody out who logs in from where he has logged in before.
import { createHash } from 'node:crypto';

import { clientOf } from '#domain/client.ts';
import { minutes, seconds, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { countFailures } from './failures.ts';

export interface BackOff {
  /**
   * Refuses an attempt that comes too early. `changedAt` is when the account's password was last set:
   * what went wrong before that is forgotten.
   */
  check(attempt: Attempt, changedAt?: string): void;
  /** Counts a failure; what is put off from now on, and was not before. */
  failed(attempt: Attempt): ('name' | 'address')[];
  succeeded(attempt: Attempt): void;
  /** Whether somebody has logged in as this one from there before. */
  isFamiliar(attempt: Attempt): boolean;
}

export interface Attempt {
  /** The account that is meant, so that all its names have one count; the name that was given where that is nobody's. */
  who: { accountId: string } | { name: string };
  address: string;
}

const period = minutes(15);
const freeForName = 10;
const freeForAddress = 100;
const longestWait = minutes(15);
/** How many places are remembered that somebody has logged in from; the one that was used longest ago is forgotten first. */
const remembered = 20_000;

export function createBackOff(now: Now): BackOff {
  const failures = countFailures({ now, period });
  const familiar = new Set<string>();

  const isFamiliar = (attempt: Attempt): boolean => familiar.has(pairKey(attempt));

  /** From a familiar place somebody is counted by himself. */
  const nameKey = (attempt: Attempt): string =>
    isFamiliar(attempt) ? pairKey(attempt) : keyOf('name', whoIn(attempt));

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
      // Behind one address there may be many people: those who are known there do not pay for the others.
      const byAddress = isFamiliar(attempt) ? undefined : failures.recent(addressKey(attempt));
      if (byAddress !== undefined && byAddress.count >= freeForAddress) refuseUntil(byAddress.last + period);
      const key = nameKey(attempt);
      const byName = failures.recent(key);
      if (byName === undefined || byName.count < freeForName) return;
      if (changedAt !== undefined && Date.parse(changedAt) > byName.last) failures.forget(key);
      else refuseUntil(byName.last + Math.min(seconds(2 ** (byName.count - freeForName)), longestWait));
    },

    failed(attempt) {
      const [byAddress, byName] = [failures.add(addressKey(attempt)), failures.add(nameKey(attempt))];
      return [
        ...(byName === freeForName ? (['name'] as const) : []),
        ...(byAddress === freeForAddress ? (['address'] as const) : []),
      ];
    },

    succeeded(attempt) {
      failures.forget(nameKey(attempt));
      const pair = pairKey(attempt);
      familiar.delete(pair);
      if (familiar.size >= remembered) familiar.delete(familiar.values().next().value as string);
      familiar.add(pair);
    },

    isFamiliar,
  };
}

const addressKey = ({ address }: Attempt): string => keyOf('address', clientOf(address));

const pairKey = (attempt: Attempt): string => keyOf('familiar', whoIn(attempt), clientOf(attempt.address));

/** An id and a name never look alike. */
const whoIn = ({ who }: Attempt): string =>
  'accountId' in who ? `account ${who.accountId}` : `name ${who.name.trim().toLowerCase()}`;

/** Of one length, however long the name is. */
const keyOf = (kind: string, ...parts: string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, ...parts]))
    .digest('base64url');
