// Builds the whole executable, twice; part of `npm run test:long`.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { copySources } from '#test/fixtures/sources.ts';

const long = process.env['LARDER_LONG'] === '1';

/** The digest of the executable that is built from the sources in a directory. */
function built(directory: string, environment: Record<string, string>, umask: number): string {
  const before = process.umask(umask);
  try {
    const env = { ...process.env, ...environment };
    execFileSync(process.execPath, ['packaging/build.ts'], { cwd: directory, env, stdio: 'pipe' });
  } finally {
    process.umask(before);
  }
  return createHash('sha256')
    .update(readFileSync(join(directory, 'dist/larder')))
    .digest('hex');
}

t.test('the same sources give the same executable, wherever it is built', { skip: !long, timeout: 600_000 }, (t) => {
  const other = mkdtempSync(join(tmpdir(), 'larder-built-elsewhere-'));
  t.teardown(() => rmSync(other, { recursive: true }));
  const first = t.testdir();
  copySources(first);
  copySources(other, first);
  const commit = { LARDER_COMMIT: '6f'.repeat(20) };
  const digest = built(first, { TZ: 'UTC', LC_ALL: 'C', ...commit }, 0o022);
  t.equal(built(other, { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8', ...commit }, 0o077), digest);
  const output = execFileSync(join(first, 'dist/larder'), ['version', '--json'], { encoding: 'utf8' });
  t.match(JSON.parse(output), { commit: commit.LARDER_COMMIT });
  t.end();
});
