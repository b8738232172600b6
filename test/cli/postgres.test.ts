// Commands on a store whose records are on a PostgreSQL server.
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';

import { migrations, newStore as emptyStore } from '#data/upgrade.ts';
import { newWrappingKey } from '#data/secrets.ts';
import { migrate } from '#engine/migrate.ts';
import { openPostgres } from '#engine/postgres/driver.ts';
import { changeConfig, initialConfig } from '#src/config.ts';
import { startPostgres, type PostgresServer } from '#test/fixtures/postgres.ts';
import { commandsOn, folder, serve, start, type NewStore } from './process.ts';

const password = 'correct horse battery';
let server: PostgresServer;

t.before(async () => {
  server = await startPostgres({
    access: ['local all ada scram-sha-256', 'local all all trust'],
  });
  t.teardown(server.end);
  await server.ask(`CREATE ROLE ada LOGIN SUPERUSER PASSWORD '${password}'`);
});

async function makeTables(address: string): Promise<void> {
  const db = await openPostgres(address);
  await migrate(db, migrations('postgres'), emptyStore('postgres'));
  await db.close();
}

/** A data directory whose records ada has on the server; her password is in a file beside it. */
async function storeOfAda(t: Test): Promise<NewStore & { passwordFile: string; configuration: string }> {
  const data = folder(t);
  const passwordFile = join(folder(t), 'password');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  const settings = { baseUrl: 'http://127.0.0.1:8080', listen: '127.0.0.1:0', storeAdminId: 'root' };
  const configuration = join(data, 'larder.toml');
  writeFileSync(configuration, initialConfig({ ...settings, storeAdminDigest: '0'.repeat(96) }), { mode: 0o600 });
  for (const key of ['site.key', 'master.key']) writeFileSync(join(data, key), newWrappingKey(), { mode: 0o400 });
  const address = await server.newDatabase(makeTables);
  changeConfig(configuration, {
    'records.postgres': address.replace('larder@', 'ada@'),
    'records.password_file': passwordFile,
  });
  return { ...commandsOn(data), passwordFile, configuration };
}

t.test('a store is served from the server that its configuration names, beside which commands work', async (t) => {
  const store = await storeOfAda(t);
  const { url } = await serve(t, store.data);
  t.match(await store.larder('account create --email bob@example.org --username bob --display-name Bob'), { code: 0 });
  t.match(await store.json('account list'), { accounts: [{ username: 'bob' }] });
  t.equal((await fetch(`${url}/readyz`)).status, 200);
  t.notOk(existsSync(join(store.data, 'larder.db')), 'and no file of records is made');
  t.match(await start(t, ['serve', '--data', store.data]).ended, { code: 3, err: /in use by another larder/ });
});

t.test('the password may be a credential of systemd, and is read again for every connection', async (t) => {
  const store = await storeOfAda(t);
  const credentials = folder(t);
  writeFileSync(join(credentials, 'larder-postgres-password'), password, { mode: 0o400 });
  const file = readFileSync(store.configuration, 'utf8');
  writeFileSync(store.configuration, file.replace(/^password_file = .*$/m, ''));
  const { larder } = await import('./world.ts');
  const env = { LARDER_DATA: store.data, CREDENTIALS_DIRECTORY: credentials };
  t.match(await larder('account list', { env }), { code: 0 });
  t.match(await larder('account list', { env: { LARDER_DATA: store.data } }), {
    code: 1,
    err: /^larder: cannot open the database store_\w+ at \S+: it wants a password of the user ada[^\n]*\n$/,
  });
});

t.test('what keeps a store from its records is one sentence, with what to do, and changes nothing', async (t) => {
  const store = await storeOfAda(t);
  const good = readFileSync(store.configuration, 'utf8');
  const refused = async (address: string, why: RegExp): Promise<void> => {
    changeConfig(store.configuration, { 'records.postgres': address });
    for (const line of ['account list', 'serve --listen 127.0.0.1:0']) {
      const { code, err } = await store.larder(line);
      t.match({ code, err }, { code: 1, err: why }, line);
      t.match(err, /^larder: [^\n]*\n$/, 'one line');
    }
    writeFileSync(store.configuration, good);
  };
  const at = (database: string, user = 'ada'): string =>
    server.address().replace('larder@/postgres', `${user}@/${database}`);
  await refused(at('none'), /the server has no database none; make it with createdb/);
  await refused('postgres://ada@/x?host=/nowhere', /nobody listens there; look whether PostgreSQL runs/);
  await server.ask('CREATE DATABASE empty');
  await refused(at('empty'), /it holds no store; name the database that has its records, or make a new store/);
  const inEmpty = await openPostgres(at('empty', 'larder'), {});
  await inEmpty.close();
  await refused(at('empty'), /it holds no store/);

  writeFileSync(store.passwordFile, 'guessed');
  t.match(await store.larder('account list'), { code: 1, err: /does not take the password of the user ada\n$/ });
  rmSync(store.passwordFile);
  t.match(await store.larder('account list'), {
    code: 1,
    err: /^larder: cannot open the database \S+ at \S+: cannot find the password of PostgreSQL: there is no \S+\n$/,
  });
  writeFileSync(store.passwordFile, password, { mode: 0o600 });
  chmodSync(store.passwordFile, 0o600);
  t.match(await store.larder('account list'), { code: 0 });
});
