// Hosts are upgraded one after the other: the first one with a newer release changes the tables, unless the others could not work with that.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { newWrappingKey } from '#data/secrets.ts';
import { openStore } from '#data/store.ts';
import { migrations } from '#data/upgrade.ts';
import { changeConfig, initialConfig } from '#configuration/config.ts';
import { processName } from '#shared/processes.ts';
import { makeStore } from '#test/fixtures/records/engines.ts';
import { beforeLicenses } from '#test/fixtures/records/older-records.ts';
import { sharedPostgres } from '#test/fixtures/servers/postgres.ts';

t.setTimeout(1_800_000);

t.test('tables are not changed under hosts that could not work with it', async (t) => {
  const server = await sharedPostgres(t);
  const address = await server.newDatabase(makeStore);
  const database = /\/(\w+)\?/.exec(address)![1]!;
  const directory = mkdtempSync(join(tmpdir(), 'larder-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const settings = { baseUrl: 'http://127.0.0.1:8080', listen: '127.0.0.1:0', storeAdminId: 'root' };
  writeFileSync(join(directory, 'larder.toml'), initialConfig({ ...settings, storeAdminDigest: '0'.repeat(96) }));
  changeConfig(join(directory, 'larder.toml'), { 'records.postgres': address });
  for (const key of ['site.key', 'master.key']) writeFileSync(join(directory, key), newWrappingKey(), { mode: 0o400 });
  const open = (more: Pick<Parameters<typeof openStore>[0], 'meets'> = {}) => openStore({ directory, ...more });

  await server.ask(beforeLicenses, database);
  const serves = (holder: string, until: string) =>
    server.ask(
      `INSERT INTO passing_leases (name, holder, ends_at) VALUES ('process ${holder}', '${holder}', '${until}')
       ON CONFLICT (name) DO UPDATE SET ends_at = excluded.ends_at`,
      database,
    );
  const [elsewhere, future] = [`17.4711@store-2~${'0'.repeat(12)}`, '9999-01-01T00:00:00.000Z'];
  await serves(elsewhere, future);
  await t.rejects(open(), {
    message:
      /cannot bring the records up to date while an older release works with them \(they release snaps without .*\): stop larder on store-2 first/,
  });
  const meets = (hosts: readonly string[]): void => {
    throw new Error(`met ${hosts.join()}`);
  };
  await t.rejects(open({ meets }), { message: 'met store-2' }, 'whoever must be alone is told before');
  const columns = await server.ask(
    "SELECT 1 FROM information_schema.columns WHERE table_name = 'packages' AND column_name = 'license'",
    database,
  );
  t.equal(columns.rowCount, 0, 'nothing is changed');

  await serves(elsewhere, '2026-01-01T00:00:00.000Z');
  await serves(processName(), future);
  const store = await open();
  t.match(
    store.upgrade,
    { migrations: migrations('postgres').flatMap(({ name }) => (name >= '0095' ? [name] : [])) },
    'what the host itself runs is no obstacle',
  );
  await store.close();
});
