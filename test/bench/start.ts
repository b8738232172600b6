// From the start of the process to the first answer of /readyz.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '#test/fixtures/free-port.ts';
import { median } from './measure.ts';
import { fillStore } from './store.ts';

const rounds = 7;
const root = join(import.meta.dirname, '../..');

/** Prints the median for the sources and, where it was built, for the executable. */
export async function start(): Promise<void> {
  const { directory, store } = await fillStore(1000, 10);
  await store.close();
  console.log('start to ready, 1,000 packages');
  await time('from the sources', process.execPath, [join(root, 'src/main.ts')], directory);
  const executable = join(root, 'dist/larder');
  if (existsSync(executable)) await time('the executable', executable, [], directory);
  else console.log('  the executable: not built (npm run build:executable)');
  rmSync(directory, { recursive: true, force: true });
}

async function time(name: string, program: string, args: string[], directory: string): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const port = await freePort();
    const began = performance.now();
    const child = spawn(program, [...args, 'serve', '--data', directory, '--listen', `127.0.0.1:${port}`], {
      stdio: 'ignore',
    });
    const exited = once(child, 'exit') as Promise<[number | null]>;
    while (!(await isReady(port))) {
      if (child.exitCode !== null) throw new Error(`cannot measure: ${program} ended with ${String(child.exitCode)}`);
      await sleep(2);
    }
    times.push(performance.now() - began);
    child.kill('SIGTERM');
    await exited;
  }
  console.log(
    `  ${name.padEnd(28)} ${median(times).toFixed(0)} ms (of ${rounds}: ${times.map((one) => one.toFixed(0)).join(', ')})`,
  );
}

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    (answer) => answer.status === 200,
    () => false,
  );
