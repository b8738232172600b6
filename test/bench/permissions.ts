// package_permissions beside bare node:http that answers the same JSON to the same request.
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { initialConfig } from '#configuration/config.ts';
import { makeAuthority, makeServerCertificate } from '#tls/certificates.ts';
import type { Load, Measured, Turns } from './harness/load.ts';
import {
  median,
  openLoad,
  processorTime,
  startServer,
  stopServer,
  watchMachine,
  type Client,
} from './harness/measure.ts';
import { fillStore, firstSettings, type FilledStore } from './harness/store.ts';

/** Slices of a second, of each server in turn; a server that is not compiled yet costs three times as much. */
const rounds = 7;
const slice = 1000;
const warmup = 60_000;
/** More different questions than are asked. */
const never = 1e9;

/** A call of a gateway, and the other load. */
interface Case {
  name: string;
  tls: boolean;
  connections: number;
  /** After so many different questions the first one is asked again; 1 unless said. */
  different?: number;
  /** Names that are registered each second during the measurement. */
  commits?: number;
}

const cases: Case[] = [
  { name: 'the same question, 16 connections', tls: false, connections: 16 },
  { name: 'the same question, 1,000 connections', tls: false, connections: 1000 },
  { name: '1,000 different questions', tls: false, connections: 16, different: 1000 },
  { name: 'no question twice', tls: false, connections: 16, different: never },
  { name: 'the same, 10 commits a second', tls: false, connections: 16, commits: 10 },
  { name: 'the same question, TLS, 16', tls: true, connections: 16 },
  { name: 'the same question, TLS, 1,000', tls: true, connections: 1000 },
];

/** Prints rate and processor time a request of both, and their ratios; three snaps, a real token, 10,000 packages, 100,000 revisions. */
export async function permissions(): Promise<void> {
  const filled = await fillStore(10_000, 10);
  await filled.store.close();
  console.log('package_permissions: 3 snaps, 10,000 packages, 100,000 revisions, beside bare node:http');
  for (const tls of [false, true]) {
    const servers = await startBoth(filled, tls);
    for (const benchCase of cases.filter((each) => each.tls === tls)) await compare(benchCase, filled, servers);
    if (!tls) await watchMemory(filled, servers.larder);
    await stopServer(servers.bare.child);
    await stopServer(servers.larder.child);
  }
  rmSync(filled.directory, { recursive: true, force: true });
}

type Server = Awaited<ReturnType<typeof startServer<{ port: number }>>>;
interface Servers {
  bare: Server;
  larder: Server;
}

/** The response of both is requested once, from the store without TLS. */
let answer: string | undefined;

async function startBoth({ directory, token, packageIds }: FilledStore, tls: boolean): Promise<Servers> {
  const files: [string, string] = [join(directory, 'bench.pem'), join(directory, 'bench.key')];
  if (tls) await beginTls(directory, files);
  const larder = await startServer<{ port: number }>('store-server.ts', directory);
  answer ??= await ask(question(token, packageIds).body, token, larder.told.port);
  return { larder, bare: await startServer<{ port: number }>('bare-server.ts', answer, ...(tls ? files : [])) };
}

async function ask(body: string, token: string, port: number): Promise<string> {
  const answered = await fetch(`http://127.0.0.1:${port}/internal/v1/package-permissions`, {
    method: 'POST',
    headers: { authorization: `Macaroon ${token}`, 'content-type': 'application/json' },
    body,
  });
  const text = await answered.text();
  if (answered.status !== 200) throw new Error(`cannot measure: ${answered.status} ${text}`);
  return text;
}

/** From the next start on the store speaks TLS with a certificate that both servers use. */
async function beginTls(directory: string, [certificateFile, keyFile]: [string, string]): Promise<void> {
  const authority = await makeAuthority('bench', new Date());
  const made = await makeServerCertificate(authority, ['127.0.0.1'], new Date());
  writeFileSync(certificateFile, `${made.certificate}${authority.certificate}`);
  writeFileSync(keyFile, made.key, { mode: 0o600 });
  const settings = { ...firstSettings, baseUrl: 'https://127.0.0.1:8443', siteFiles: { certificateFile, keyFile } };
  writeFileSync(join(directory, 'larder.toml'), initialConfig(settings), { mode: 0o600 });
}

