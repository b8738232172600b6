import { renameSync } from 'node:fs';

import t from 'tap';

import { createHealth } from '#src/health.ts';
import { startStore } from '#test/fixtures/appliance.ts';

t.test('a problem is told as long as it stands, and the log hears of each change once', (t) => {
  const lines: unknown[] = [];
  const line = (...said: unknown[]): void => {
    lines.push(said[1]);
  };
  const health = createHealth({ error: line, info: line } as never);
  let clock: string | undefined;
  health.watch('clock', () => clock);
  health.report('disk', 'The disk is full.');
  health.report('disk', 'The disk is full.');
  clock = 'The clock is wrong.';
  t.same(health.problems(), ['The clock is wrong.', 'The disk is full.']);
  health.report('disk', undefined);
  health.report('disk', undefined);
  clock = undefined;
  t.same(health.problems(), []);
  t.same(lines, ['The disk is full.', 'this is well again']);
  t.end();
});

t.test('what cannot be looked up is a problem, and the log hears of it once', (t) => {
  const lines: unknown[] = [];
  const health = createHealth({ error: (...said: unknown[]) => lines.push(said[1]), info: () => undefined } as never);
  let isGone = true;
  health.watch('reserve', () => {
    if (isGone) throw Object.assign(new Error('no'), { code: 'ENOENT', syscall: 'statfs', path: '/data' });
    return undefined;
  });
  const told = [
    "The store cannot look whether all is well ('reserve'): there is no /data; look whether that is the right place.",
  ];
  t.same(health.problems(), told);
  t.same(health.problems(), told);
  isGone = false;
  t.same(health.problems(), []);
  t.same(lines, told);
  t.end();
});

t.test('a server whose data directory is gone says so, and serves on once it is back', async (t) => {
  const store = await startStore(t);
  const aside = `${store.directory}-aside`;
  renameSync(store.directory, aside);
  const { body } = await store.anyone.get('/readyz');
  renameSync(aside, store.directory);
  t.match(body, { problems: [/^The store cannot look whether all is well \('reserve'\): there is no /] });
  t.match(await store.anyone.get('/readyz'), { status: 200, body: { problems: [] } });
});
