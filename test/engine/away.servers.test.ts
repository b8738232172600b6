// A store with its records on a server that goes away: requests that need them are refused within five seconds, load
// balancers are told, and all works again by itself when the server is back.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import t, { type Test } from 'tap';

import { startAppliance } from '#appliance/appliance.ts';
import { hours } from '#domain/clock.ts';
import { newWrappingKey } from '#data/secrets.ts';
import { sql, type Database } from '#engine/database.ts';
import { changeConfig, initialConfig } from '#configuration/config.ts';
import { createLog } from '#platform/log.ts';
import { makeStore, openPostgres } from '#test/fixtures/records/engines.ts';
import { startPostgres } from '#test/fixtures/servers/postgres.ts';
import { startProxy } from '#test/fixtures/servers/postgres-proxy.ts';
import { until } from '#test/fixtures/until.ts';

async function serving(t: Test, postgres: string) {
  const directory = mkdtempSync(join(tmpdir(), 'larder-'));
  const configuration = join(directory, 'larder.toml');
  const settings = { baseUrl: 'http://127.0.0.1:8080', listen: '127.0.0.1:0', storeAdminId: 'root' };
  writeFileSync(configuration, initialConfig({ ...settings, storeAdminDigest: '0'.repeat(96) }));
  changeConfig(configuration, { 'records.postgres': postgres });
  for (const key of ['site.key', 'master.key']) writeFileSync(join(directory, key), newWrappingKey(), { mode: 0o400 });
  const appliance = await startAppliance({ directory, log: createLog('silent'), jobsAfter: hours(1) });
  t.teardown(async () => {
    await appliance.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const ask = async (path: string, init: RequestInit = {}) => {
    const begun = Date.now();
    const reply = await fetch(appliance.url + path, init);
    const [status, retryAfter] = [reply.status, reply.headers.get('retry-after')];
    return { status, retryAfter, body: await reply.text(), took: Date.now() - begun };
  };
  const ready = async (): Promise<number> => (await ask('/readyz')).status;
  return { ask, ready };
}

t.setTimeout(600_000);

/** A change, a request without a token, and a request with a token to look up. */
const asks: readonly (readonly [string, RequestInit?])[] = [
  ['/v1/tokens', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }],
  ['/icons/unknown/unknown'],
];

t.test('a server that takes seconds for a reply is slow, not down', async (t) => {
  const server = await startPostgres();
  t.teardown(server.end);
  const proxy = await startProxy(server.folder);
  t.teardown(proxy.end);
  await makeStore(server.address());
  const { ask, ready } = await serving(
    t,
    server.address().replace(encodeURIComponent(server.folder), encodeURIComponent(proxy.folder)),
  );
  const answered = () => Promise.all(asks.map(([path, init]) => ask(path, init)));
  const before = await answered();
  for (const lag of [1000, 2700]) {
    proxy.lag = lag;
    for (let times = 0; times < 2; times++) {
      const [after, isReady] = await Promise.all([answered(), ready()]);
      t.same(
        [...after.map(({ status }) => status), isReady],
        [...before.map(({ status }) => status), 200],
        `${lag} ms for each answer: ${after.map(({ body }) => body.slice(0, 80)).join()}`,
      );
    }
  }
  const lost = async () => /^larder_database_connections_lost_total (\d+)$/m.exec((await ask('/metrics')).body)?.[1];
  t.equal(await lost(), '0');
  proxy.lag = 0;
});

t.test('with slow replies, a change from another client gets its turn among many', async (t) => {
  const server = await startPostgres();
  t.teardown(server.end);
  const proxy = await startProxy(server.folder);
  t.teardown(proxy.end);
  await makeStore(server.address());
  const [folder, slowly] = [encodeURIComponent(server.folder), encodeURIComponent(proxy.folder)];
  const far = await openPostgres(server.address().replace(folder, slowly));
  t.teardown(() => far.close());
  const near = await openPostgres(server.address());
  t.teardown(() => near.close());
  const put = (at: Database, name: string): Promise<unknown> =>
    at.transaction((tx) => tx.run(sql`INSERT INTO appliance (name, value) VALUES (${name}, 'x')`));
  await put(far, 'first');
  proxy.lag = 400;
  // Together they would hold the records for nine seconds, and all others are refused after five.
  const names = Array.from({ length: 8 }, (_, number) => `change ${number}`);
  const order: string[] = [];
  const many = names.map((name) => put(far, name).then(() => order.push(name)));
  await sleep(proxy.lag);
  await put(near, 'the other').then(() => order.push('the other'));
  t.notOk(order.includes(names.at(-1)!), 'which did not wait for all of them');
  await Promise.all(many);
  t.same(
    order.filter((name) => name !== 'the other'),
    names,
    'in the order in which they came',
  );
  proxy.lag = 0;
});

for (const how of ['it has ended', 'nothing comes from it'] as const) {
  t.test(`the server of the records is away: ${how}`, async (t) => {
    const server = await startPostgres();
    t.teardown(server.end);
    const proxy = await startProxy(server.folder);
    t.teardown(proxy.end);
    await makeStore(server.address());
    const { ask, ready } = await serving(
      t,
      server.address().replace(encodeURIComponent(server.folder), encodeURIComponent(proxy.folder)),
    );
    t.equal(await ready(), 200);
    const before = await Promise.all(asks.map(([path, init]) => ask(path, init)));
    t.notOk(before.some(({ status }) => status >= 500));

    if (how === 'it has ended') await server.stop();
    else proxy.isSilent = true;
    const begun = Date.now();
    const notReady = until(async () => (await ready()) === 503).then(() => Date.now() - begun);
    for (const refused of await Promise.all(asks.map(([path, init]) => ask(path, init)))) {
      t.match(refused, { status: 503, retryAfter: '5' }, refused.body);
      t.match(refused.body, /does not respond/);
      t.comment(`refused after ${refused.took.toFixed(0)} ms`);
    }
    t.comment(`not ready after ${(await notReady).toFixed(0)} ms`);
    t.match(await ask('/readyz'), { body: /The database of the store does not work/ });
    t.match(await ask('/healthz'), { status: 200 }, 'the process itself is well');

    if (how === 'it has ended') await server.start();
    else proxy.isSilent = false;
    await until(async () => (await ready()) === 200);
    const after = await Promise.all(asks.map(([path, init]) => ask(path, init)));
    t.same(
      after.map(({ status }) => status),
      before.map(({ status }) => status),
    );
  });
}

t.test('changes that wait for a silent server are refused together, and not tried one after the other', async (t) => {
  const server = await startPostgres();
  t.teardown(server.end);
  const proxy = await startProxy(server.folder);
  t.teardown(proxy.end);
  await makeStore(server.address());
  const db = await openPostgres(
    server.address().replace(encodeURIComponent(server.folder), encodeURIComponent(proxy.folder)),
  );
  t.teardown(() => db.close());
  const change = () => db.transaction((tx) => tx.run(sql`DELETE FROM passing_leases WHERE name = ${'none'}`));
  await change();
  proxy.isSilent = true;
  const before = proxy.tried;
  const many = await Promise.allSettled(Array.from({ length: 40 }, change));
  for (const { status } of many) t.equal(status, 'rejected');
  // Each that is tried alone tries at least one connection.
  t.ok(proxy.tried - before < 20, `${String(proxy.tried - before)} connections were tried for 40 changes`);
  proxy.isSilent = false;
  await change();
  t.pass('the next change is made when the server answers again');
});

t.test('a host with another clock time than the server is not ready', async (t) => {
  const server = await startPostgres();
  t.teardown(server.end);
  await makeStore(server.address());
  // A name in the schema hides the same name of PostgreSQL.
  const turn = (seconds: number): Promise<unknown> =>
    server.ask(`
      CREATE OR REPLACE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
      AS $$ SELECT pg_catalog.clock_timestamp() + interval '${seconds} seconds' $$`);
  await turn(0);
  const path = encodeURIComponent('-c search_path=public,pg_catalog');
  const { ask, ready } = await serving(t, server.address(`&options=${path}`));
  t.equal(await ready(), 200);
  for (const [seconds, pattern] of [
    [6, /The clock of this host is [56]\.\d seconds behind that of the database of the store/],
    [-6, /The clock of this host is [56]\.\d seconds ahead of that of the database of the store/],
  ] as const) {
    await turn(seconds);
    await until(async () => pattern.test((await ask('/readyz')).body));
    t.equal(await ready(), 503);
  }
  await turn(2);
  await until(async () => (await ready()) === 200);
});
