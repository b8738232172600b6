// Back-off: whoever guesses passwords waits longer and longer. Nobody is locked out for good, and a stranger's guesses
// do not keep somebody out who logs in from where he has logged in before.
import { createHash } from 'node:crypto';

import { clientOf } from '#domain/client.ts';
import { after, days, minutes, seconds, timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Records } from '#records/index.ts';
import { countFailures } from '#shared/limits.ts';

export interface BackOff {
  /**
   * Refuses an attempt that comes too early. `changedAt` is when the account's password was last set:
   * what went wrong before that is forgotten.
   */
  check(attempt: Attempt, changedAt?: string): Promise<void>;
  /** Counts a failure; what is put off from now on, and was not before. */
  failed(attempt: Attempt): Promise<('name' | 'address')[]>;
  succeeded(attempt: Attempt): Promise<void>;
  /** Whether somebody has logged in as this one from there before. */
  isFamiliar(attempt: Attempt): Promise<boolean>;
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
/** How long it is remembered that somebody has logged in from a place; noted anew when a day of it has gone by. */
const familiarFor = days(30);
const notedAnew = days(1);
/** How many failures are remembered, and how many places; the one that was used longest ago is forgotten first. */
const remembered = 20_000;

export interface BackOffOptions {
  records: Pick<Records, 'failures' | 'passing'>;
  now: Now;
  /** For tests: another bound. */
  most?: number;
}

export function createBackOff({ records, now, most = remembered }: BackOffOptions): BackOff {
  const failures = countFailures({ records, kind: 'login', now, period, remembered: most });

  const isFamiliar = (attempt: Attempt): Promise<boolean> =>
    records.failures.isFamiliar(pairKey(attempt), timestamp(now()));

  /** From a familiar place somebody is counted by himself. */
  const nameKey = async (attempt: Attempt): Promise<string> =>
    (await isFamiliar(attempt)) ? pairKey(attempt) : keyOf('name', whoIn(attempt));

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
    async check(attempt, changedAt) {
      // Behind one address there may be many people: those who are known there do not pay for the others.
      const byAddress = (await isFamiliar(attempt)) ? undefined : await failures.recent(addressKey(attempt));
      if (byAddress !== undefined && byAddress.count >= freeForAddress) refuseUntil(byAddress.last + period);
      const key = await nameKey(attempt);
      const byName = await failures.recent(key);
      if (byName === undefined || byName.count < freeForName) return;
      if (changedAt !== undefined && Date.parse(changedAt) > byName.last) await failures.forget(key);
      else refuseUntil(byName.last + Math.min(seconds(2 ** (byName.count - freeForName)), longestWait));
    },

    async failed(attempt) {
      const [byAddress, byName] = await failures.add(addressKey(attempt), await nameKey(attempt));
      return [
        ...(byName === freeForName ? (['name'] as const) : []),
        ...(byAddress === freeForAddress ? (['address'] as const) : []),
      ];
    },

    async succeeded(attempt) {
      await failures.forget(await nameKey(attempt));
      const pair = pairKey(attempt);
      const until = await records.failures.familiarUntil(pair);
      // Whoever logs in again and again from one place costs no change each time.
      if (until !== undefined && until > timestamp(after(now(), familiarFor - notedAnew))) return;
      await records.passing(async (tx) => {
        await tx.failures.addFamiliar(pair, timestamp(after(now(), familiarFor)));
        await tx.failures.boundFamiliar(most);
      });
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
