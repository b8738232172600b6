// A build names the commit that it was made from, if there is one with exactly its sources.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { commitOf } from '../../packaging/commit.ts';

t.test('a build names the commit of its checkout, and none if the sources differ from it', (t) => {
  const folder = t.testdir({ 'a.txt': 'first' });
  t.equal(commitOf(folder), undefined, 'sources without history have no commit');
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=ada', '-c', 'user.email=ada@example.com', ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  git('init');
  git('add', '.');
  git('commit', '-m', 'Begin');
  t.equal(commitOf(folder), git('rev-parse', 'HEAD'));
  writeFileSync(join(folder, 'b.txt'), 'made by the build');
  t.equal(commitOf(folder), git('rev-parse', 'HEAD'), 'what the build makes is no change');
  writeFileSync(join(folder, 'a.txt'), 'changed');
  t.equal(commitOf(folder), undefined);
  t.end();
});

t.test('sources without history get their commit from LARDER_COMMIT', (t) => {
  const before = process.env['LARDER_COMMIT'];
  t.teardown(() => {
    if (before === undefined) delete process.env['LARDER_COMMIT'];
    else process.env['LARDER_COMMIT'] = before;
  });
  const folder = t.testdir({});
  process.env['LARDER_COMMIT'] = '6f'.repeat(20);
  t.equal(commitOf(folder), '6f'.repeat(20));
  process.env['LARDER_COMMIT'] = 'main';
  t.throws(() => commitOf(folder), /LARDER_COMMIT must be a commit in 40 hex digits/);
  t.end();
});
