// Limits guesses of the store administrator's credential per client, so that they cost the store little. The right credential is
// never counted: it works even while other clients at the same address are refused.
import { computeDigest } from '#domain/cryptography.ts';
import type { ExchangeLimit } from '#http/identity-provider.ts';
import { clientOf } from '#domain/client.ts';
import { minutes, seconds, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import { createFailureCounter } from '#shared/failure-counter.ts';

const allowed = 10;
const period = minutes(1);

export function createExchangeLimit({
  records,
  now,
}: {
  records: Pick<StoreRecords, 'failures' | 'ephemeral'>;
  now: Now;
}): ExchangeLimit {
  const failures = createFailureCounter({ records, kind: 'exchange', now, period });
  return {
    async failed(address) {
      const client = computeDigest('counter', clientOf(address), 'base64url');
      const before = await failures.recent(client);
      if (before === undefined || before.count < allowed) await failures.add(client);
      else {
        const wait = before.last + period - now().getTime();
        throw new Refusal(
          'too-many-requests',
          'Too many failed exchanges from this address. A valid credential still works; with others, try again in a minute.',
          Math.ceil(wait / seconds(1)),
        );
      }
    },
  };
}
