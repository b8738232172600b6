// Signing account-key-requests without delaying other clients, and checking the signed assertions.
import { rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import { stream } from '#assertions/format/assertion.ts';
import { acceptUpload } from '#assertions/chain.ts';
import { makeSealedKey } from '#assertions/keys/sealed-keys.ts';
import { readMasterKey } from '#data/secrets.ts';
import { adasAccount, adasKey, nothingKnown, storeKey } from '#test/assertions/world.ts';
import { measure, processorTime, row, startServer, stopServer } from './harness/measure.ts';
import { fillStore } from './harness/store.ts';

/**
 * Prints requests per second and the time of /healthz under that load (wanted: 200, p99 50 ms), and the time of a chain
 * check (20 ms).
 */
export async function signing(): Promise<void> {
  const { directory, store, accountId, token } = await fillStore(0, 0);
  const master = readMasterKey({ directory, credentials: undefined, masterKeyFile: undefined });
  if (master === undefined)
    throw new Error(`cannot measure: there is no master key in ${join(directory, 'master.key')}`);
  const key = await makeSealedKey(master, accountId);
  const at = new Date().toISOString();
  await store.records.change({ at, actor: 'bench', action: 'fill', object: 'brand' }, async (tx) => {
    const made = { createdAt: at, createdBy: accountId, modifiedAt: null, modifiedBy: null };
    await tx.brands.claim({ accountId, name: 'Bench', ...made });
    await tx.signingKeys.claim({ ...key, brandAccountId: accountId, name: 'bench', requestedAt: null, ...made });
  });
  await store.close();

  const larder = await startServer<{ port: number }>('store-server.ts', directory);
  const { port } = larder.told;
  const request =
    `POST /v1/brand/${accountId}/signing_key/${key.sha3_384}/account-key-request HTTP/1.1\r\nHost: localhost\r\n` +
    `Authorization: Macaroon ${token}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
  const probe = probing(port);
  const load = { port, request, connections: 16, sleeps: true };
  await measure({ ...load, warmup: 500, duration: 500 });
  const before = processorTime(larder.child);
  const signed = await measure({ ...load, warmup: 0, duration: 5000 });
  const answered = signed.requests;
  const used = processorTime(larder.child) - before;
  const health = await probe.stop();
  await stopServer(larder.child);
  rmSync(directory, { recursive: true, force: true });

  console.log('signing: account-key-requests with a key of 4096 bits, 16 connections, beside /healthz every 10 ms');
  console.log(row('account-key-request', signed));
  console.log(
    `  processor time of the server ${(used / answered).toFixed(2)} ms a request, at most ${String(Math.floor((1000 * availableParallelism() * answered) / used))} a second of all processors`,
  );
  console.log(
    `  /healthz meanwhile           p50 ${at50(health)} ms   p99 ${at99(health)} ms   (${health.length} asked); failures ${signed.failures}`,
  );

  const upload = stream([adasKey, adasAccount, storeKey]);
  const checks = Array.from({ length: 200 }, () => {
    const begun = performance.now();
    acceptUpload(upload, nothingKnown);
    return performance.now() - begun;
  });
  console.log(
    `  chain check of an import     p50 ${at50(checks)} ms   p99 ${at99(checks)} ms   first ${(checks[0] ?? NaN).toFixed(2)} ms`,
  );
}

const share = (times: readonly number[], part: number): string =>
  (times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? NaN).toFixed(2);
const at50 = (times: readonly number[]): string => share(times, 0.5);
const at99 = (times: readonly number[]): string => share(times, 0.99);

/** Asks for /healthz every 10 ms over connections that stay open; stopping gives how long each answer took. */
function probing(port: number): { stop(): Promise<number[]> } {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  const under = new Set<Promise<void>>();
  const ask = (): void => {
    const begun = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    get({ port, host: '127.0.0.1', path: '/healthz', agent }, (response) => {
      response.resume().once('end', () => {
        times.push(performance.now() - begun);
        resolve(undefined);
      });
    }).once('error', reject);
    under.add(promise);
    void promise.finally(() => under.delete(promise));
  };
  const timer = setInterval(ask, 10);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(under);
      agent.destroy();
      return times;
    },
  };
}