/** The request of a gateway, and the place for other packages in it. */
export function question(
  token: string,
  packageIds: string[],
): { request: string; body: string; turns: Omit<Turns, 'different'> } {
  const sampleIds = [10, 5_000, 9_990].map((at) => packageIds[at] as string);
  const body = JSON.stringify({ filters: sampleIds.map((id) => ({ type: 'snap', id })) });
  const request =
    `POST /internal/v1/package-permissions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Macaroon ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  return { request, body, turns: { places: sampleIds.map((id) => request.indexOf(id)), texts: packageIds } };
}

interface Figure extends Measured {
  /** Microseconds of processor time a request, of all threads. */
  cost: number;
}

async function compare(benchCase: Case, { token, packageIds }: FilledStore, servers: Servers): Promise<void> {
  const { different = 1, tls, connections, commits } = benchCase;
  const { request, turns } = question(token, packageIds);
  const load = { request, tls, connections, ...(different > 1 && { turns: { ...turns, different } }) };
  const clients = {
    bare: await opened(load, servers.bare),
    larder: await opened(load, servers.larder),
  };
  const committing = commits === undefined ? undefined : commit(commits, token, servers.larder.told.port);
  const busy = watchMachine(servers.bare.child, servers.larder.child, clients.bare.child, clients.larder.child);
  const figures: { bare: Figure; larder: Figure }[] = [];
  for (let round = 0; round < rounds; round++) {
    figures.push({
      bare: await figure(clients.bare, servers.bare),
      larder: await figure(clients.larder, servers.larder),
    });
  }
  clearInterval(committing);
  print(benchCase, figures, busy());
  for (const client of Object.values(clients)) await client.close();
}

async function opened(load: Omit<Load, 'port'>, { told: ready }: Server): Promise<Client> {
  const client = await openLoad({ ...load, port: ready.port });
  await client.slice({ requests: warmup });
  return client;
}

async function figure(client: Client, { child }: Server): Promise<Figure> {
  const before = processorTime(child);
  const measured = await client.slice({ milliseconds: slice });
  return { ...measured, cost: ((processorTime(child) - before) * 1000) / measured.requests };
}

/** Prints the memory of the store after each further 250,000 distinct requests. */
async function watchMemory({ token, packageIds }: FilledStore, { child, told: ready }: Server): Promise<void> {
  const { request, turns } = question(token, packageIds);
  const client = await openLoad({ port: ready.port, request, connections: 16, turns: { ...turns, different: never } });
  const seen: string[] = [];
  for (let count = 0; count <= 1_000_000; count += 250_000) {
    await client.slice({ requests: 250_000 });
    child.send('memory');
    const [memory] = (await once(child, 'message')) as [NodeJS.MemoryUsage];
    seen.push(`${(memory.heapUsed / 2 ** 20).toFixed(0)} of ${(memory.rss / 2 ** 20).toFixed(0)}`);
  }
  console.log(`  a million questions, none twice: MiB of heap used, and resident: ${seen.join(', ')}`);
  await client.close();
}

let registered = 0;

/** Registers names, so many a second. */
const commit = (perSecond: number, token: string, port: number): NodeJS.Timeout =>
  setInterval(() => {
    void fetch(`http://127.0.0.1:${port}/v1/snap`, {
      method: 'POST',
      headers: { authorization: `Macaroon ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `meanwhile-${registered++}` }),
    }).then((answer) => answer.text());
  }, 1000 / perSecond);

function print({ name }: Case, figures: { bare: Figure; larder: Figure }[], busy: string): void {
  const middle = (side: 'bare' | 'larder', of: keyof Figure): number => median(figures.map((round) => round[side][of]));
  const line = (side: 'bare' | 'larder'): string =>
    `    ${side.padEnd(8)} ${middle(side, 'requestsPerSecond').toFixed(0).padStart(7)} requests/s   ` +
    `${middle(side, 'cost').toFixed(1).padStart(6)} µs of processor a request   ` +
    `p50 ${middle(side, 'p50').toFixed(3)} ms   p99 ${middle(side, 'p99').toFixed(3)} ms`;
  const wall = median(figures.map(({ bare, larder }) => larder.requestsPerSecond / bare.requestsPerSecond));
  const processor = median(figures.map(({ bare, larder }) => bare.cost / larder.cost));
  const failures = figures.reduce((sum, { bare, larder }) => sum + bare.failures + larder.failures, 0);
  console.log(`  ${name}: ${wall.toFixed(2)} by wall, ${processor.toFixed(2)} by processor (${busy})`);
  console.log(`${line('bare')}\n${line('larder')}${failures > 0 ? `\n    ${failures} failures` : ''}`);
}
