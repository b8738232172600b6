// Slows down password guessing: each further failure makes the client wait longer. No account is locked permanently, and guesses
// from another address do not affect an account at an address where it has logged in before.
import { createDigest } from '#domain/cryptography.ts';
import { clientOf } from '#domain/client.ts';
import { after, days, minutes, seconds, timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import { createFailureCounter } from '#shared/failure-counter.ts';

export interface BackOff {
  /** Refuses an attempt that comes too early. Failures before `changedAt`, the last change of the account's password, do not count. */
  check(attempt: LoginAttempt, changedAt?: string): Promise<void>;
  /** Counts a failure. Returns the limits that this failure reaches: of the name, of the address, or both. */
  failed(attempt: LoginAttempt): Promise<('name' | 'address')[]>;
  succeeded(attempt: LoginAttempt): Promise<void>;
  /** Whether this account has logged in from this address before. */
  isFamiliar(attempt: LoginAttempt): Promise<boolean>;
}

export interface LoginAttempt {
  /** The account, so that all its names share one count; the given name if no account has it. */
  who: { accountId: string } | { name: string };
  address: string;
}

const period = minutes(15);
const freeForName = 10;
const freeForAddress = 100;
const maxWaitMs = minutes(15);
/** How long an address stays familiar after a login. A later login renews the record at most once per day. */
const familiarFor = days(30);
const renewalMs = days(1);
/** Maximum number of remembered failures, and of familiar addresses; the least recently used are removed first. */
const remembered = 20_000;

export interface BackOffOptions {
  records: Pick<StoreRecords, 'failures' | 'ephemeral'>;
  now: Now;
  /** Maximum number of failures, and of familiar addresses, to remember. Only tests set it. */
  maxEntries?: number;
}

export function createBackOff({ records, now, maxEntries = remembered }: BackOffOptions): BackOff {
  const failures = createFailureCounter({ records, kind: 'login', now, period, remembered: maxEntries });

  const isFamiliar = (attempt: LoginAttempt): Promise<boolean> =>
    records.failures.isFamiliar(pairKey(attempt), timestamp(now()));

  /** The key of the failures of an account. Failures at a familiar address are counted apart from those at other addresses. */
  const nameKey = async (attempt: LoginAttempt): Promise<string> =>
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
      // Many people can share one address. Familiar accounts are exempt from the limit of the address.
      const byAddress = (await isFamiliar(attempt)) ? undefined : await failures.recent(addressKey(attempt));
      if (byAddress !== undefined && byAddress.count >= freeForAddress) refuseUntil(byAddress.last + period);
      const key = await nameKey(attempt);
      const byName = await failures.recent(key);
      if (byName === undefined || byName.count < freeForName) return;
      if (changedAt !== undefined && Date.parse(changedAt) > byName.last) await failures.forget(key);
      else refuseUntil(byName.last + Math.min(seconds(2 ** (byName.count - freeForName)), maxWaitMs));
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
      // Renew the record at most once per day, so that frequent logins do not each cause a write.
      if (until !== undefined && until > timestamp(after(now(), familiarFor - renewalMs))) return;
      await records.ephemeral(async (tx) => {
        await tx.failures.addFamiliar(pair, timestamp(after(now(), familiarFor)));
        await tx.failures.boundFamiliar(maxEntries);
      });
    },

    isFamiliar,
  };
}

const addressKey = ({ address }: LoginAttempt): string => keyOf('address', clientOf(address));

const pairKey = (attempt: LoginAttempt): string => keyOf('familiar', whoIn(attempt), clientOf(attempt.address));

/** The prefixes keep ids and names apart. */
const whoIn = ({ who }: LoginAttempt): string =>
  'accountId' in who ? `account ${who.accountId}` : `name ${who.name.trim().toLowerCase()}`;

/** A digest, so that keys have one length. */
const keyOf = (kind: string, ...parts: string[]): string =>
  createDigest('counter')
    .update(JSON.stringify([kind, ...parts]))
    .digest('base64url');
