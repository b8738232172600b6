// Two ways to serve one store, side by side: the same requests and the same changes, in slices of one run. The cost of
// a request shows on every machine; the rate only if each process has a processor, and the client another.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { ServingState } from '#data/serving-state.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import type { PostgresServer } from '#test/fixtures/servers/postgres.ts';
import { larderCommand } from '#test/fixtures/processes/served.ts';
import { until } from '#test/fixtures/until.ts';
import type { Bounds, Load, Measured } from './load.ts';
import { openLoad, median, pin, processorTime, serverTime, watchMachine, type Client } from './measure.ts';

const rounds = 7;
/** Connections: enough that no process waits for a question. */
export const connections = 32;

/** A store that is served by one command. */
export interface Serving {
  child: ChildProcess;
  port: number;
  /** The processes that answer. */
  workers: number[];
  /** All processes that serve. */
  pids: number[];
}

export interface Side {
  name: string;
  serving: readonly Serving[];
  /**
   * The processors for a side. The servers take turns on them, each with a client of its own. A client and its server
   * share a processor then, for one server or two.
   */
  processors?: readonly number[];
  /**
   * Whether each server is called from each processor, by clients that share them. Else each server is called from its
   * own processor only.
   */
  spread?: boolean;
  /** The server of its records, if there is one. */
  server?: PostgresServer;
}

/** Microseconds a request. */
interface Slice extends Measured {
  /** Of all threads of all processes that serve. */
  cost: number;
  /** Of the threads alone that answer. */
  answering: number;
  /** Of the server that has the records. */
  server: number;
}

export interface Work {
  name: string;
  load: Omit<Load, 'port' | 'connections'>;
  warmup: Bounds;
  slice: Bounds;
}

/** Serves by the command; a program takes its log, as a system's journal would. */
export async function begin(directory: string): Promise<Serving> {
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

export async function end({ child }: Serving): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Prints one line about both sides, and one about each. */
export async function compare({ name, load, warmup, slice }: Work, sides: readonly [Side, Side]): Promise<void> {
  const clients = new Map<Side, Client[]>();
  for (const side of sides) clients.set(side, await openLoads(side, load, warmup));
  const busy = watch(sides, [...clients.values()].flat());
  const figures = new Map(sides.map((side) => [side, [] as Slice[]]));
  for (let round = 0; round < rounds; round++) {
    for (const side of sides) figures.get(side)!.push(await measured(clients.get(side)!, side, slice));
  }
  const [first, second] = sides.map((side) => figures.get(side)!) as [Slice[], Slice[]];
  const ratio = (of: (slice: Slice) => number): string =>
    median(first.map((firstSlice, round) => of(second[round]!) / of(firstSlice))).toFixed(2);
  const [firstSide, other] = sides;
  const server = other.server === undefined ? '' : `, ${ratio((slice) => slice.cost + slice.server)} with the server`;
  // The requests per second of a serving thread with a processor of its own, times the number of threads.
  const capacity =
    (answeringOf(other) / answeringOf(firstSide)) *
    median(first.map(({ answering }, at) => answering / second[at]!.answering));
  console.log(
    `  ${name}: ${ratio((slice) => slice.requestsPerSecond)} by wall; a request of ${other.name} costs ` +
      `${ratio(({ cost }) => cost)} of what one of ${firstSide.name} does${server}; ` +
      `where who answers has a processor of his own they come to ${capacity.toFixed(2)} (${busy()})`,
  );
  for (const side of sides) print(side, figures.get(side)!);
  for (const client of [...clients.values()].flat()) await client.close();
}

const answeringOf = ({ serving }: Side): number => serving.reduce((sum, { workers }) => sum + workers.length, 0);

/** A client for each address, or for each server, which share the connections; warmed up. */
async function openLoads(side: Side, load: Work['load'], warmup: Bounds): Promise<Client[]> {
  const targets = clientsOf(side);
  const clients: Client[] = [];
  for (const [at, { port, beside: processor, from, ...which }] of targets.entries()) {
    const turns = load.turns && { ...load.turns, from: (at / targets.length) * load.turns.different };
    const whole: Load = { ...load, ...(turns && { turns }), ...which, port, connections: connections / targets.length };
    const client = await openLoad(whole);
    if (from !== undefined) pin(client.child.pid!, from);
    if (processor !== undefined) pin(whole.answers!, processor);
    await client.slice(warmup);
    clients.push(client);
  }
  return clients;
}

/** The address of a client, the processor of the server, and the processor of the client. */
interface Asked {
  port: number;
  answers?: number;
  beside?: number;
  from?: number;
}

function clientsOf({ serving, processors, spread = false }: Side): Asked[] {
  if (processors === undefined) return serving.map(({ port }) => ({ port }));
  const answering = serving.flatMap(({ port, workers }) => workers.map((answers) => ({ port, answers })));
  return answering.flatMap((target, at) => {
    const processor = processors[at % processors.length]!;
    return (spread ? processors : [processor]).map((from) => ({ ...target, beside: processor, from }));
  });
}

function watch(sides: readonly Side[], clients: readonly Client[]): () => string {
  const serving = new Set(sides.flatMap((side) => side.serving.flatMap(({ pids }) => pids)));
  const servers = new Set(sides.flatMap(({ server }) => server ?? []));
  return watchMachine(...[...serving].map((pid) => ({ pid })), ...clients.map(({ child }) => child), ...servers);
}

async function measured(clients: readonly Client[], { serving, server }: Side, slice: Work['slice']): Promise<Slice> {
  const now = () => ({
    cost: sum(serving.flatMap(({ pids }) => pids).map((pid) => processorTime({ pid }))),
    answering: sum(serving.flatMap(({ workers }) => workers).map(mainThread)),
    server: server === undefined ? 0 : serverTime(server),
  });
  const before = now();
  const measurements = await Promise.all(clients.map((client) => client.slice(slice)));
  const after = now();
  const requests = sum(measurements.map((measurement) => measurement.requests));
  const each = (of: keyof typeof before): number => ((after[of] - before[of]) * 1000) / requests;
  return {
    requests,
    requestsPerSecond: sum(measurements.map((measurement) => measurement.requestsPerSecond)),
    p50: median(measurements.map(({ p50 }) => p50)),
    p99: Math.max(...measurements.map(({ p99 }) => p99)),
    failures: sum(measurements.map(({ failures }) => failures)),
    cost: each('cost'),
    answering: each('answering'),
    server: each('server'),
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, number) => all + number, 0);

/** Milliseconds that the first thread of a process has run. */
const mainThread = (pid: number): number =>
  Number(readFileSync(`/proc/${String(pid)}/task/${String(pid)}/schedstat`, 'latin1').split(' ')[0]) / 1e6;

function print({ name, server }: Side, slices: readonly Slice[]): void {
  const middle = (of: keyof Slice): number => median(slices.map((slice) => slice[of]));
  const failures = sum(slices.map((slice) => slice.failures));
  console.log(
    `    ${name.padEnd(12)} ${middle('requestsPerSecond').toFixed(0).padStart(7)} requests/s   ` +
      `${middle('cost').toFixed(1).padStart(7)} µs of processor a request, ${middle('answering').toFixed(1)} of those that answer` +
      (server === undefined ? '' : `, and ${middle('server').toFixed(1)} of the server`) +
      `   p50 ${middle('p50').toFixed(3)} ms   p99 ${middle('p99').toFixed(3)} ms` +
      (failures > 0 ? `   ${String(failures)} failures` : ''),
  );
}
