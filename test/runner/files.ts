// Runs the files of tests that LARDER_TEST_FILES lists one after the other in this process: loading the store costs more than most of
// them do. process.ts starts it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import './kept-workers.ts';
import './without-promise-hooks.ts';
import t from 'tap';

import { useRealPasswords } from '#test/fixtures/accounts/cheap-passwords.ts';
import { root } from './lanes.ts';
import { beginMark, drainTitle, endMark } from './marks.ts';

/** Seconds of processor time that this process and its ended children have used. */
function usedCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  // Fields 16 and 17 of proc(5)'s stat, counted from behind the name, are those of the children: ticks of 10 ms.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (user + system) / 1e6 + (Number(fields[13]) + Number(fields[14])) / 100;
}

// An interrupted run leaves no process behind.
const { ppid } = process;
setInterval(() => {
  if (process.ppid !== ppid) process.exit(1);
}, 1000).unref();

const files = (process.env['LARDER_TEST_FILES'] ?? '').split('\n');
delete process.env['LARDER_TEST_FILES'];
// tap ends when no test runs for a moment and something is left to tear down: here the next file may only be loading.
t.removeAllListeners('idle');
for (const file of files) {
  const before = usedCpuSeconds();
  t.setTimeout(0);
  t.comment(`${beginMark.slice(2)}${file}`);
  try {
    await import(join(root, file));
  } catch (error) {
    t.error(error, 'the file could not be loaded, or has ended early');
  }
  // A limit that the file has set is not one for those after it.
  t.setTimeout(0);
  await t.test(drainTitle, async (t) => {
    t.pass('to its end');
  });
  useRealPasswords();
  t.comment(`${endMark.slice(2)}${file}\t${(usedCpuSeconds() - before).toFixed(2)}`);
}
t.end();
