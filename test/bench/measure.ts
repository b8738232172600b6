// What the benchmarks share: processes to measure, and how their figures are printed.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Load, Measured } from './load.ts';

/** Runs a load in a process of its own. */
export async function measure(load: Load): Promise<Measured> {
  const child = fork(join(import.meta.dirname, 'load.ts'), { stdio: 'inherit' });
  child.send(load);
  const [measured] = (await Promise.race([once(child, 'message'), gone(child, 'load.ts')])) as [Measured];
  return measured;
}

const gone = async (child: ChildProcess, module: string): Promise<never> => {
  const [code] = (await once(child, 'exit')) as [number];
  throw new Error(`cannot measure: ${module} ended with ${code}`);
};

export const median = (numbers: number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
};

/** Starts a module of this folder as a server; it sends what it wants to tell, such as its port, as its first message. */
export async function startServer<Told>(
  module: string,
  ...args: string[]
): Promise<{ child: ChildProcess; told: Told }> {
  const child = fork(join(import.meta.dirname, module), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: ['--max-semi-space-size=2'], // as the executable and `npm start` run
  });
  const [told] = (await Promise.race([once(child, 'message'), gone(child, module)])) as [Told];
  return { child, told };
}

export async function stopServer(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.send('stop');
  await exited;
}

/** Milliseconds that all threads of a process have run: what a request costs, whoever else uses the machine. */
export function processorTime({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${String(pid)}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export const row = (name: string, { requestsPerSecond, p50, p99 }: Measured): string =>
  `  ${name.padEnd(28)} ${requestsPerSecond.toFixed(0).padStart(7)} requests/s   p50 ${p50.toFixed(3)} ms   p99 ${p99.toFixed(3)} ms`;
