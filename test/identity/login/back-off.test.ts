import t from 'tap';

import { days, minutes, seconds } from '#domain/clock.ts';
import type { Refusal } from '#domain/refusal.ts';
import { createBackOff } from '#identity/login/back-off.ts';
import { openRecords } from '#test/fixtures/records/records.ts';

type Test = Parameters<typeof openRecords>[0];

async function world(t: Test, maxEntries?: number) {
  const clock = { now: new Date('2026-03-01T12:00:00Z') };
  const [firstRecords, otherRecords] = await openRecords(t, 2);
  const now = () => clock.now;
  const backOff = createBackOff({ records: firstRecords, now, ...(maxEntries && { maxEntries }) });
  /** The same, as another process of the store has it. */
  const elsewhere = createBackOff({ records: otherRecords, now, ...(maxEntries && { maxEntries }) });
  /** Seconds to wait, 0 when the attempt may be made. */
  const wait = async (name: string, address: string, changedAt?: string, instance = backOff): Promise<number> => {
    try {
      await instance.check({ who: { name }, address }, changedAt);
      return 0;
    } catch (error) {
      return (error as Refusal).retryAfter ?? NaN;
    }
  };
  const fail = async (count: number, name: string, address: string): Promise<void> => {
    for (let at = 0; at < count; at++) await backOff.failed({ who: { name }, address });
  };
  const advance = (milliseconds: number): void => {
    clock.now = new Date(clock.now.getTime() + milliseconds);
  };
  return { backOff, elsewhere, wait, fail, advance, clock };
}

t.test('ten failures are free, then each one doubles the wait', async (t) => {
  const { wait, fail, advance } = await world(t);
  await fail(9, 'ada', '10.0.0.1');
  t.equal(await wait('ada', '10.0.0.1'), 0);
  for (const expected of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]) {
    await fail(1, 'ada', '10.0.0.1');
    t.equal(await wait('ada', '10.0.0.1'), expected);
    t.equal(await wait('ada', '10.9.9.9'), expected, 'from everywhere');
    t.equal(await wait('bob', '10.0.0.1'), 0, 'but for ada alone');
    advance(seconds(expected));
    t.equal(await wait('ada', '10.0.0.1'), 0);
  }
  await fail(1, 'ada', '10.0.0.1');
  t.equal(await wait('ada', '10.0.0.1'), 900, 'never longer than a quarter of an hour');
  advance(minutes(15));
  t.equal(await wait('ada', '10.0.0.1'), 0);
  await fail(1, 'ada', '10.0.0.1');
  t.equal(await wait('ada', '10.0.0.1'), 0, 'and then it begins from the start');
});

t.test('unknown user names wait just as long', async (t) => {
  const { wait, fail } = await world(t);
  await fail(12, 'nobody', '10.0.0.1');
  t.equal(await wait('nobody', '10.0.0.1'), 4);
  t.equal(await wait('NOBODY ', '10.0.0.1'), 4, 'however they are written');
});

t.test('a hundred failures from one address stop it for every name', async (t) => {
  const { wait, advance, backOff } = await world(t);
  for (let at = 0; at < 100; at++) await backOff.failed({ who: { name: `name ${at}` }, address: '10.0.0.1' });
  t.equal(await wait('ada', '10.0.0.1'), 900);
  t.equal(await wait('ada', '10.0.0.2'), 0);
  advance(minutes(15));
  t.equal(await wait('ada', '10.0.0.1'), 0);
});

t.test('a hundred failures behind one address do not stop accounts that are known there', async (t) => {
  const { wait, fail, backOff } = await world(t);
  await backOff.succeeded({ who: { name: 'ada' }, address: '10.0.0.1' });
  for (let at = 0; at < 100; at++) await fail(1, `name ${at}`, '10.0.0.1');
  t.equal(await wait('bob', '10.0.0.1'), 900);
  t.equal(await wait('ada', '10.0.0.1'), 0);
  await fail(10, 'ada', '10.0.0.1');
  t.equal(await wait('ada', '10.0.0.1'), 1, 'but for their own failures');
});

