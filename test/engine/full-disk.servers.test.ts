// The disk of a PostgreSQL server is full, that of its tables or that of its write-ahead log: changes without space
// have no effect, each caller is told, and all works when there is space again.
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { startAppliance } from '#appliance/appliance.ts';
import { sealFileIn } from '#data/seal-file.ts';
import { newWrappingKey, readSiteKey } from '#data/secrets.ts';
import { hours } from '#domain/clock.ts';
import { beginSealing } from '#records/audit/audit-seals.ts';
import { changeConfig, initialConfig } from '#configuration/config.ts';
import { createLog } from '#platform/log.ts';
import { larder } from '#test/cli/world.ts';
import { makeStore } from '#test/fixtures/records/engines.ts';
import { startPostgres, whoever, type PostgresServer } from '#test/fixtures/servers/postgres.ts';
import { fill, noSmallDisk, smallDisk } from '#test/fixtures/small-disk.ts';
import { until } from '#test/fixtures/until.ts';

/** A folder of the server's own on a disk that holds so much. */
function smallFolder(size: string): { disk: string; folder: string } | undefined {
  const disk = smallDisk(t, size);
  if (disk === undefined) return undefined;
  const folder = join(disk, 'folder');
  mkdirSync(folder, { mode: 0o700 });
  const { uid, gid } = whoever() ?? {};
  for (const place of uid === undefined || gid === undefined ? [] : [disk, folder]) chownSync(place, uid!, gid!);
  return { disk, folder };
}

/** A store on the server, as ada comes to it. */
async function storeOn(t: Test, postgres: string) {
  const directory = mkdtempSync(join(tmpdir(), 'larder-'));
  const settings = { baseUrl: 'http://127.0.0.1:8080', listen: '127.0.0.1:0', storeAdminId: 'root' };
  const configuration = join(directory, 'larder.toml');
  writeFileSync(configuration, initialConfig({ ...settings, storeAdminDigest: '0'.repeat(96) }));
  changeConfig(configuration, { 'records.postgres': postgres });
  for (const key of ['site.key', 'master.key']) writeFileSync(join(directory, key), newWrappingKey(), { mode: 0o400 });
  await makeStore(postgres);
  const siteKey = readSiteKey({ directory, credentials: undefined, masterKeyFile: undefined });
  await beginSealing({ siteKey, file: sealFileIn(directory) });
  const appliance = await startAppliance({ directory, log: createLog('silent'), jobsAfter: hours(1) });
  t.teardown(async () => {
    await appliance.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const command = async (line: string) => {
    const { code, out, err } = await larder(`${line} --data ${directory} --json`);
    if (code !== 0) throw new Error(`${line}: ${out} ${err}`);
    return JSON.parse(out) as Record<string, string>;
  };
  const { id } = await command('account create --email ada@example.org --username ada --display-name Ada');
  const { macaroon } = await command(`token issue --account ${id!}`);
  const headers = { authorization: `Macaroon ${macaroon!}`, 'content-type': 'application/json' };
  const registered: string[] = [];
  return {
    command,
    registered,
    ready: async () => (await fetch(`${appliance.url}/readyz`)).status,
    /** Registers a name, and remembers it where that is acknowledged. */
    async register(name: string) {
      const reply = await fetch(`${appliance.url}/v1/snap`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ name }),
      });
      if (reply.status === 200) registered.push(name);
      return { status: reply.status, retryAfter: reply.headers.get('retry-after'), body: await reply.text() };
    },
    async names() {
      const listed = (await (await fetch(`${appliance.url}/v1/snap`, { headers })).json()) as {
        results: { name: string }[];
      };
      return listed.results.map(({ name }) => name);
    },
  };
}

type Store = Awaited<ReturnType<typeof storeOn>>;

/** Registers one name after the other until one is not registered. */
async function registerUntilRefused({ register }: Store) {
  for (let nth = 0; ; nth++) {
    const name = `name-${String(nth)}`;
    const reply = await register(name);
    if (reply.status !== 200) return { name, ...reply };
  }
}

const databaseOn = async (server: PostgresServer, name: string, more = ''): Promise<string> => {
  await server.ask(`CREATE DATABASE ${name} ${more}`);
  return server.address().replace('/postgres?', `/${name}?`);
};

const [tables, log] = [smallFolder('48m'), smallFolder('64m')];
let server: PostgresServer;

t.before(async () => {
  if (tables === undefined || log === undefined) return;
  // The log keeps its content, so that it grows.
  server = await startPostgres({ log: log.folder, settings: ['wal_keep_size = 1GB', 'autovacuum = off'] });
  t.teardown(server.end);
});

const small = tables === undefined || log === undefined ? { skip: noSmallDisk } : {};

t.test('there is no room for another page of a table', small, async (t) => {
  await server.ask(`CREATE TABLESPACE small LOCATION '${tables!.folder}'`);
  const store = await storeOn(t, await databaseOn(server, 'of_tables', 'TABLESPACE small'));
  t.match(await store.register('first'), { status: 200 });
  const filler = fill(tables!.disk);
  const refused = await registerUntilRefused(store);
  t.match(refused, { status: 507, retryAfter: '300', body: /"insufficient-storage"/ });
  t.match(
    refused.body,
    /The disk of the database is full, so nothing was changed\. Ask .* to free space, and try again later/,
  );
  t.same((await store.names()).sort(), store.registered.toSorted(), 'what was acknowledged is there, and nothing else');
  t.equal(await store.ready(), 200, 'all else goes on');

  rmSync(filler);
  t.match(await store.register(refused.name), { status: 200 }, 'by itself');
  t.same((await store.names()).sort(), store.registered.toSorted());
  t.match(await store.command('audit verify'), { good: true });
});

t.test('the write-ahead log has no space, and the server ends', small, async (t) => {
  const store = await storeOn(t, await databaseOn(server, 'of_log'));
  t.match(await store.register('first'), { status: 200 });
  const filler = fill(log!.disk);
  const refused = await registerUntilRefused(store);
  t.match(refused, { status: 503, retryAfter: '5', body: /The database of the store does not respond/ });

  rmSync(filler);
  // It continues by itself if there is space for the end of its recovery; else it exits, and its supervisor starts it.
  const isGone = (): boolean => !existsSync(`/proc/${String(server.pid())}`);
  await until(async () => isGone() || (await store.ready()) === 200);
  if (isGone()) await server.start();
  await until(async () => (await store.ready()) === 200);
  const names = new Set(await store.names());
  t.same(
    store.registered.filter((name) => !names.has(name)),
    [],
    'what was acknowledged is there',
  );
  if (refused.body.includes('Nothing was changed')) t.notOk(names.has(refused.name), 'and what was refused is not');
  t.match(await store.register('later'), { status: 200 });
  t.match(await store.command('audit verify'), { good: true });
});
