// Common parts of the benchmarks: processes to measure, and the output of their figures.
import { execFileSync, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';

import type { PostgresServer } from '#test/fixtures/servers/postgres.ts';
import type { Bounds, Load, Measured, Order } from './load.ts';

/** A client that has its connections open. */
export interface Client {
  child: ChildProcess;
  slice(bounds: Bounds): Promise<Measured>;
  close(): Promise<void>;
}

/** Opens the connections of a load, in a process of its own. */
export async function openLoad(load: Load): Promise<Client> {
  const child = fork(join(import.meta.dirname, 'load.ts'), { stdio: 'inherit' });
  const ended = gone(child, 'load.ts');
  // The slice is over; no caller waits for this.
  ended.catch(() => undefined);
  const ask = async <Told>(order: Order): Promise<Told> => {
    child.send(order);
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [Told];
    return message;
  };
  await ask({ open: load });
  return {
    child,
    slice: (bounds) => ask({ slice: bounds }),
    async close() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** Warms up and measures once, for so many milliseconds each. */
export async function measure({
  warmup,
  duration,
  ...load
}: Load & { warmup: number; duration: number }): Promise<Measured> {
  const client = await openLoad(load);
  if (warmup > 0) await client.slice({ milliseconds: warmup });
  const measured = await client.slice({ milliseconds: duration });
  await client.close();
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

/** Starts a module of this folder as a server. Its first message carries its data, such as its port. */
export async function startServer<Told>(
  module: string,
  ...args: string[]
): Promise<{ child: ChildProcess; told: Told }> {
  const child = fork(join(import.meta.dirname, module), args, {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const [message] = (await Promise.race([once(child, 'message'), gone(child, module)])) as [Told];
  return { child, told: message };
}

export async function stopServer(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.send('stop');
  await exited;
}

/**
 * Milliseconds of processor time of all threads of a process. The cost of a request does not depend on other processes
 * of the machine.
 */
export function processorTime({ pid }: { pid?: number | undefined }): number {
  const tasks = `/proc/${String(pid)}/task`;
  return readdirSync(tasks).reduce((sum, task) => {
    const [nanoseconds] = readFileSync(`${tasks}/${task}/schedstat`, 'latin1').split(' ');
    return sum + Number(nanoseconds) / 1e6;
  }, 0);
}

/** Milliseconds between two ticks of the kernel's clock. */
const tickMs = 10;

/** The processor time of all threads of a process, and with its ended threads, which is known in steps of a tick. */
export interface ProcessTime {
  running: number;
  whole: number;
}

export function processTime({ pid }: { pid?: number | undefined }): ProcessTime {
  const [user = 0, system = 0] = fieldsOf(`/proc/${String(pid)}/stat`)
    .slice(11, 13)
    .map(Number);
  return { running: processorTime({ pid }), whole: (user + system) * tickMs };
}

/** Milliseconds between two times, with threads that have ended since. */
export function timeBetween(before: ProcessTime, after: ProcessTime): number {
  const running = after.running - before.running;
  const ended = after.whole - before.whole - running;
  return ended > 2 * tickMs ? running + ended : running;
}

/** The fields of a process after the name of its program, which ends with the last bracket. */
const fieldsOf = (file: string): string[] =>
  readFileSync(file, 'latin1')
    .replace(/^.*\) /, '')
    .split(' ');

/** Milliseconds of processor time of all processes of a server, including ended ones. */
export function serverTime(server: PostgresServer): number {
  const first = `/proc/${String(server.pid())}`;
  // The 14th and 15th field are those of the ended children.
  const fields = fieldsOf(`${first}/stat`);
  const ended = (Number(fields[13]) + Number(fields[14])) * tickMs;
  return processesOf(server).reduce((sum, pid) => sum + processorTime({ pid }), ended);
}

/** The first process of a server, and its child processes. */
export function processesOf(server: PostgresServer): number[] {
  const pid = server.pid();
  const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'latin1')
    .trim()
    .split(' ');
  return [pid, ...children.filter((child) => child !== '').map(Number)];
}

/** Keeps all threads of a process to one processor, and the processes that it starts from now on. */
export function pin(pid: number, processor: number): void {
  const args = ['--all-tasks', '--cpu-list', '--pid', String(processor), String(pid)];
  execFileSync('taskset', args, { stdio: 'ignore' });
}

/** A measured process. A PostgreSQL server is given by its first process. */
type Computing = { pid?: number | undefined } | PostgresServer;

/** Says how busy the machine was from here on, apart from these processes: the share of all its processors that others had. */
export function watchMachine(...own: Computing[]): () => string {
  const timeOf = (computing: Computing): number =>
    'ask' in computing ? serverTime(computing) : processorTime(computing);
  const ours = (): number => own.reduce((sum, computing) => sum + timeOf(computing), process.cpuUsage().user / 1000);
  const machine = (): { all: number; busy: number } => {
    const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0] = readFileSync(
      '/proc/stat',
      'latin1',
    )
      .split('\n', 1)[0]
      ?.trim()
      .split(/ +/)
      .slice(1)
      .map((ticks) => Number(ticks) * 10) as number[];
    const busy = user + nice + system + irq + soft + steal;
    return { all: busy + idle + wait, busy };
  };
  const [began, used] = [machine(), ours()];
  return () => {
    const [ended, since] = [machine(), ours() - used];
    const others = Math.max(0, ended.busy - began.busy - since) / (ended.all - began.all);
    return `others had ${(others * 100).toFixed(0)} % of the machine; load ${loadavg()[0]?.toFixed(1) ?? ''}`;
  };
}

/** The cost for a process, in milliseconds. */
export interface Cost {
  /** Computed by the thread that runs the program. */
  main: number;
  /** Computed by all its threads. */
  all: number;
  /** Gone by. */
  wall: number;
}

/** The processor time of a process while `work` runs; a thread that ends in between is not counted. */
export async function costTo(pid: number | undefined, work: () => Promise<unknown>): Promise<Cost> {
  const process = `/proc/${String(pid)}`;
  const ran = (thread: string): number => Number(readFileSync(`${thread}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
  const now = (): Cost => ({
    main: ran(process),
    all: readdirSync(`${process}/task`).reduce((sum, thread) => sum + ran(`${process}/task/${thread}`), 0),
    wall: performance.now(),
  });
  const before = now();
  await work();
  const after = now();
  return { main: after.main - before.main, all: after.all - before.all, wall: after.wall - before.wall };
}

export const medianCost = (costs: Cost[]): Cost => ({
  main: median(costs.map(({ main }) => main)),
  all: median(costs.map(({ all }) => all)),
  wall: median(costs.map(({ wall }) => wall)),
});

/** The most resident memory that a process has had, in MiB. */
export const peakMemory = (pid: number | undefined): number => memory(pid, 'VmHWM');

/** The current memory. */
export const residentMemory = (pid: number | undefined): number => memory(pid, 'VmRSS');

const memory = (pid: number | undefined, field: 'VmHWM' | 'VmRSS'): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1] ?? NaN) /
  1024;

/** How much the machine has had to do for a minute, to be read beside every figure that a clock has given. */
export const busyness = (): string => `load of the machine ${(loadavg()[0] ?? NaN).toFixed(1)}`;

export const row = (name: string, { requestsPerSecond, p50, p99 }: Measured): string =>
  `  ${name.padEnd(28)} ${requestsPerSecond.toFixed(0).padStart(7)} requests/s   p50 ${p50.toFixed(3)} ms   p99 ${p99.toFixed(3)} ms`;
