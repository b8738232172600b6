// Every GET of the interface, in a store of a hundred packages and in one of a hundred thousand: none may cost more there, and
// none may cost much anywhere.
import type { ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { identityOperations } from '#identity/operations.ts';
import { operations } from '#operations/index.ts';
import { engine } from '#test/fixtures/records/engines.ts';
import { logIn } from '#test/fixtures/packages/images.ts';
import { endShared, type PostgresServer } from '#test/fixtures/servers/postgres.ts';
import { missingLine } from '#test/operation-table/missing-row.ts';
import type { Visit } from '#test/operation-table/reads.ts';
import { grow } from './harness/grow.ts';
import { makeMeasured, type World } from './harness/measured.ts';
import {
  median,
  pin,
  processesOf,
  processorTime,
  serverTime,
  startServer,
  stopServer,
  watchMachine,
} from './harness/measure.ts';
import { bringIntoFile, moveRecords, startMeasuredServer } from './harness/on-postgres.ts';
import { questions, type Question } from './harness/questions.ts';

const sizes = { small: 100, large: 100_000 };
const rounds = 7;
/** How many times as much a question may cost in the large store, and how many milliseconds of the processors at all. */
const limits = { growth: 1.3, milliseconds: 5 };
/**
 * Milliseconds for each additional kB of a longer response. That is no growth: it is sent in more pieces, each after
 * the client has read the piece before. The names of all snaps are 277 kB instead of 0.4.
 */
const sending = 0.001;
/** Milliseconds that a slice takes, and requests before the first one. */
const slice = 60;
const warmUp = 200;

interface Side {
  directory: string;
  child: ChildProcess;
  port: number;
  agent: Agent;
  questions: Question[];
}

type Sides = Record<'small' | 'large', Side>;

/**
 * Prints the cost of each request in both stores; fails if a request costs more than allowed, or an operation has no
 * request. LARDER_ONLY='quota|names' measures only operations with that in their names. With LARDER_RECORDS=postgres
 * the records are on a server, and its processor time is shown apart and counts too.
 */
export async function reads(): Promise<void> {
  const { directory, world } = await makeMeasured();
  // A file grows much faster than the records of a server.
  if (engine === 'postgres') {
    await bringIntoFile(directory);
    await endShared();
  }
  const server = engine === 'postgres' ? await startMeasuredServer() : undefined;
  const sides = {
    small: await serve(directory, sizes.small, server),
    large: await serve(directory, sizes.large, server),
  };
  rmSync(directory, { recursive: true, force: true });
  // As with records on another host: else each finds its caches cold after the other one has used them, the more the
  // larger its tables are, and a store without any table would seem to grow.
  if (server) for (const pid of [process.pid, ...processesOf(server)]) pin(pid, 1);
  // Logins of the image registry expire soon, and filling a store takes minutes.
  for (const side of Object.values(sides)) side.questions = questions(world, await visit(side, world));
  refuseUnasked(sides.small.questions);
  console.log(
    'reads: every GET in a store of 100 packages, beside one of 100,000 with 1,000,000 revisions; 1 connection\n' +
      `  CPU a request in both, ratio, ${server ? 'of it that of the PostgreSQL server, ' : ''}bytes of both answers`,
  );
  const over = await compareAll(sides, server);
  for (const { child, directory: filled, agent } of Object.values(sides)) {
    agent.destroy();
    await stopServer(child);
    rmSync(filled, { recursive: true, force: true });
  }
  await server?.end();
  if (over.length > 0)
    throw new Error(`cannot hold these within ${limits.growth} and ${limits.milliseconds} ms: ${over.join(', ')}`);
}

/**
 * The names of the requests that cost too much, also in a repetition at the end. Other guests of a virtual host can
 * take the processor caches for a while; each response takes twice as long then.
 */
async function compareAll(sides: Sides, server: PostgresServer | undefined): Promise<string[]> {
  const machine = watchMachine(sides.small.child, sides.large.child, ...(server ? [server] : []));
  const only = new RegExp(process.env['LARDER_ONLY'] ?? '');
  const all = sides.small.questions;
  const overOf = async (positions: number[]): Promise<number[]> => {
    const over: number[] = [];
    for (const at of positions) if (isOver(all[at]!, await compare(at, sides, server))) over.push(at);
    return over;
  };
  const first = await overOf([...all.keys()].filter((at) => only.test(all[at]!.operation)));
  if (first.length > 0) console.log('  once more:');
  const again = await overOf(first);
  console.log(`  ${machine()}`);
  return again.map((at) => nameOf(all[at]!));
}

const nameOf = ({ operation, variant }: Question): string =>
  variant === undefined ? operation : `${operation} (${variant})`;

/** Prints what a question costs; whether that is too much. */
function isOver(question: Question, { small, large, ofServer, bytes }: Compared): boolean {
  // Times of microseconds differ at random.
  const longer = Math.max(0, (bytes[1] ?? 0) - (bytes[0] ?? 0)) / 1000;
  const grown = large - longer * sending;
  const hasGrown = grown / small > limits.growth && grown - small > 0.05;
  const isTooMuch = hasGrown || Math.max(small, large) > limits.milliseconds;
  const figures =
    `${inMs(small)} ${inMs(large)} ms ${(large / small).toFixed(2).padStart(7)}` +
    (ofServer ? `  ${ofServer.map(inMs).join(' ')} ms` : '');
  const note = longer > 10 ? `; ${(grown / small).toFixed(2)} without sending ${longer.toFixed(0)} kB more` : '';
  console.log(`  ${isTooMuch ? '!' : ' '} ${nameOf(question).padEnd(48)} ${figures}  ${bytes.join(' ')}${note}`);
  return isTooMuch;
}

const inMs = (milliseconds: number): string => milliseconds.toFixed(3).padStart(8);

function refuseUnasked(allQuestions: readonly Question[]): void {
  const measuredOperations = new Set(allQuestions.map(({ operation }) => operation));
  const unasked = [...operations, ...identityOperations].filter(
    (op) => op.method === 'GET' && !measuredOperations.has(op.name),
  );
  if (unasked.length > 0)
    throw new Error(`cannot measure all reads: ${unasked.map((op) => missingLine(op, 'reads')).join('\n')}`);
}

/** Serves a copy of the measured store, grown. */
async function serve(measured: string, packages: number, server: PostgresServer | undefined): Promise<Side> {
  const directory = mkdtempSync(join(tmpdir(), 'larder-bench-'));
  cpSync(measured, directory, { recursive: true });
  await grow(directory, packages);
  if (server) await moveRecords(directory, server);
  const { child, told: ready } = await startServer<{ port: number }>('store-server.ts', directory);
  if (server) pin(child.pid!, 0);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return { directory, child, port: ready.port, agent, questions: [] };
}

async function visit({ port }: Side, { login }: World): Promise<Visit> {
  const client = await logIn({ url: `http://127.0.0.1:${port}` }, login);
  const begun = await client.call('POST', 'blobs/uploads/');
  return { token: client.token, upload: begun.headers.get('docker-upload-uuid') ?? '' };
}

interface Compared {
  /** Milliseconds of all processors that an answer takes. */
  small: number;
  large: number;
  /** The part of the server with the records. */
  ofServer: [small: number, large: number] | undefined;
  bytes: number[];
}

/** Slices of both sides in turn. */
async function compare(at: number, sides: Sides, server: PostgresServer | undefined): Promise<Compared> {
  const costs: Record<'small' | 'large', { all: number; ofServer: number }[]> = { small: [], large: [] };
  const bytes: number[] = [];
  const requests = { small: 0, large: 0 };
  for (const name of ['small', 'large'] as const) {
    const began = performance.now();
    let done = 0;
    for (; done < warmUp && performance.now() - began < 1000; done++) await ask(sides[name], at);
    const each = (performance.now() - began) / done;
    requests[name] = Math.max(1, Math.min(500, Math.ceil(slice / each)));
    bytes.push(await ask(sides[name], at));
  }
  for (let round = 0; round < rounds; round++) {
    for (const name of ['small', 'large'] as const) {
      const now = () => [processorTime(sides[name].child), server ? serverTime(server) : 0] as const;
      const before = now();
      for (let number = 0; number < requests[name]; number++) await ask(sides[name], at);
      const after = now();
      const ofServer = (after[1] - before[1]) / requests[name];
      costs[name].push({ all: (after[0] - before[0]) / requests[name] + ofServer, ofServer });
    }
  }
  const middle = (name: 'small' | 'large', of: 'all' | 'ofServer') => median(costs[name].map((cost) => cost[of]));
  const [small, large] = [middle('small', 'all'), middle('large', 'all')];
  return { small, large, ofServer: server && [middle('small', 'ofServer'), middle('large', 'ofServer')], bytes };
}

/** Asks once; the length of the answer. */
function ask({ port, agent, questions: sideQuestions }: Side, at: number): Promise<number> {
  const { operation, path, headers = {}, status = 200 } = sideQuestions[at]!;
  return new Promise((resolve, reject) => {
    const request = get({ port, path, agent, headers }, (response) => {
      let bytes = 0;
      let text = '';
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (response.statusCode !== status) text += chunk.toString();
      });
      response.once('error', reject);
      response.once('end', () => {
        if (response.statusCode === status && response.headers['x-view-name'] === `larder.${operation}`) resolve(bytes);
        else
          reject(
            new Error(
              `cannot measure ${operation}: ${response.statusCode} of ${String(response.headers['x-view-name'])} ${text.slice(0, 500)}`,
            ),
          );
      });
    });
    request.once('error', reject);
  });
}
