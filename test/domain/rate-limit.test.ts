// A vessel that leaks: how much each client may ask for in a time.
import fc from 'fast-check';
import t from 'tap';

import { createRateLimiter } from '#domain/rate-limit.ts';

t.test('a client never gets more than the bucket holds and the refill since', async () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 1, max: 20 })), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 100 }), (steps, perSecond, holds) => {
      let [moment, got] = [0, 0];
      const rates = createRateLimiter(() => new Date(moment));
      for (const [passes, times] of steps) {
        moment += passes;
        for (let time = 0; time < times; time++) {
          if (rates.take('ada', 1, { perSecond, holds }) === undefined) got++;
        }
      }
      return got <= holds + Math.ceil((moment / 1000) * perSecond);
    }),
  );
});

t.test('a client that waits as long as told is admitted', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 100 }),
      (amounts, perSecond, holds) => {
        let moment = 0;
        const rates = createRateLimiter(() => new Date(moment));
        return amounts.every((amount) => {
          const wait = rates.take('ada', amount, { perSecond, holds });
          if (wait === undefined) return true;
          moment += wait * 1000;
          return rates.take('ada', amount, { perSecond, holds }) === undefined;
        });
      },
    ),
  );
});

t.test('a client does not use the bucket of another, and returned tokens do not count twice', async (t) => {
  const rates = createRateLimiter(() => new Date(0));
  const vessel = { perSecond: 1, holds: 2 };
  const ask = (client: string) => rates.take(client, 1, vessel) === undefined;
  t.same([ask('ada'), ask('ada'), ask('ada'), ask('bob')], [true, true, false, true]);
  rates.refund('ada', 1);
  rates.refund('carol', 1);
  t.same([ask('ada'), ask('ada')], [true, false]);
});

t.test('a clock that is set back neither drains nor fills', async (t) => {
  let moment = 60_000;
  const rates = createRateLimiter(() => new Date(moment));
  const ask = () => rates.take('ada', 1, { perSecond: 1, holds: 2 });
  t.equal(ask(), undefined);
  moment = 0;
  t.same([ask(), ask()], [undefined, 1], 'one more is left, and the next one waits a second');
  moment += 1000;
  t.equal(ask(), undefined);
});

t.test('of too many clients the least recent one is forgotten', async (t) => {
  const rates = createRateLimiter(() => new Date(0), 2);
  const ask = (client: string) => rates.take(client, 1, { perSecond: 1, holds: 1 }) === undefined;
  t.same([ask('ada'), ask('bob'), ask('ada'), ask('carol')], [true, true, false, true]);
  t.same([ask('ada'), ask('bob')], [false, true]);
});
