// A serving process that has lost its files ends with a sentence, and is started again.
import { spawnSync } from 'node:child_process';
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { newStore, serve } from '#test/cli/process.ts';

const source = join(import.meta.dirname, '../../src/platform/lost-files.ts');

/** Runs a script with the watch, whose clock it moves by `look()`; returns its output. */
function watched(t: { testdir(files: Record<string, string>): string }, script: string): string {
  const directory = t.testdir({ 'store.lock': 'old', other: 'new' });
  const program = `
    import { closeSync, openSync, renameSync } from 'node:fs';
    import { mock } from 'node:test';
    import { watchLostFiles } from ${JSON.stringify(source)};
    process.chdir(${JSON.stringify(directory)});
    mock.timers.enable({ apis: ['setInterval'] });
    const look = (times) => { for (; times > 0; times--) mock.timers.tick(2000); };
    watchLostFiles('.', { names: ['store.lock'], fatal: ({ message }) => console.log(message) });
    ${script}`;
  // As few descriptors as the program needs, and some more.
  const shell = 'ulimit -n 64; exec "$@"';
  const args = ['-c', shell, 'sh', process.execPath, '--input-type=module', '-e', program];
  const { stdout, stderr, status } = spawnSync('/bin/sh', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

t.test('a server ends if its database is replaced while it serves', async (t) => {
  const { data } = await newStore(t);
  const { ended } = await serve(t, data);
  const file = join(data, 'larder.db');
  copyFileSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
  const { code, err } = await ended;
  t.equal(code, 1);
  t.match(err, /^larder: \S+larder\.db was removed or replaced while it was in use, so changes could be lost; /m);
});

t.test('a lock that is replaced is lost, because another process can hold the new one', (t) => {
  const out = watched(t, `look(1); console.log('held'); renameSync('other', 'store.lock'); look(3);`);
  t.match(out, /^held\nstore\.lock was removed or replaced while it was in use, [^\n]+\n$/);
  t.end();
});

t.test('a process that can open no file for a minute ends, and a shorter shortage passes', (t) => {
  const out = watched(
    t,
    `let taken = [];
    const take = () => { try { for (;;) taken.push(openSync('/dev/null')); } catch {} };
    take(); look(29); for (const fd of taken.splice(0)) closeSync(fd); look(1);
    take(); look(29); for (const fd of taken.splice(0, 4)) closeSync(fd); console.log('not yet');
    take(); look(1); for (const fd of taken.splice(0)) closeSync(fd);`,
  );
  t.match(out, /^not yet\nno file could be opened for a minute: this process has too many files open; [^\n]+\n$/);
  t.end();
});
