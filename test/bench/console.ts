// Every page of the console in a store of 10,000 packages: its processor time and its size.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { consoleOperations } from '#console/index.ts';
import { openStore } from '#test/fixtures/records/writable.ts';
import { grow } from './harness/grow.ts';
import { makeMeasured } from './harness/measured.ts';
import { median, processorTime, startServer, stopServer, watchMachine } from './harness/measure.ts';

const packages = 10_000;
/** Milliseconds of the processors, and bytes. */
const most = { milliseconds: 100, bytes: 200_000 };
const rounds = 7;
const each = 5;

/** The values for the parameters of an address; pages about one object need it to exist. */
const named: Readonly<Record<string, string>> = {
  namespace: 'snap',
  name: 'grown-77',
  revision: '1',
  account_id: 'root',
  file: 'style.css',
};
/** Lists as a user sees them after a search or a change of order. */
const searches = [
  ...['/console/packages?q=grown-99', '/console/people?q=person-9', '/console/audit?actor=root'],
  ...['name', '-publisher', '-waiting', '-size'].map((order) => `/console/packages?sort=${order}`),
  ...['-email', '-packages', '-seen'].map((order) => `/console/people?sort=${order}`),
  ...['whose', '-used'].map((order) => `/console/people/tokens?sort=${order}`),
  ...[
    '/console/packages/snap/grown-77/revisions?sort=-size',
    '/console/audit?sort=number',
    '/console/devices?sort=-last',
  ],
];

/** Prints what each page costs a store administrator; fails when one costs, or weighs, more than it may. */
export async function consolePages(): Promise<void> {
  const { directory: measured } = await makeMeasured();
  const directory = mkdtempSync(join(tmpdir(), 'larder-bench-'));
  cpSync(measured, directory, { recursive: true });
  rmSync(measured, { recursive: true, force: true });
  await grow(directory, packages);
  const store = await openStore({ directory });
  const session = await store.authority.browsers.begin('root', { address: '127.0.0.1', requestId: 'bench' });
  await store.close();
  const { child, told } = await startServer<{ port: number }>('store-server.ts', directory);
  const machine = watchMachine(child);
  const headers = { cookie: `larder-session=${session}`, accept: 'text/html' };
  const ask = async (path: string): Promise<{ status: number; bytes: number }> => {
    const reply = await fetch(`http://127.0.0.1:${told.port}${path}`, { headers, redirect: 'manual' });
    return { status: reply.status, bytes: Buffer.byteLength(await reply.text()) };
  };
  console.log(`console: each page with ${packages} packages, as a store administrator sees it\n  CPU a page, bytes`);
  const over: string[] = [];
  for (const path of [...pages(), ...searches]) {
    const first = await ask(path);
    const costs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = processorTime(child);
      for (let number = 0; number < each; number++) await ask(path);
      costs.push((processorTime(child) - before) / each);
    }
    const cost = median(costs);
    const isOver = cost > most.milliseconds || first.bytes > most.bytes;
    if (isOver) over.push(path);
    console.log(
      `  ${isOver ? '!' : ' '} ${path.padEnd(48)} ${cost.toFixed(1).padStart(6)} ms ${String(first.bytes).padStart(7)}` +
        (first.status === 200 ? '' : `  (${first.status})`),
    );
  }
  console.log(`  ${machine()}`);
  await stopServer(child);
  rmSync(directory, { recursive: true, force: true });
  if (over.length > 0) throw new Error(`cannot hold these within ${JSON.stringify(most)}: ${over.join(', ')}`);
}

/** The address of every screen; one about a thing that is not in the measured store shows that it is not there. */
const pages = (): string[] =>
  consoleOperations
    .filter(({ method }) => method === 'GET')
    .map(({ path }) => path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(named[name] ?? 'none')));
