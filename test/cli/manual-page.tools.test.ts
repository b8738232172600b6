// man formats the manual page without a warning.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { withoutPrograms } from '#test/fixtures/programs.ts';
import { larder } from './world.ts';

t.test('man formats the manual page without a warning', { skip: withoutPrograms('man') }, async (t) => {
  const file = join(t.testdir(), 'larder.1');
  writeFileSync(file, (await larder('completion man')).out);
  const { status, stderr } = spawnSync('man', ['--warnings', '-l', file], { env: { ...process.env, PAGER: 'cat' } });
  t.equal(stderr.toString(), '');
  t.equal(status, 0);
});
