// A file of tests counts as passed only if it came to its end and something in it passed.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import t from 'tap';

import { root } from './lanes.ts';

const files: Readonly<Record<string, readonly [text: string, exitCode: number]>> = {
  passes: [`t.test('one', async (t) => void t.pass());`, 0],
  'only asserts by itself': [`t.test('one', async () => {});`, 0],
  fails: [`t.test('one', async (t) => void t.fail());`, 1],
  dies: [
    `t.test('one', async (t) => { t.pass(); process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}); });`,
    1,
  ],
  exits: [`t.test('one', async (t) => { t.pass(); process.exit(0); });`, 1],
  empty: ['', 1],
};

for (const [name, [text, exitCode]] of Object.entries(files)) {
  t.test(`a file that ${name} ends the run with ${exitCode}`, async (t) => {
    const made = `${name}.test.ts`;
    const file = join(t.testdir({ [made]: `import t from 'tap';\nt.comment('begun');\n${text}\n` }), made);
    const { status, stdout } = spawnSync(process.execPath, [join(root, 'test/run.ts'), file], { encoding: 'utf8' });
    t.equal(status, exitCode, stdout);
    t.match(stdout, exitCode === 0 ? /pass: 1, fail: 0/ : /fail: [1-9]/);
  });
}

t.test('a failure after the tests of a file is shown', async (t) => {
  const text = `import t from 'tap';\nt.test('one', async (one) => { one.pass(); await new Promise(setImmediate); t.equal(1, 2, 'left alone'); });\n`;
  const file = join(t.testdir({ 'a.test.ts': text }), 'a.test.ts');
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'test/run.ts'), file], { encoding: 'utf8' });
  t.equal(status, 1, stdout);
  t.match(stdout, /^FAILED .* CPU {2}\S*a\.test\.ts/m, 'by the file');
  t.match(stdout, /not ok .*left alone/);
});

t.test('a slowly loading file runs after a file with a late teardown', async (t) => {
  const folder = t.testdir({
    'a.test.ts': `import t from 'tap';\nt.teardown(() => {});\nt.test('one', async (t) => void t.pass());\n`,
    'b.test.ts': `import t from 'tap';\nawait new Promise((resolve) => setTimeout(resolve, 100));\nt.test('two', async (t) => void t.pass());\n`,
  });
  const files = ['a.test.ts', 'b.test.ts'].map((name) => join(folder, name));
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'test/run.ts'), '--jobs=1', ...files], {
    encoding: 'utf8',
  });
  t.equal(status, 0, stdout);
  t.match(stdout, /pass: 2, fail: 0/);
});
