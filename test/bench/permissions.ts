// package_permissions beside bare node:http that answers the same JSON to the same request.
import { rmSync } from 'node:fs';

import { measure, median, processorTime, row, startServer, stopServer } from './measure.ts';
import type { Measured } from './load.ts';
import { fillStore } from './store.ts';

const rounds = 5;

/** Prints requests per second, p50, p99 and the ratio; three snaps, a real token, 10,000 packages, 100,000 revisions. */
export async function permissions(): Promise<void> {
  const { directory, store, token, packageIds } = await fillStore(10_000, 10);
  await store.close();
  const body = JSON.stringify({ filters: [10, 5_000, 9_990].map((at) => ({ type: 'snap', id: packageIds[at] })) });
  const request =
    `POST /internal/v1/package-permissions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Macaroon ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  const larder = await startServer<{ port: number }>('store-server.ts', directory);
  const answer = await fetch(`http://127.0.0.1:${larder.told.port}/internal/v1/package-permissions`, {
    method: 'POST',
    headers: { authorization: `Macaroon ${token}`, 'content-type': 'application/json' },
    body,
  });
  if (answer.status !== 200) throw new Error(`cannot measure: ${answer.status} ${await answer.text()}`);
  const bare = await startServer<{ port: number }>('bare-server.ts', await answer.text());

  const load = { request, connections: 32, warmup: 500, duration: 1500 };
  const figures: { bare: Measured; larder: Measured }[] = [];
  const costs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const figure = { bare: await measure({ ...load, port: bare.told.port }) };
    const before = processorTime(larder.child);
    const answered = await measure({ ...load, port: larder.told.port });
    const requests = (answered.requestsPerSecond * (load.warmup + load.duration)) / 1000;
    costs.push(((processorTime(larder.child) - before) * 1000) / requests);
    figures.push({ ...figure, larder: answered });
  }
  await stopServer(bare.child);
  await stopServer(larder.child);
  rmSync(directory, { recursive: true, force: true });

  const middle = (side: 'bare' | 'larder'): Measured => ({
    requestsPerSecond: median(figures.map((one) => one[side].requestsPerSecond)),
    p50: median(figures.map((one) => one[side].p50)),
    p99: median(figures.map((one) => one[side].p99)),
    failures: figures.reduce((sum, one) => sum + one[side].failures, 0),
  });
  const ratios = figures.map((one) => one.larder.requestsPerSecond / one.bare.requestsPerSecond);
  console.log('package_permissions: 3 snaps, 10,000 packages, 100,000 revisions, 32 connections');
  console.log(row('bare node:http', middle('bare')));
  console.log(row('larder', middle('larder')));
  console.log(
    `  ratio ${median(ratios).toFixed(3)} (of ${rounds} rounds: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')}); ` +
      `failures ${middle('larder').failures}`,
  );
  console.log(`  processor time of larder: ${Math.min(...costs).toFixed(1)} µs a request in the best round`);
}
