// One worker beside two: the same questions and the same changes, in slices of one run. By wall two show what they can only where
// each has a processor, and the client another; what a request costs shows everywhere.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { changeConfig } from '#src/config.ts';
import type { ServingState } from '#data/serving-state.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { larderCommand } from '#test/fixtures/served.ts';
import { until } from '#test/fixtures/until.ts';
import { openLoad, median, processorTime, watchMachine, type Client } from './measure.ts';
import type { Load, Measured } from './load.ts';
import { fillStore, type FilledStore } from './store.ts';

const rounds = 7;
/** Connections: enough that no worker waits for a question. */
const connections = 32;

interface Side {
  child: ChildProcess;
  port: number;
  /** The processes that answer. */
  workers: number[];
  /** All processes that serve. */
  pids: number[];
}

interface Slice extends Measured {
  /** Microseconds a request, of all threads of all processes. */
  cost: number;
  /** The same of the threads alone that answer. */
  answering: number;
}

interface Work {
  name: string;
  load: Omit<Load, 'port' | 'connections'>;
  warmup: number;
  slice: { milliseconds?: number; requests?: number };
}

/** Prints rates, what a request costs with one worker and with two, and what two come to where each has a processor. */
export async function scale(): Promise<void> {
  const filled = await fillStore(10_000, 10);
  await filled.store.close();
  const directories = [filled.directory, `${filled.directory}-two`] as const;
  cpSync(directories[0], directories[1], { recursive: true });
  changeConfig(join(directories[0], 'larder.toml'), { 'internal.package_permissions': true });
  changeConfig(join(directories[1], 'larder.toml'), { 'internal.package_permissions': true, 'http.workers': 2 });
  const sides = [await begin(directories[0]), await begin(directories[1])] as const;
  console.log('scale: one process beside two workers, 10,000 packages, 100,000 revisions, 32 connections');
  for (const work of worksOf(filled)) await compare(work, sides);
  for (const { child } of sides) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
}

/** Serves by the command; a program takes its log, as a system's journal would. */
async function begin(directory: string): Promise<Side> {
  const port = await freePort();
  const [program, args] = larderCommand('serve', '--data', directory, '--listen', `127.0.0.1:${String(port)}`);
  const journal = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] });
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', journal.stdin] });
  journal.stdin.destroy();
  const file = join(directory, 'serving.json');
  const state = (): ServingState => JSON.parse(readFileSync(file, 'utf8')) as ServingState;
  await until(() => existsSync(file) && (state().workers?.serving ?? 2) === 2);
  const workers = state().workers?.each.map(({ pid }) => pid) ?? [state().pid];
  return { child, port, workers, pids: [...new Set([state().pid, ...workers])] };
}

function worksOf({ token, packageIds }: FilledStore): Work[] {
  const asked = [10, 5_000, 9_990].map((at) => packageIds[at]!);
  const filters = JSON.stringify({ filters: asked.map((id) => ({ type: 'snap', id })) });
  const question = request('/internal/v1/package-permissions', token, filters);
  const turns = { places: asked.map((id) => question.indexOf(id)), texts: packageIds };
  const name = 'new-name-000000000';
  const change = request('/v1/snap', token, JSON.stringify({ name }));
  const place = change.indexOf(name) + 'new-name-'.length;
  const digits = Array.from({ length: 10 }, (_, digit) => String(digit));
  const places = Array.from({ length: 9 }, (_, at) => place + at);
  const questions = { warmup: 60_000, slice: { milliseconds: 1000 } };
  return [
    { name: 'the same question', load: { request: question }, ...questions },
    {
      name: '1,000 different questions',
      load: { request: question, turns: { ...turns, different: 1000 } },
      ...questions,
    },
    { name: 'no question twice', load: { request: question, turns: { ...turns, different: 1e9 } }, ...questions },
    {
      name: 'register_name',
      load: { request: change, turns: { places, texts: digits, different: 1e9 }, sleeps: true },
      warmup: 3000,
      slice: { requests: 400 },
    },
  ];
}

const request = (path: string, token: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Macaroon ${token}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`;

async function compare({ name, load, warmup, slice }: Work, sides: readonly [Side, Side]): Promise<void> {
  const clients: Client[] = [];
  for (const { port } of sides) {
    const client = await openLoad({ ...load, port, connections });
    await client.slice({ requests: warmup });
    clients.push(client);
  }
  const busy = watchMachine(
    ...sides.flatMap(({ pids }) => pids.map((pid) => ({ pid }))),
    ...clients.map(({ child }) => child),
  );
  const figures: [Slice, Slice][] = [];
  for (let round = 0; round < rounds; round++) {
    figures.push([await measured(clients[0]!, sides[0], slice), await measured(clients[1]!, sides[1], slice)]);
  }
  const wall = median(figures.map(([one, two]) => two.requestsPerSecond / one.requestsPerSecond));
  const cost = median(figures.map(([one, two]) => two.cost / one.cost));
  const together = median(figures.map(([one, two]) => (2 * one.answering) / two.answering));
  console.log(
    `  ${name}: ${wall.toFixed(2)} by wall; a request of two workers costs ${cost.toFixed(2)} of one's; ` +
      `two that have a processor each come to ${together.toFixed(2)} (${busy()})`,
  );
  for (const [at, side] of ['one', 'two'].entries()) {
    const middle = (of: keyof Slice): number => median(figures.map((both) => both[at]![of]));
    const failures = figures.reduce((sum, both) => sum + both[at]!.failures, 0);
    console.log(
      `    ${side} ${middle('requestsPerSecond').toFixed(0).padStart(7)} requests/s   ` +
        `${middle('cost').toFixed(1).padStart(6)} µs of processor a request, ${middle('answering').toFixed(1)} of those ` +
        `that answer   p50 ${middle('p50').toFixed(3)} ms   p99 ${middle('p99').toFixed(3)} ms` +
        (failures > 0 ? `   ${String(failures)} failures` : ''),
    );
  }
  for (const client of clients) await client.close();
}

async function measured(client: Client, { pids, workers }: Side, slice: Work['slice']): Promise<Slice> {
  const spent = (): number => pids.reduce((sum, pid) => sum + processorTime({ pid }), 0);
  const answered = (): number => workers.reduce((sum, pid) => sum + mainThread(pid), 0);
  const before = [spent(), answered()] as const;
  const found = await client.slice(slice);
  const each = (milliseconds: number): number => (milliseconds * 1000) / found.requests;
  return { ...found, cost: each(spent() - before[0]), answering: each(answered() - before[1]) };
}

/** Milliseconds that the first thread of a process has run. */
const mainThread = (pid: number): number =>
  Number(readFileSync(`/proc/${String(pid)}/task/${String(pid)}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
