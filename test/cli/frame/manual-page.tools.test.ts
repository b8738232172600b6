// man formats the manual pages without a warning.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { withoutPrograms } from '#test/fixtures/programs.ts';
import { larder } from '#test/cli/world.ts';

for (const [page, line] of [
  ['larder.1', 'completion man'],
  ['larder.toml.5', 'completion config-man'],
] as const) {
  t.test(`man formats ${page} without a warning`, { skip: withoutPrograms('man') }, async (t) => {
    const file = join(t.testdir(), page);
    writeFileSync(file, (await larder(line)).out);
    const { status, stderr } = spawnSync('man', ['--warnings', '-l', file], { env: { ...process.env, PAGER: 'cat' } });
    t.equal(stderr.toString(), '');
    t.equal(status, 0);
  });
}

t.test('man formats the page of each group of commands', { skip: withoutPrograms('man') }, async (t) => {
  const { pages } = JSON.parse((await larder('completion man --json')).out) as { pages: Record<string, string> };
  t.ok(Object.keys(pages).length > 40);
  const folder = t.testdir();
  for (const [name, text] of Object.entries(pages)) {
    writeFileSync(join(folder, name), text);
    const { status, stderr } = spawnSync('man', ['--warnings', '-l', join(folder, name)], {
      env: { ...process.env, PAGER: 'cat' },
    });
    t.equal(stderr.toString(), '', name);
    t.equal(status, 0, name);
  }
});
