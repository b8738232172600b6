// A store that is not served, or whose process does not answer: doctor and status say why, and neither says that all is well.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { until } from '#test/fixtures/until.ts';
import { newStore, serve, type NewStore } from './process.ts';

// Some of it is known only after a change has waited for five seconds.
t.setTimeout(300_000);

const says = async (store: NewStore, command: 'doctor' | 'status'): Promise<string> =>
  (await store.larder(command)).out.replaceAll(/\s+/g, ' ');

t.test('a store that was never served is a notice', async (t) => {
  const store = await newStore(t);
  t.match(await store.larder('doctor'), {
    code: 0,
    out: /note {2}Server: The store is not being served at the moment/,
  });
  t.match(await says(store, 'status'), /Serving no .*Notice The store is not being served at the moment/);
});

t.test('a start that failed is shown with its reason until the store is served', async (t) => {
  const store = await newStore(t);
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as { port: number };
  const failed = await store.larder(`serve --listen 127.0.0.1:${String(port)}`);
  taken.close();
  t.match(failed, { code: 1, err: /cannot listen on 127\.0\.0\.1/ });
  const doctor = await store.larder('doctor');
  t.match(doctor, {
    code: 1,
    out: /WRONG Server: The store is not served: its last start at .* failed: .*cannot listen on/i,
  });
  t.match(
    await says(store, 'status'),
    /Problem The store is not served: its last start at .* failed: .*cannot listen on/i,
  );

  const server = await serve(t, store.data);
  t.match(await store.larder('doctor'), { code: 0, out: /ok {4}Server: served since/ });
  server.child.kill('SIGTERM');
  await server.ended;
  t.match(await store.larder('doctor'), { code: 0, out: /note {2}Server: The store is not being served/ });
});

t.test('a process that was killed is missed', async (t) => {
  const store = await newStore(t);
  const server = await serve(t, store.data);
  server.child.kill('SIGKILL');
  await server.ended;
  const words = new RegExp(`process ${String(server.child.pid)} served it and ended without a stop`);
  t.match(await store.larder('doctor'), { code: 1, out: words });
  t.match(await says(store, 'status'), words);
});

t.test('a process that does not answer is not taken for one that is well', async (t) => {
  const store = await newStore(t);
  const server = await serve(t, store.data);
  server.child.kill('SIGSTOP');
  t.teardown(() => server.child.kill('SIGCONT'));
  t.match(await store.larder('doctor'), {
    code: 1,
    out: new RegExp(`WRONG Server: Process ${String(server.child.pid)} holds the store and does not answer`),
  });
  server.child.kill('SIGCONT');
  await until(async () => (await store.larder('doctor')).code === 0);
  server.child.kill('SIGTERM');
  await server.ended;
});

t.test('a reload that was refused shows in the next answer, and one that was accepted too', async (t) => {
  const store = await newStore(t);
  const server = await serve(t, store.data);
  const file = join(store.data, 'larder.toml');
  const good = readFileSync(file, 'utf8');
  writeFileSync(file, `${good}\n[nonsense]\n`);
  server.child.kill('SIGHUP');
  t.match(await says(store, 'status'), /Problem The last reload was refused/);
  t.match(await says(store, 'doctor'), /WRONG Configuration: .*The last reload was refused/);
  writeFileSync(file, good);
  server.child.kill('SIGHUP');
  t.notMatch(await says(store, 'status'), /refused/);
  t.match(await store.larder('doctor'), { code: 0 });
  server.child.kill('SIGTERM');
  await server.ended;
});

t.test('while another program holds the database, the store is not ready', async (t) => {
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
