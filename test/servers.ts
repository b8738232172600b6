// The tests that need a browser or servers of others, PostgreSQL, OpenStack Swift and nginx, or start several hosts or workers: each
// in a process of its own.
//   npm run test:servers
//   npm run test:servers -- hosts/killed     those whose names begin so
import { join } from 'node:path';

import t from 'tap';

import { filesOf } from '#test/fixtures/together.ts';

const files = filesOf(
  'hosts/*.test.ts',
  'engine/@(away|postgres|rows).test.ts',
  'blobs/s3.test.ts',
  'backup/@(move|move-to-bucket|postgres).test.ts',
  'cli/@(postgres|postgres-upgrade).test.ts',
  'engine/full-disk.test.ts',
  'journeys/@(blobs-on-s3|from-the-bucket).test.ts',
  'workers/@(ends|in-turn|killed|serving).test.ts',
  'console/@(journey|pages).test.ts',
  'pages.test.ts',
);
const named = process.argv.slice(2);
const chosen = files.filter((file) => named.length === 0 || named.some((name) => file.startsWith(name)));
if (chosen.length === 0) throw new Error(`none of them begins with ${named.join(', ')}: ${files.join(', ')}`);

// Whoever takes longer than a file may by itself says so itself; and what tap would keep of the lines that a process has run counts as
// a failure of whichever command of tap's ends beside this one.
const imports = ['without-promise-hooks', 'threads-without-tap'].map(
  (name) => `--import=${join(import.meta.dirname, 'fixtures', `${name}.ts`)}`,
);
const env = { TAP_TIMEOUT: '600', ...process.env, _TAPJS_PROCESSINFO_COVERAGE_: '0' };
t.setTimeout(0);
for (const file of chosen) {
  await t.spawn(
    process.execPath,
    [...imports, join(import.meta.dirname, file)],
    { timeout: 3_600_000, env },
    `test/${file}`,
  );
}
