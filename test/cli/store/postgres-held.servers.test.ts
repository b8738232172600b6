// A PostgreSQL server with the lock for changes held by another role: the store reports it, and how to close the
// database.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import pg from 'pg';
import t from 'tap';

import { startPostgres } from '#test/fixtures/servers/postgres.ts';
import { until } from '#test/fixtures/until.ts';
import { commandsOn, folder, serve } from '#test/cli/process.ts';

t.setTimeout(300_000);

t.test('a lock of a foreign role makes the store not ready, and its name is shown', async (t) => {
  const server = await startPostgres({ access: ['local all all trust'] });
  t.teardown(server.end);
  for (const role of ['ada', 'eve']) await server.ask(`CREATE ROLE ${role} LOGIN`);
  await server.ask('CREATE DATABASE larder OWNER ada');
  const address = (user: string): string => server.address().replace('larder@/postgres', `${user}@/larder`);
  const store = commandsOn(join(folder(t), 'data'));
  const password = join(folder(t), 'password');
  writeFileSync(password, 'none\n', { mode: 0o600 });
  t.match(await store.larder(`init --postgres ${address('ada')} --postgres-password-file ${password}`), { code: 0 });
  t.match(await store.larder('doctor'), {
    code: 0,
    out: /note {2}Database server: .*every role of the server may connect to the database larder.*\n +REVOKE CONNECT ON DATABASE larder FROM PUBLIC/,
  });

  const { child, ended, url } = await serve(t, store.data);
  const ready = async (): Promise<{ code: number; text: string }> => {
    const response = await fetch(`${url}/readyz`);
    return { code: response.status, text: await response.text() };
  };
  const eve = new pg.Client({ connectionString: address('eve'), application_name: 'psql' });
  await eve.connect();
  await eve.query(`SELECT pg_advisory_lock(hashtextextended('larder public', 0))`);
  const words =
    /Another program holds the database of the store \(the role 'eve', by 'psql'\): every change is refused/;
  await until(async () => words.test((await ready()).text));
  t.equal((await ready()).code, 503);
  t.match((await ready()).text, /REVOKE CONNECT ON DATABASE … FROM PUBLIC/);
  await eve.end();
  await until(async () => (await ready()).code === 200);

  await server.ask('REVOKE CONNECT ON DATABASE larder FROM PUBLIC');
  t.notMatch((await store.larder('doctor')).out, /every role of the server may connect/);
  const again = new pg.Client({ connectionString: address('eve') });
  await t.rejects(again.connect(), /permission denied for database/);
  child.kill('SIGTERM');
  t.match(await ended, { code: 0 });
});