t.test('a client with IPv6 is counted with all its addresses', async (t) => {
  const { wait, fail, backOff } = await world(t);
  for (let at = 0; at < 100; at++) await fail(1, `name ${at}`, `2001:db8::${at.toString(16)}`);
  t.equal(await wait('ada', '2001:db8::ffff:1'), 900);
  t.equal(await wait('ada', '2001:db8:0:1::1'), 0);
  await backOff.succeeded({ who: { name: 'ada' }, address: '2001:db8::1' });
  t.equal(await wait('ada', '2001:db8::ffff:1'), 0, 'and known with all of them');
});

t.test('a stranger does not keep an account out that logs in from a known address', async (t) => {
  const { wait, fail, backOff } = await world(t);
  await backOff.succeeded({ who: { name: 'ada' }, address: '10.0.0.7' });
  await fail(30, 'ada', '10.0.0.1');
  t.equal(await wait('ada', '10.0.0.1'), 900);
  t.equal(await wait('ada', '10.0.0.7'), 0);
  await fail(11, 'ada', '10.0.0.7');
  t.equal(await wait('ada', '10.0.0.7'), 2, 'there too, failures count');
});

t.test('a new password ends the wait at once', async (t) => {
  const { wait, fail, advance, clock } = await world(t);
  await fail(20, 'ada', '10.0.0.1');
  const before = clock.now.toISOString();
  t.equal(await wait('ada', '10.0.0.1', before), 900);
  advance(seconds(1));
  t.equal(await wait('ada', '10.0.0.1', clock.now.toISOString()), 0);
});

t.test('success forgets what went wrong before', async (t) => {
  const { wait, fail, backOff } = await world(t);
  await fail(10, 'ada', '10.0.0.1');
  await backOff.succeeded({ who: { name: 'ada' }, address: '10.0.0.1' });
  await fail(9, 'ada', '10.0.0.1');
  t.equal(await wait('ada', '10.0.0.1'), 0);
});

t.test('the memory is bounded, and never forgotten all at once', async (t) => {
  const { wait, fail } = await world(t, 20);
  for (let at = 0; at < 30; at++) await fail(1, `name ${at}`, `10.0.0.${at}`);
  t.equal(await wait('ada', '192.168.0.1'), 0);
  await fail(100, 'ada', '192.168.0.1');
  for (let at = 0; at < 15; at++) await fail(1, 'bob', `10.0.1.${at}`);
  t.equal(await wait('ada', '192.168.0.1'), 900, 'who failed lately is remembered, however many others fail');
  for (let at = 0; at < 15; at++) await fail(1, `name ${at}`, `10.0.2.${at}`);
  t.equal(await wait('ada', '192.168.0.1'), 0, 'what failed longest ago is forgotten first');
});

t.test('guesses count across processes, and so do the known addresses of an account', async (t) => {
  const { backOff, elsewhere, wait, advance } = await world(t);
  const attempt = { who: { name: 'ada' }, address: '10.0.0.1' };
  for (let at = 0; at < 11; at++) await (at % 2 === 0 ? backOff : elsewhere).failed(attempt);
  for (const instance of [backOff, elsewhere]) t.equal(await wait('ada', '10.0.0.1', undefined, instance), 2);
  advance(seconds(2));
  await elsewhere.succeeded(attempt);
  t.equal(await backOff.isFamiliar(attempt), true);
  advance(days(30) - 1);
  t.equal(await backOff.isFamiliar(attempt), true, 'for a month');
  await elsewhere.succeeded(attempt);
  advance(days(29));
  t.equal(await backOff.isFamiliar(attempt), true, 'after the last time');
  advance(days(1));
  t.equal(await backOff.isFamiliar(attempt), false);
});
