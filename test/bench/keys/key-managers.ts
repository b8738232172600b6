// Ordinary requests beside a key manager that hangs: signatures wait for the device, and no other request does.
import { generateKeyPairSync } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';

import { changeConfig } from '#configuration/config.ts';
import { encodePublicKey, fingerprint, keyId } from '#assertions/format/openpgp.ts';
import { managedKeyPrefix } from '#records/keys/signing-keys.ts';
import { startServer, stopServer } from '../harness/measure.ts';
import { fillStore } from '../harness/store.ts';

const requestCount = 1000;
const rounds = 5;
/** Signatures that wait for the device meanwhile, all that may run and more. */
const waitingCount = 16;

/** Prints the time of requests without and with signatures that wait for a device which hangs for 30 s (wanted: p99 at most twice). */
export async function keyManagers(): Promise<void> {
  const { directory, store, accountId, token } = await fillStore(0, 0);
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 4096 });
  const at = new Date().toISOString();
  await store.records.change({ at, actor: 'bench', action: 'fill', object: 'brand' }, async (tx) => {
    const made = { createdAt: at, createdBy: accountId, modifiedAt: null, modifiedBy: null };
    await tx.brands.claim({ accountId, name: 'Bench', ...made });
    await tx.signingKeys.claim({
      sha3_384: keyId(publicKey),
      fingerprint: fingerprint(publicKey),
      publicKey: encodePublicKey(publicKey),
      sealed: `${managedKeyPrefix}bench`,
      brandAccountId: accountId,
      name: 'bench',
      requestedAt: null,
      ...made,
    });
  });
  await store.close();
  const manager = join(directory, 'hangs');
  writeFileSync(manager, '#!/bin/sh\nexec sleep 30\n', { mode: 0o755 });
  changeConfig(join(directory, 'larder.toml'), { 'keys.manager': manager, 'keys.timeout_seconds': 30 });

  const larder = await startServer<{ port: number }>('store-server.ts', directory);
  const base = { host: '127.0.0.1', port: larder.told.port, headers: { authorization: `Macaroon ${token}` } };
  const sign = `/v1/brand/${accountId}/signing_key/${keyId(publicKey)}/account-key-request`;
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const measured = { alone: [] as number[], beside: [] as number[] };
  await measureRequests({ ...base, agent });
  for (let round = 0; round < rounds; round++) {
    measured.alone.push(...(await measureRequests({ ...base, agent })));
    const hanging = Array.from({ length: waitingCount }, () =>
      get({ ...base, agent: new Agent(), method: 'POST', path: sign })
        .on('error', () => undefined)
        .on('response', () => {
          throw new Error('cannot measure: the device did not hang');
        }),
    );
    measured.beside.push(...(await measureRequests({ ...base, agent })));
    for (const request of hanging) request.destroy();
  }
  agent.destroy();
  await stopServer(larder.child);
  rmSync(directory, { recursive: true, force: true });

  console.log(
    `key-managers: GET /v1/tokens/whoami, 4 connections, beside ${String(waitingCount)} signatures of a device that hangs`,
  );
  for (const [name, times] of Object.entries(measured))
    console.log(
      `  ${name.padEnd(8)} p50 ${percentile(times, 0.5)} ms   p99 ${percentile(times, 0.99)} ms   (${String(times.length)} requests)`,
    );
  console.log(
    `  p99 beside / alone ${(Number(percentile(measured.beside, 0.99)) / Number(percentile(measured.alone, 0.99))).toFixed(2)} (wanted: at most 2)`,
  );
}

const percentile = (times: readonly number[], part: number): string =>
  (times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? NaN).toFixed(2);

/** The time of each of many requests in milliseconds, one after the other on each of four connections. */
async function measureRequests(options: object): Promise<number[]> {
  const times: number[] = [];
  const measureRequest = (): Promise<void> => {
    const begun = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    get({ ...options, path: '/v1/tokens/whoami' }, (response) => {
      response.resume().once('end', () => {
        times.push(performance.now() - begun);
        resolve(undefined);
      });
    }).once('error', reject);
    return promise;
  };
  const turns = async (): Promise<void> => {
    for (let count = 0; count < requestCount / 4; count++) await measureRequest();
  };
  await Promise.all([turns(), turns(), turns(), turns()]);
  return times;
}
