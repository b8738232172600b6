// The guide about the way back to a moment with the tools of PostgreSQL, typed line by line.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { commandsOn, folder as newFolder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { examplesIn } from '#test/fixtures/guides.ts';
import { postgresPrograms, startPostgres, whoever } from '#test/fixtures/servers/postgres.ts';

t.setTimeout(600_000);

t.test('the records come back to a moment with a base backup and the archive of the log', async (t) => {
  const server = await startPostgres({ administrator: 'postgres' });
  t.teardown(server.end);
  const owner = whoever();
  const folder = newFolder(t);
  const programs = join(folder, 'programs');
  mkdirSync(programs);
  // Without a terminal and a password; others may not enter the folder of this test.
  const become = owner ? `setpriv --reuid ${owner.uid} --regid ${owner.gid} --clear-groups ` : '';
  writeFileSync(join(programs, 'sudo'), `#!/bin/sh\nshift 2\ncd /\nexec ${become}"$@"\n`, { mode: 0o755 });
  const PATH = `${programs}:${postgresPrograms()}:${process.env['PATH'] ?? ''}`;
  const env = { ...process.env, PATH, PGHOST: server.folder, PGPORT: String(server.port), PGUSER: 'postgres' };

  const data = join(folder, 'data');
  const store = commandsOn(data);
  const address = await server.newDatabase(() => Promise.resolve());
  t.match(await larder(`init --data ${data} --postgres ${address}`), { code: 0 });
  const register = (name: string) => store.json(`package register bin/${name} --account larder-admin`);

  let moment = '';
  const localize = (line: string): string =>
    line
      .replaceAll('/mnt/', `${server.folder}/`)
      .replaceAll('/var/lib/postgresql/17/main', join(server.folder, 'data'))
      .replaceAll('/var/lib/postgresql/17/', `${server.folder}/`)
      .replace('2026-11-25 14:05:00+00', moment)
      .replace(owner ? '' : ' -o postgres -g postgres', '');
  const type = async (lines: readonly string[]): Promise<string> => {
    let out = '';
    for (const line of lines) {
      if (line === 'systemctl restart postgresql' || line === 'systemctl stop postgresql') await server.stop('order');
      if (line === 'systemctl restart postgresql' || line === 'systemctl start postgresql') await server.start();
      if (line.startsWith('systemctl ')) continue;
      if (line.startsWith('larder ')) {
        const ended = await store.larder(line.slice('larder '.length));
        t.equal(ended.code, 0, `${line}: ${ended.err}`);
        out += ended.out;
      } else execFileSync('sh', ['-ec', localize(line)], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    }
    return out;
  };

  const [once = [], weekly = [], back = [], after = []] = examplesIn('recovery', 'Back to a moment, on PostgreSQL', 4);
  await type(once);
  await register('one');
  await type(weekly);
  await register('two');
  const { rows } = await server.ask('SELECT clock_timestamp()::text AS moment');
  ({ moment } = rows[0] as { moment: string });
  await register('three');
  t.match(moment, /^2\d{3}-/);
  await type(back);
  t.match(await type(after), /Everything is as it was written/);
  const { packages } = (await store.json('package list')) as { packages: { name: string }[] };
  t.same(packages.map(({ name }) => name).sort(), ['one', 'two'], 'what was changed after the moment is lost');
  t.match(await store.json('audit verify'), { good: true });
  await register('four');
});
