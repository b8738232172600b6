// Records of an older release on a PostgreSQL server, and those of a newer one.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

import { migrations } from '#data/upgrade.ts';
import { beforeLicenses } from '#test/fixtures/records/older-records.ts';
import { startPostgres, type PostgresServer } from '#test/fixtures/servers/postgres.ts';
import { commandsOn, folder, serve, start, type NewStore } from '#test/cli/process.ts';

let server: PostgresServer;
t.before(async () => {
  server = await startPostgres();
  t.teardown(server.end);
});

let made = 0;

/** A store with a package in it, and the name of its database. */
async function storeOn(t: Parameters<typeof folder>[0]): Promise<NewStore & { database: string }> {
  const database = `store_${String(++made)}`;
  await server.ask(`CREATE DATABASE ${database}`);
  const store = commandsOn(join(folder(t), 'data'));
  const lines = [
    `init --postgres ${server.address().replace('/postgres?', `/${database}?`)}`,
    `account create --email bob@example.org --username bob --display-name Bob --id ${'B'.repeat(32)}`,
    `package register charm/hello --account ${'B'.repeat(32)}`,
  ];
  for (const line of lines) {
    const { code, err } = await store.larder(line);
    if (code !== 0) throw new Error(`${line}: ${err}`);
  }
  return { ...store, database };
}

const migrationsAfter = (last: string): string[] =>
  migrations('postgres')
    .map(({ name }) => name)
    .filter((name) => name > last);

const upgradesIn = async ({ json }: NewStore): Promise<{ details: { migrations: string[] } }[]> =>
  ((await json('audit list --action upgrade')) as { entries: { details: { migrations: string[] } }[] }).entries;

t.test('records of an older release are upgraded by the first command that opens them, which reports it', async (t) => {
  const store = await storeOn(t);
  await server.ask(beforeLicenses, store.database);
  const first = await store.larder('account list');
  t.match(first, { code: 0, out: /bob/ });
  t.equal(
    first.err,
    'larder: upgraded data of an older release; the copy from before is in the backups of the PostgreSQL server\n',
  );
  t.match(await store.larder('account list'), { code: 0, err: '' }, 'once');
  const { rows } = await server.ask('SELECT count(license)::int AS licenses FROM packages', store.database);
  t.equal(rows.length, 1);
  t.match(await upgradesIn(store), { length: 1 });
  t.match(await store.larder('verify'), { code: 0 });
  t.match(await store.larder('status charm/hello'), { code: 0 });
});

t.test('of two hosts that start at once each change of the tables is made by one, and both serve', async (t) => {
  const store = await storeOn(t);
  const other = commandsOn(join(folder(t), 'data'));
  cpSync(store.data, other.data, { recursive: true });
  await server.ask(beforeLicenses, store.database);
  const both = await Promise.all([store, other].map(({ data }) => serve(t, data)));
  for (const { url } of both) t.equal((await fetch(`${url}/readyz`)).status, 200);
  // Each change of the tables is a transaction, so each host may have made some of them.
  const upgrades = await upgradesIn(store);
  const ran = upgrades.flatMap(({ details }) => details.migrations);
  t.same(ran.toSorted(), migrationsAfter('0094'), 'each of them once');
  t.equal(both.filter(({ err }) => err().includes('upgraded data of an older release')).length, upgrades.length);
  t.match(await other.larder('audit verify'), { code: 0 });
});

t.test('an older release leaves records of a newer one unchanged, in every command', async (t) => {
  const store = await storeOn(t);
  await server.ask("INSERT INTO migrations (name) VALUES ('9999-what-comes-later')", store.database);
  const refusal =
    /^larder: cannot open data written by a newer release of larder \(it holds 9999-what-comes-later\)[^\n]*\n$/;
  t.match(await start(t, ['serve', '--data', store.data]).ended, { code: 1, err: refusal });
  for (const line of ['account list', 'audit verify', 'verify']) {
    t.match(await store.larder(line), { code: 1, err: refusal }, line);
  }
  t.match(await store.larder('status'), { code: 1, out: /cannot open data written by a\s+newer\s+release/ });
  t.match(await store.larder('doctor'), { code: 1, out: /WRONG Records: cannot open data written by a newer release/ });
  await server.ask("DELETE FROM migrations WHERE name = '9999-what-comes-later'", store.database);
  t.match(await store.larder('audit verify'), { code: 0 }, 'and nothing was changed');
});
