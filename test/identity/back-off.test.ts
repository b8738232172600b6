import t from 'tap';

import { minutes, seconds } from '#domain/clock.ts';
import type { Refusal } from '#domain/refusal.ts';
import { createBackOff } from '#identity/back-off.ts';

function world() {
  const clock = { now: new Date('2026-03-01T12:00:00Z') };
  const backOff = createBackOff(() => clock.now);
  /** Seconds to wait, 0 when the attempt may be made. */
  const wait = (name: string, address: string, changedAt?: string): number => {
    try {
      backOff.check({ who: { name }, address }, changedAt);
      return 0;
    } catch (error) {
      return (error as Refusal).retryAfter ?? NaN;
    }
  };
  const fail = (count: number, name: string, address: string): void => {
    for (let at = 0; at < count; at++) backOff.failed({ who: { name }, address });
  };
  const advance = (milliseconds: number): void => {
    clock.now = new Date(clock.now.getTime() + milliseconds);
  };
  return { backOff, wait, fail, advance, clock };
}

t.test('ten failures are free, then each one doubles the wait', (t) => {
  const { wait, fail, advance } = world();
  fail(9, 'ada', '10.0.0.1');
  t.equal(wait('ada', '10.0.0.1'), 0);
  for (const expected of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]) {
    fail(1, 'ada', '10.0.0.1');
    t.equal(wait('ada', '10.0.0.1'), expected);
    t.equal(wait('ada', '10.9.9.9'), expected, 'from everywhere');
    t.equal(wait('bob', '10.0.0.1'), 0, 'but for ada alone');
    advance(seconds(expected));
    t.equal(wait('ada', '10.0.0.1'), 0);
  }
  fail(1, 'ada', '10.0.0.1');
  t.equal(wait('ada', '10.0.0.1'), 900, 'never longer than a quarter of an hour');
  advance(minutes(15));
  t.equal(wait('ada', '10.0.0.1'), 0);
  fail(1, 'ada', '10.0.0.1');
  t.equal(wait('ada', '10.0.0.1'), 0, 'and then it begins from the start');
  t.end();
});

t.test('names that nobody has wait just as long', (t) => {
  const { wait, fail } = world();
  fail(12, 'nobody', '10.0.0.1');
  t.equal(wait('nobody', '10.0.0.1'), 4);
  t.equal(wait('NOBODY ', '10.0.0.1'), 4, 'however they are written');
  t.end();
});

t.test('a hundred failures from one address stop it for every name', (t) => {
  const { wait, advance, backOff } = world();
  for (let at = 0; at < 100; at++) backOff.failed({ who: { name: `name ${at}` }, address: '10.0.0.1' });
  t.equal(wait('ada', '10.0.0.1'), 900);
  t.equal(wait('ada', '10.0.0.2'), 0);
  advance(minutes(15));
  t.equal(wait('ada', '10.0.0.1'), 0);
  t.end();
});

t.test('a hundred failures behind one address do not stop those who have logged in from there before', (t) => {
  const { wait, fail, backOff } = world();
  backOff.succeeded({ who: { name: 'ada' }, address: '10.0.0.1' });
  for (let at = 0; at < 100; at++) fail(1, `name ${at}`, '10.0.0.1');
  t.equal(wait('bob', '10.0.0.1'), 900);
  t.equal(wait('ada', '10.0.0.1'), 0);
  fail(10, 'ada', '10.0.0.1');
  t.equal(wait('ada', '10.0.0.1'), 1, 'but for their own failures');
  t.end();
});

t.test('a client with IPv6 is counted with all its addresses', (t) => {
  const { wait, fail, backOff } = world();
  for (let at = 0; at < 100; at++) fail(1, `name ${at}`, `2001:db8::${at.toString(16)}`);
  t.equal(wait('ada', '2001:db8::ffff:1'), 900);
  t.equal(wait('ada', '2001:db8:0:1::1'), 0);
  backOff.succeeded({ who: { name: 'ada' }, address: '2001:db8::1' });
  t.equal(wait('ada', '2001:db8::ffff:1'), 0, 'and known with all of them');
  t.end();
});

t.test('a stranger does not keep somebody out who logs in from where he has logged in before', (t) => {
  const { wait, fail, backOff } = world();
  backOff.succeeded({ who: { name: 'ada' }, address: '10.0.0.7' });
  fail(30, 'ada', '10.0.0.1');
  t.equal(wait('ada', '10.0.0.1'), 900);
  t.equal(wait('ada', '10.0.0.7'), 0);
  fail(11, 'ada', '10.0.0.7');
  t.equal(wait('ada', '10.0.0.7'), 2, 'there too, failures count');
  t.end();
});

t.test('a new password ends the wait at once', (t) => {
  const { wait, fail, advance, clock } = world();
  fail(20, 'ada', '10.0.0.1');
  const before = clock.now.toISOString();
  t.equal(wait('ada', '10.0.0.1', before), 900);
  advance(seconds(1));
  t.equal(wait('ada', '10.0.0.1', clock.now.toISOString()), 0);
  t.end();
});

t.test('success forgets what went wrong before', (t) => {
  const { wait, fail, backOff } = world();
  fail(10, 'ada', '10.0.0.1');
  backOff.succeeded({ who: { name: 'ada' }, address: '10.0.0.1' });
  fail(9, 'ada', '10.0.0.1');
  t.equal(wait('ada', '10.0.0.1'), 0);
  t.end();
});

t.test('what is remembered is bounded, and never are all forgotten at once', (t) => {
  const { backOff, wait, fail } = world();
  for (let at = 0; at < 30_000; at++)
    backOff.failed({ who: { name: `name ${at}` }, address: `10.${at >> 8}.0.${at & 255}` });
  t.equal(wait('ada', '192.168.0.1'), 0);
  fail(100, 'ada', '192.168.0.1');
  for (let at = 0; at < 15_000; at++) fail(1, 'bob', `10.${at >> 8}.1.${at & 255}`);
  t.equal(wait('ada', '192.168.0.1'), 900, 'who failed lately is remembered, however many others fail');
  t.end();
});
