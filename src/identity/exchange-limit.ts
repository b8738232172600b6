// Guesses of the store administrator's credential: counted for each client, so that they cost the store little. The
// right one is never among them, and works whatever anybody else at the same address has tried.
import type { ExchangeLimit } from '#api/identity.ts';
import { clientOf } from '#domain/client.ts';
import { minutes, seconds, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { countFailures } from './failures.ts';

const allowed = 10;
const period = minutes(1);

export function createExchangeLimit(now: Now): ExchangeLimit {
  const failures = countFailures({ now, period });
  return {
    failed(address) {
      const client = clientOf(address);
      const before = failures.recent(client);
      if (before === undefined || before.count < allowed) failures.add(client);
      else {
        const wait = before.last + period - now().getTime();
        throw new Refusal(
          'too-many-requests',
          'Too many failed exchanges from this address; the right credential still works, others wait a minute.',
          Math.ceil(wait / seconds(1)),
        );
      }
    },
  };
}
