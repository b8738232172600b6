import { renameSync } from 'node:fs';

import t from 'tap';

import { describeFault, textOf } from '#platform/faults.ts';
import { createHealth, type Health } from '#platform/health.ts';
import { startStore } from '#test/fixtures/appliance.ts';

const texts = async (health: Health): Promise<string[]> => (await health.look()).map(textOf);

function logged() {
  const lines: unknown[] = [];
  const line = (...args: unknown[]): void => {
    lines.push(args[1]);
  };
  return { lines, health: createHealth({ error: line, info: line } as never) };
}

t.test('a fault is shown as long as it lasts, and each change is logged once', async (t) => {
  const { lines, health } = logged();
  let uploads = 0;
  health.watch('unreadable-uploads', () => (uploads === 0 ? undefined : { uploads }));
  health.report('disk-full', {});
  health.report('disk-full', {});
  uploads = 1;
  const full = textOf(describeFault('disk-full', {}));
  const unreadable = textOf(describeFault('unreadable-uploads', { uploads: 1 }));
  t.same(await texts(health), [unreadable, full]);
  uploads = 2;
  t.match(await texts(health), [/^2 uploads wait/, full]);
  health.report('disk-full', undefined);
  health.report('disk-full', undefined);
  uploads = 0;
  t.same(await texts(health), []);
  t.same(lines, [full, unreadable, 'this is well again', 'this is well again']);
});

t.test('a failed lookup is a problem, and is logged once', async (t) => {
  const { lines, health } = logged();
  let isGone = true;
  health.watchAll('reserve', () => {
    if (isGone) throw Object.assign(new Error('no'), { code: 'ENOENT', syscall: 'statfs', path: '/data' });
    return [];
  });
  const problem =
    "The store cannot check its own state ('reserve'): there is no /data; check the path. The log of the server says more.";
  t.same(await texts(health), [problem]);
  t.same(await texts(health), [problem]);
  isGone = false;
  t.same(await texts(health), []);
  const messages = ['cannot check the state of the store', problem, 'this is well again'];
  t.same(lines, messages);
  isGone = true;
  t.same(await texts(health), [problem]);
  t.same(lines, [...messages, ...messages.slice(0, 2)], 'the same failure after a look that succeeded is a new one');
});

t.test('a check that begins after a change sees it, with any number of concurrent checks', async (t) => {
  const { health } = logged();
  let isFull = false;
  let looks = 0;
  const held = Promise.withResolvers<undefined>();
  health.watch('disk-full', async () => {
    looks++;
    const wasFull = isFull;
    if (looks === 1) await held.promise;
    return wasFull ? {} : undefined;
  });
  const early = health.look();
  await Promise.resolve();
  isFull = true;
  const late = [health.look(), health.look(), health.look()];
  held.resolve(undefined);
  t.same(await early, []);
  for (const faults of await Promise.all(late)) t.match(faults, [{ code: 'disk-full' }]);
  t.equal(looks, 2, 'those who ask together share a look');
});

t.test('a server without its data directory reports it, and continues when it is back', async (t) => {
  const store = await startStore(t);
  const aside = `${store.directory}-aside`;
  renameSync(store.directory, aside);
  const { body } = await store.anyone.get('/readyz');
  renameSync(aside, store.directory);
  t.match(body, { problems: [/^The store cannot check its own state \('reserve'\): there is no /] });
  t.match(await store.anyone.get('/readyz'), { status: 200, body: { problems: [] } });
});
