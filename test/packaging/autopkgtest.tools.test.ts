// The test that Debian runs on the installed package, here with the larder of the checkout.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { folder } from '#test/cli/process.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';

const root = join(import.meta.dirname, '../..');
const tests = join(root, 'packaging/debian/tests');

t.test('each test of the control file exists', (t) => {
  const [, names = ''] = /^Tests: (.+)$/m.exec(readFileSync(join(tests, 'control'), 'utf8')) ?? [];
  t.same(names.split(' '), ['serve']);
  for (const name of names.split(' ')) t.ok(existsSync(join(tests, name)), name);
  t.end();
});

t.test(
  'the store of the test is made, served, backed up and restored',
  { skip: withoutPrograms('curl') },
  async (t) => {
    const place = folder(t);
    const program = `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'src/main.ts')}' "$@"\n`;
    writeFileSync(join(place, 'larder'), program, { mode: 0o755 });
    const out = execFileSync(join(tests, 'serve'), {
      encoding: 'utf8',
      env: {
        PATH: `${place}:/usr/bin:/bin`,
        AUTOPKGTEST_TMP: place,
        LARDER_TEST_PORT: String(await freePort()),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.match(out, /is intact/);
    t.ok(existsSync(join(place, 'restored/larder.toml')));
  },
);
