// The check of commit messages in clones: whole, shallow, and without git's folder.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { withoutPrograms } from '#test/fixtures/programs.ts';
import { commitsSince, missingBody } from '../../packaging/lint-commits.ts';

const needsGit = { skip: withoutPrograms('git') };

interface Written {
  subject: string;
  body?: string;
  lines: number;
  at: string;
}

/** A repository with these commits, the oldest first, each with one file of so many lines. */
function repository(t: { teardown(work: () => void): void }, commits: readonly Written[]) {
  const folder = mkdtempSync(join(tmpdir(), 'larder-commits-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const git = (args: readonly string[], at = '2026-01-01T00:00:00Z'): string =>
    execFileSync('git', ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: join(folder, 'whole'),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env['PATH'], HOME: folder, GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: '2026-12-31T00:00:00Z' },
    });
  execFileSync('git', ['init', '--quiet', join(folder, 'whole')], { stdio: 'ignore' });
  for (const [number, { subject, body = '', lines, at }] of commits.entries()) {
    writeFileSync(join(folder, 'whole', `${String(number)}.txt`), 'line\n'.repeat(lines));
    git(['add', '.']);
    git(['commit', '--quiet', '-m', subject, ...(body === '' ? [] : ['-m', body])], at);
  }
  const clone = (name: string, ...args: string[]): string => {
    const place = join(folder, name);
    execFileSync('git', ['clone', '--quiet', ...args, `file://${join(folder, 'whole')}`, place], { stdio: 'ignore' });
    return place;
  };
  return { folder, whole: join(folder, 'whole'), clone, git };
}

const since = new Date('2026-06-01T00:00:00Z');
const old = '2026-05-01T00:00:00Z';
const late = '2026-07-01T00:00:00Z';
const findUnexplained = (folder: string): string[] =>
  commitsSince(folder, since).flatMap((commit) => (missingBody(commit) === undefined ? [] : [commit.subject]));

t.test('only large commits since the rule exists are named', needsGit, async (t) => {
  const { whole, clone } = repository(t, [
    { subject: 'first', lines: 500, at: old },
    { subject: 'old', lines: 500, at: old },
    { subject: 'large', lines: 500, at: late },
    { subject: 'explained', body: 'It was slow: 3 s.', lines: 500, at: late },
    { subject: 'small', lines: 5, at: late },
  ]);
  t.strictSame(findUnexplained(whole), ['large'], 'the time of the author counts, also after a rebase');
  t.strictSame(findUnexplained(clone('fresh')), ['large']);
});

t.test('a shallow clone is checked as far as it has commits', needsGit, async (t) => {
  const { clone } = repository(t, [
    { subject: 'first', lines: 900, at: late },
    { subject: 'boundary', lines: 5, at: late },
    { subject: 'large', lines: 500, at: late },
  ]);
  t.strictSame(
    findUnexplained(clone('shallow', '--depth', '2')),
    ['large'],
    'the oldest one has no parent to compare with',
  );
  t.strictSame(findUnexplained(clone('shallowest', '--depth', '1')), []);
});

t.test('a moved file and a merge need no body', needsGit, async (t) => {
  const { whole, git } = repository(t, [
    { subject: 'first', lines: 900, at: old },
    { subject: 'second', lines: 5, at: old },
  ]);
  git(['mv', '0.txt', 'moved.txt']);
  git(['commit', '--quiet', '-m', 'move'], late);
  t.strictSame(findUnexplained(whole), []);
});

t.test('a folder that is no repository has nothing to check', needsGit, async (t) => {
  const { folder } = repository(t, []);
  t.strictSame(findUnexplained(folder), []);
});
