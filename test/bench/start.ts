// From the start of the process to the first answer of /readyz.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '#test/fixtures/free-port.ts';
import { grow } from './harness/grow.ts';
import { median, processorTime, watchMachine } from './harness/measure.ts';
import { fillStore } from './harness/store.ts';

const rounds = 7;
const root = join(import.meta.dirname, '../..');

/**
 * Prints the median for the sources and, if it was built, for the executable: of an empty store, and of a filled one.
 */
export async function start(): Promise<void> {
  const executable = join(root, 'dist/larder');
  if (!existsSync(executable)) console.log('start: the executable is not built (npm run build:executable)');
  for (const packages of [0, 10_000]) {
    const { directory, store } = await fillStore(0, 0);
    await store.close();
    if (packages > 0) await grow(directory, packages);
    console.log(`start to ready, ${packages} packages and ${packages * 10} revisions`);
    await time('from the sources', join(root, 'bin/larder'), directory);
    if (existsSync(executable)) await time('the executable', executable, directory);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The first start is not measured: it upgrades the filled data, and reads it from the disk. */
async function time(name: string, program: string, directory: string): Promise<void> {
  const times: number[] = [];
  const costs: number[] = [];
  const machine = watchMachine();
  for (let round = 0; round <= rounds; round++) {
    const port = await freePort();
    const began = performance.now();
    const child = spawn(program, ['serve', '--data', directory, '--listen', `127.0.0.1:${port}`], {
      stdio: 'ignore',
    });
    const exited = once(child, 'exit') as Promise<[number | null]>;
    while (!(await isReady(port))) {
      if (child.exitCode !== null) throw new Error(`cannot measure: ${program} ended with ${String(child.exitCode)}`);
      await sleep(2);
    }
    if (round > 0) {
      times.push(performance.now() - began);
      costs.push(processorTime(child));
    }
    child.kill('SIGTERM');
    await exited;
  }
  console.log(
    `  ${name.padEnd(28)} ${median(times).toFixed(0)} ms, ${median(costs).toFixed(0)} ms of the processors ` +
      `(of ${rounds}: ${times.map((milliseconds) => milliseconds.toFixed(0)).join(', ')}); ${machine()}`,
  );
}

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    (answer) => answer.status === 200,
    () => false,
  );
