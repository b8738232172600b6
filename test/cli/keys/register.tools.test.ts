// The script of a folder that is carried out is a Python program; Python tests it, piece by piece.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';

import t from 'tap';
import { withoutPrograms } from '#test/fixtures/programs.ts';

t.test(
  'register.py logs in, registers and fetches, and reports the reason of a failure',
  { skip: withoutPrograms('python3') },
  async (t) => {
    const tests = spawn('python3', [join(import.meta.dirname, 'register_test.py'), '-v'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env['PATH'] },
    });
    t.teardown(() => tests.kill());
    const [output, [code]] = await Promise.all([text(tests.stderr), once(tests, 'close') as Promise<[number | null]>]);
    t.equal(code, 0, output);
    for (const [, name = ''] of output.matchAll(/^(test_\w+).* \.\.\. ok$/gm)) t.pass(name);
    t.match(output, /^Ran (?!0 )\d+ tests/m);
  },
);
