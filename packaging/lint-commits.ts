// Asks for a body in the message of each commit above 200 changed lines: `git blame` should give a reason, not only a sentence.
// Part of `npm run lint`. Checks what the clone has: a shallow clone, a source archive or a machine without git is no failure.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Commits that were written before have no bodies. The author's time outlives a rebase. */
const ruleSince = new Date('2026-11-26T05:20:00Z');
const maxLinesWithoutBody = 200;
/** So that the check takes a moment in a history of any length. */
const maxCommits = 1000;

/** Files that a command writes; their lines say nothing about the size of a change. */
const generated =
  /^(?:package-lock\.json|src\/records\/new-store(?:\.postgres)?\.sql|src\/documents\/examples\.json|test\/fixtures\/operations\.txt)$/;
/** Lines such as `Signed-off-by: Ada <ada@example.com>` give no reason. */
const trailer = /^[A-Z][A-Za-z-]+: .*<.*>$/gm;

export interface Commit {
  id: string;
  subject: string;
  body: string;
  /** Lines added and removed in each file; undefined for binary files. */
  files: readonly { path: string; lines: number | undefined }[];
}

/** One sentence if the message of the commit lacks a body that it needs. */
export function missingBody({ id, subject, body, files }: Commit): string | undefined {
  const lines = files.filter(({ path }) => !generated.test(path)).reduce((sum, file) => sum + (file.lines ?? 0), 0);
  if (lines <= maxLinesWithoutBody || body.replace(trailer, '').trim() !== '') return undefined;
  return `${id.slice(0, 8)} changes ${String(lines)} lines without a body: '${subject}'. Say why, and what was tried: git commit --amend.`;
}

/** The output of git; undefined if there is no git, no repository or no such commit. */
function git(folder: string, ...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return status === 0 ? stdout : undefined;
}

/**
 * The commits to check: no merges, and no commits with parents that this clone lacks, because all their files look new.
 */
export function commitsSince(folder: string, since: Date): Commit[] {
  // git compares the time of the committer, which is never before the author's.
  const range = ['--no-merges', `--max-count=${String(maxCommits)}`, `--since=${since.toISOString()}`];
  const format = '--format=%x01%H%x00%at%x00%P%x00%s%x00%b%x00';
  const log = git(folder, '-c', 'log.showSignature=false', 'log', ...range, '--no-color', '-M', '--numstat', format);
  return (log ?? '')
    .split('\u0001')
    .slice(1)
    .map((text) => text.split('\0'))
    .filter(([, time, parents]) => parents !== '' && Number(time) * 1000 >= since.getTime())
    .map(([id = '', , , subject = '', body = '', stats = '']) => ({ id, subject, body, files: filesIn(stats) }));
}

/** The files of a commit in the output of `--numstat`. */
const filesIn = (stats: string): Commit['files'] =>
  stats.split('\n').flatMap((line) => {
    const [added, removed, path] = line.split('\t');
    if (added === undefined || removed === undefined || path === undefined) return [];
    return [{ path, lines: added === '-' ? undefined : Number(added) + Number(removed) }];
  });

if (import.meta.main) {
  const problems = commitsSince(root, ruleSince).flatMap((commit) => missingBody(commit) ?? []);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
