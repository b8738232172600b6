// The most frequent requests of publishers, in a store of a hundred packages and in one of a hundred thousand: the cost
// must not grow.
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';

import { randomIds } from '#domain/ids.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import type { WritableStore } from '#test/fixtures/records/writable.ts';
import { measure, median, processorTime, startServer, stopServer } from './harness/measure.ts';
import type { Measured } from './harness/load.ts';
import { addMeasured, fillStore } from './harness/store.ts';

const rounds = 5;
const allowed = 1.3;

interface Side {
  directory: string;
  port: number;
  child: ChildProcess;
  token: string;
}

/** The cost of a request: milliseconds of the processors of the server, and the time of the response. */
interface Cost extends Measured {
  processors: number;
}

/** The questions, each as a request that both stores answer alike. */
const questions: Record<string, { method: string; path: string; body?: unknown }> = {
  list_revisions: { method: 'GET', path: '/v1/snap/measured-0/revisions' },
  list_releases: { method: 'GET', path: '/v1/snap/measured-0/releases' },
  list_registered_names: { method: 'GET', path: '/v1/snap' },
  package_access: {
    method: 'POST',
    path: '/v1/auth/package-access',
    body: { filters: Array.from({ length: 50 }, (_, at) => ({ type: 'snap', name: `measured-${at * 20}` })) },
  },
};

/**
 * Prints the cost of each request in both stores and the ratio; fails if one is above 1.3. The figures compare the
 * processor time of the server, which does not depend on other load of the machine.
 */
export async function publisher(): Promise<void> {
  const small = await prepare(100, 10);
  const large = await prepare(100_000, 10);
  console.log(
    'publisher: 100 packages and 1,000 revisions, beside 100,000 packages and 1,000,000 revisions; 4 connections',
  );
  const grown: string[] = [];
  for (const [name, question] of Object.entries(questions)) {
    const figures = { small: [] as Cost[], large: [] as Cost[] };
    for (const side of [small, large]) await ask(side, question, 500);
    for (let round = 0; round < rounds; round++) {
      figures.small.push(await ask(small, question, 1000));
      figures.large.push(await ask(large, question, 1000));
    }
    const middle = (side: 'small' | 'large', figure: 'processors' | 'p50') =>
      median(figures[side].map((cost) => cost[figure]));
    const failures = [...figures.small, ...figures.large].reduce((sum, cost) => sum + cost.failures, 0);
    const ratio = middle('large', 'processors') / middle('small', 'processors');
    const both = (figure: 'processors' | 'p50') =>
      `${middle('small', figure).toFixed(3)} and ${middle('large', figure).toFixed(3)} ms`;
    console.log(
      `  ${name.padEnd(24)} ${both('processors')} of the processors, ratio ${ratio.toFixed(2)}; p50 ${both('p50')}; failures ${failures}`,
    );
    if (ratio > allowed || failures > 0) grown.push(name);
  }
  for (const { child, directory } of [small, large]) {
    await stopServer(child);
    rmSync(directory, { recursive: true, force: true });
  }
  if (grown.length > 0) throw new Error(`cannot hold the cost of ${grown.join(', ')} within ${allowed}`);
}

async function prepare(packages: number, revisionsEach: number): Promise<Side> {
  const { directory, store } = await fillStore(packages, revisionsEach);
  const accountId = randomIds.id();
  await enrol(store, accountId);
  await addMeasured(store, accountId);
  const { token } = await store.authority.issue({ accountId }, { actor: 'bench' });
  await store.close();
  const server = await startServer<{ port: number }>('store-server.ts', directory);
  return { directory, token, port: server.told.port, child: server.child };
}

/** The owners of the measured names. */
const enrol = (store: WritableStore, accountId: string): Promise<unknown> => {
  const at = new Date().toISOString();
  return store.records.change({ at, actor: 'bench', action: 'fill', object: 'store' }, (tx) =>
    filler(tx, at).account(accountId, 'bob'),
  );
};

async function ask(
  { port, token, child }: Side,
  { method, path, body }: { method: string; path: string; body?: unknown },
  duration: number,
): Promise<Cost> {
  const content = body === undefined ? '' : JSON.stringify(body);
  const request =
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Macaroon ${token}\r\n` +
    (content === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${content.length}\r\n`) +
    `\r\n${content}`;
  const before = processorTime(child);
  const measured = await measure({ port, request, connections: 4, warmup: 0, duration });
  return { ...measured, processors: (processorTime(child) - before) / measured.requests };
}
