// The state that a serving process reports in its next response. test/faults/not-served.servers.test.ts has the reasons
// of a store that is not served.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { until } from '#test/fixtures/until.ts';
import { newStore, serve, type NewStore } from '#test/cli/process.ts';

// Some of it is known only after a change has waited for five seconds.
t.setTimeout(300_000);

const says = async (store: NewStore, command: 'doctor' | 'status'): Promise<string> =>
  (await store.larder(command)).out.replaceAll(/\s+/g, ' ');

t.test('a refused reload shows in the next status, and so does an accepted one', async (t) => {
  const store = await newStore(t);
  const server = await serve(t, store.data);
  const file = join(store.data, 'larder.toml');
  const good = readFileSync(file, 'utf8');
  writeFileSync(file, `${good}\n[nonsense]\n`);
  server.child.kill('SIGHUP');
  // The process hears of a signal a moment after it was sent.
  await until(async () => /Problem The last reload was refused/.test(await says(store, 'status')));
  t.match(await says(store, 'doctor'), /WRONG Configuration: .*The last reload was refused/);
  writeFileSync(file, good);
  server.child.kill('SIGHUP');
  await until(async () => !/refused/.test(await says(store, 'status')));
  t.match(await store.larder('doctor'), { code: 0 });
  server.child.kill('SIGTERM');
  await server.ended;
});

t.test('while another program locks the database, the store is not ready', async (t) => {
  const store = await newStore(t);
  const server = await serve(t, store.data);
  const ready = async (): Promise<{ code: number; problems: string[] }> => {
    const response = await fetch(`${server.url}/readyz`);
    return { code: response.status, problems: ((await response.json()) as { problems: string[] }).problems };
  };
  const db = new SQLite(join(store.data, 'larder.db'));
  t.teardown(() => db.close());
  db.exec('BEGIN IMMEDIATE');
  await until(async () => (await ready()).code === 503);
  const words = /Another program holds the database of the store: every change is refused/;
  t.match((await ready()).problems.join(), words);
  t.match(await says(store, 'doctor'), words);
  t.match(await says(store, 'status'), words);
  db.exec('ROLLBACK');
  await until(async () => (await ready()).code === 200);
  t.notMatch((await ready()).problems.join(), words);
  server.child.kill('SIGTERM');
  await server.ended;
});
