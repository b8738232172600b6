import t from 'tap';

import { createRestartPolicy } from '#workers/restart-policy.ts';

t.test('a worker that ends after a while is replaced at once, any number of times', (t) => {
  const policy = createRestartPolicy(2);
  for (let end = 0; end < 100; end++) t.equal(policy.ended(5000), 0);
  t.end();
});

t.test('a worker that ends soon is replaced later each time, and in the end not at all', (t) => {
  const policy = createRestartPolicy(2);
  const pauses = Array.from({ length: 6 }, () => policy.ended(4999));
  t.same(pauses, [0, 200, 400, 800, 1600, undefined]);
  t.end();
});

t.test('a worker that serves for a while clears the failures before it', (t) => {
  const policy = createRestartPolicy(2);
  for (let end = 0; end < 5; end++) policy.ended(0);
  t.equal(policy.inSuccession(), 5);
  t.equal(policy.ended(60_000), 0);
  t.equal(policy.inSuccession(), 1);
  t.equal(policy.ended(0), 200);
  t.end();
});

t.test('all of many may end at once, and none waits longer than five seconds', (t) => {
  const policy = createRestartPolicy(64);
  const pauses = Array.from({ length: 67 }, () => policy.ended(0));
  t.notOk(pauses.includes(undefined));
  t.equal(Math.max(...(pauses as number[])), 5000);
  t.equal(policy.ended(0), undefined);
  t.end();
});
