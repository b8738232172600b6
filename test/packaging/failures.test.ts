// The report of .ci/run at its end about failures.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

const program = join(import.meta.dirname, '../../.ci/failures.mjs');

/** The summary of steps with these exit codes and this output. */
function summarize(t: Test, steps: Record<string, [code: number, output: string]>): string {
  const folder = t.testdir();
  const list = Object.entries(steps).map(([title, [code, output]], at) => {
    const log = join(folder, `${at}.log`);
    writeFileSync(log, output);
    return `${code}\t${log}\t${title}\n`;
  });
  writeFileSync(join(folder, 'failed'), list.join(''));
  return execFileSync(process.execPath, [program, join(folder, 'failed')], { encoding: 'utf8' });
}

/** The output of tap for a file with one of two tests failing, in a test within it; later tests pass. */
const oneOfTwo = `TAP version 14
# Subtest: test/names.test.ts
    # Subtest: a name is claimed
        # Subtest: by ada
            not ok 1 - they are alike
              ---
              diff: |
                -  "a": 2,
                +  "a": 1,
                not ok 7 - this is content
              at:
                fileName: test/names.test.ts
                lineNumber: 4
              source: |
                t.match(a, b);
              ...
            
            1..1
        not ok 1 - by ada # time=116.01ms
          ---
          at:
            fileName: test/names.test.ts
            lineNumber: 3
          ...
        
        # Subtest: by bob
            ok 1 - as well
            1..1
        ok 2 - by bob
        1..2
    not ok 1 - a name is claimed # time=176.429ms
    
    # Subtest: later
        not ok 1 - some day # TODO
        1..1
    ok 2 - later
    1..2
not ok 1 - test/names.test.ts # time=271.149ms
  ---
  exitCode: 1
  ...
# Subtest: test/gone.test.ts
    ok 1 - so far
    1..1
not ok 2 - test/gone.test.ts # time=10.476ms
  ---
  cwd: /larder
  exitCode: 3
  ...
# { total: 5, pass: 2, fail: 2, todo: 1 }
`;

t.test('a failure is reported once, with its tests, place and reason', (t) => {
  t.equal(
    summarize(t, { tests: [1, oneOfTwo] }),
    `== tests: failed, exit code 1
not ok: test/names.test.ts > a name is claimed > by ada > they are alike (test/names.test.ts:4)
  diff: |
    -  "a": 2,
    +  "a": 1,
    not ok 7 - this is content
not ok: test/gone.test.ts # time=10.476ms
  exitCode: 3
`,
  );
  t.end();
});

t.test('a step without a test, or an ended step, shows the end of its output', (t) => {
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`).join('\n');
  const text = summarize(t, { lint: [2, lines], 'the long one': [124, oneOfTwo], silent: [1, ''] });
  t.match(text, '== lint: failed, exit code 2\nits last lines:\n  line 11\n');
  t.match(text, '  line 40\n== the long one: failed, because it took too long, exit code 124\nnot ok: ');
  t.match(text, '  exitCode: 3\nits last lines:\n');
  t.match(text, '== silent: failed, exit code 1\nits last lines:\n');
  t.end();
});

t.test('the summary is as long as the end of a log that people read', (t) => {
  const failure = (at: number) => `not ok ${at} - wrong\n  ---\n  found: |\n${'    more\n'.repeat(90)}  ...\n`;
  const lines = summarize(t, { tests: [1, Array.from({ length: 20 }, (_, at) => failure(at)).join('')] }).split('\n');
  t.equal(lines.length, 202);
  t.match(lines.slice(26, 29), ['    more', 'not ok: wrong', '  found: |']);
  t.match(lines[200], /^… and \d+ lines more, above\.$/);
  t.end();
});
