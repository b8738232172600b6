// larder status, doctor, log-level
import t from 'tap';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { folder, newStore, serve } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';

t.test('status fits on one screen, for a served and an unserved store', async (t) => {
  const data = join(folder(t), 'data');
  await larder(`init --data ${data}`);
  const { code, out } = await larder(`status --data ${data}`);
  t.equal(code, 0);
  t.match(out, /Serving +no/);
  t.match(out, /Documents +http:\/\/127\.0\.0\.1:8080\/docs\/\n/);
  t.match(out, /Last backup +never/);
  t.match(out, /Audit log +1:[0-9a-f]{64}/);
  t.ok(out.split('\n').length < 24, 'one screen');
  t.match(JSON.parse((await larder(`status --data ${data} --json`)).out), {
    serving: null,
    counts: { packages: 0, accounts: 1 },
  });
});

t.test('doctor finds no problem in a new store, recommends a backup, and names the problems of another', async (t) => {
  const data = join(folder(t), 'data');
  await larder(`init --data ${data}`);
  const first = await larder(`doctor --data ${data}`);
  t.match(first, { code: 0, out: /note  Backups: No backup was made yet\n +Run 'larder backup FILE'/ });
  t.match(first.out, /All is well; 2 to know of\./, 'and it is not served');
  await larder(`backup --data ${data} ${data}/../backup.tar`);
  t.match(await larder(`doctor --data ${data}`), { code: 0, out: /ok    Backups: [^]*All is well; 1 to know of\./ });

  chmodSync(join(data, 'larder.toml'), 0o644);
  t.match(await larder(`doctor --data ${data}`), {
    code: 1,
    out: /WRONG Permissions: other users can read or write larder\.toml\n +chmod -R go= /,
  });
  chmodSync(join(data, 'larder.toml'), 0o600);
  const master = join(data, 'master.key');
  chmodSync(master, 0o600);
  writeFileSync(master, 'no key');
  t.match(await larder(`doctor --data ${data}`), { code: 1, out: /WRONG Signing key: cannot use/ });
});

t.test('the log level of a serving store is changed at once', async (t) => {
  const { data } = await newStore(t);
  const server = await serve(t, data);
  t.match(await larder(`status --data ${data}`), {
    out: /Serving +yes, since .*, process \d+, log level info[^]*Jobs +all \d+ go well/,
  });
  t.match(await larder(`log-level noisy --data ${data}`), { code: 2, err: /LEVEL is one of trace, debug/ });
  t.match(await larder(`log-level error --data ${data}`), { code: 0, out: /the serving process has been told/ });
  t.match(readFileSync(join(data, 'larder.toml'), 'utf8'), /^level = "error"$/m);
  server.child.kill('SIGTERM');
  await server.ended;
});
