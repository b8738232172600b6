// A fleet that comes back after a power cut: each device proves who it is and refreshes, all of them from one address; and
// many slow downloads at once, beside which others are answered.
import { rmSync, writeFileSync } from 'node:fs';
import { Agent, get, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { toAssertionRecord } from '#acts/assertions/assertions.ts';
import { joined } from '#assertions/format/assertion.ts';
import { signAssertion } from '#assertions/keys/signer.ts';
import { seconds } from '#domain/clock.ts';
import { changeConfig } from '#configuration/config.ts';
import { deviceHeaders } from '#test/fixtures/devices.ts';
import { account, accountKey, keys, signer, storeKey, trusted } from '#test/assertions/world.ts';
import { serveByWorkers } from '#test/fixtures/processes/workers.ts';
import { modelOf, pump, serialOf } from '#test/operations/devices/world.ts';
import { items, questionOf, releaseThem } from './devices.ts';
import { filled } from './downloads.ts';
import {
  openLoad,
  peakMemory,
  processorTime,
  residentMemory,
  startServer,
  stopServer,
  watchMachine,
} from './harness/measure.ts';
import { fillStore, type FilledStore } from './harness/store.ts';

/**
 * The number of devices and the number of seconds. A fleet takes ten minutes in all, with a tenth of it in a dense
 * phase; or the whole fleet comes within one. LARDER_ONLY=60 runs only the phase of that many seconds.
 * LARDER_FLEET=20000/120 runs one phase of that many devices within that many seconds, and no slow downloads.
 */
const [ownDevices, ownSeconds] = (process.env['LARDER_FLEET'] ?? '').split('/').map(Number);
const usualFleets =
  process.env['LARDER_LONG'] === '1'
    ? [
        { devices: 20_000, within: 600 },
        { devices: 20_000, within: 60 },
      ]
    : [{ devices: 2_000, within: 60 }];
const fleets = ownSeconds
  ? [{ devices: ownDevices ?? 0, within: ownSeconds }]
  : usualFleets.filter(({ within }) => [String(within), undefined].includes(process.env['LARDER_ONLY']));
/** The number of serving processes. */
const workers = Number(process.env['LARDER_WORKERS'] ?? 1);
/** Devices that come one after the other at the end, to measure the cost of each of their requests. */
const measuredCount = 500;
const slow = 1_000;

export async function fleet(): Promise<void> {
  for (const fleetCase of fleets) await comeBack(fleetCase);
  if (!ownSeconds) await slowDownloads();
}

interface FleetServer {
  port: number;
  /** The processes that serve. */
  processes: { pid?: number | undefined }[];
  stop(): Promise<unknown>;
}

async function startFleetServer(directory: string): Promise<FleetServer> {
  if (workers === 1) {
    const { child, told: ready } = await startServer<{ port: number }>('store-server.ts', directory);
    return { port: ready.port, processes: [child], stop: () => stopServer(child) };
  }
  const served = await serveByWorkers({ teardown: () => undefined }, directory, workers);
  await served.serving(workers);
  const processes = [
    served.process,
    ...served
      .pids()
      .values()
      .map((pid) => ({ pid })),
  ];
  return { port: Number(new URL(served.url).port), processes, stop: () => served.stop() };
}

/** One request of a device. */
type DeviceRequest = 'nonce' | 'session' | 'refresh';
const paths: Readonly<Record<DeviceRequest, string>> = {
  nonce: '/api/v1/snaps/auth/nonces',
  session: '/api/v1/snaps/auth/sessions',
  refresh: '/v2/snaps/refresh',
};

type Call = (kind: DeviceRequest, content: string, headers?: Record<string, string>) => Promise<string>;

/** What each device sends: its number gives its serial. */
interface Devices {
  serials: readonly string[];
  model: string;
  body: string;
}

async function refreshDevice(number: number, { serials, model, body }: Devices, call: Call): Promise<void> {
  const { nonce } = JSON.parse(await call('nonce', '')) as { nonce: string };
  const headers = { ...pump, serial: String(number), nonce, timestamp: '2016-01-01T00:00:00Z' };
  const signed = await signAssertion(signer, keys.device.id, {
    type: 'device-session-request',
    headers,
    signedAt: new Date(),
  });
  const texts = { 'device-session-request': signed, 'serial-assertion': serials[number], 'model-assertion': model };
  const reply = JSON.parse(await call('session', JSON.stringify(texts))) as { macaroon: string };
  const session = { ...deviceHeaders(), 'snap-device-authorization': `Macaroon root="${reply.macaroon}"` };
  await call('refresh', body, session);
}

async function comeBack({ devices, within }: (typeof fleets)[number]): Promise<void> {
  const store = await fillStore(100, 1);
  await releaseThem(store);
  await trust(store);
  const body = questionOf(store);
  const model = joined(await modelOf());
  const serials = [];
  for (let number = 0; number < devices; number++) {
    serials.push(joined(await serialOf({ serial: String(number) })));
  }
  const all = { serials, model, body };
  const server = await startFleetServer(store.directory);
  const used = (): number => server.processes.reduce((sum, process) => sum + processorTime(process), 0);
  const [busy, began, usedBefore] = [watchMachine(...server.processes), performance.now(), used()];
  const took: number[] = [];
  const refused = new Map<number, number>();
  let again = 0;
  const call: Call = async (kind, content, headers) => {
    const from = performance.now();
    const { status, text } = await asSnapd(
      () => ask(server.port, paths[kind], content, headers),
      () => again++,
    );
    took.push(performance.now() - from);
    if (status !== 200) refused.set(status, (refused.get(status) ?? 0) + 1);
    return text;
  };
  const comes = async (number: number): Promise<void> => {
    await pause(Math.max(0, began + (number * seconds(within)) / devices - performance.now()));
    await refreshDevice(number, all, call);
  };
  const gone = (await Promise.allSettled([...serials.keys()].map(comes))).filter(
    ({ status }) => status === 'rejected',
  ).length;
  const lasted = (performance.now() - began) / 1000;
  const cost = (used() - usedBefore) / devices;
  const told429 = [...refused].map(([status, times]) => `${times} times ${status}`).join(', ') || 'nobody was refused';
  const broken = `${again} calls were tried again, and ${gone} devices gave up`;
  const peak = server.processes.reduce((sum, { pid }) => sum + peakMemory(pid), 0);
  console.log(
    `fleet: ${devices} devices within ${within} s behind one address, all served after ${lasted.toFixed(0)} s, nonce, session and a refresh of ${items} snaps each\n` +
      `  ${percentile(took, 0.5)} ms p50, ${percentile(took, 0.99)} ms p99, ${percentile(took, 1)} ms at most; ` +
      `${cost.toFixed(1)} ms of processor a device; ${told429}; ${broken}; ` +
      `peak resident memory ${peak.toFixed(0)} MiB (${busy()})`,
  );
  if (ownSeconds) await splitCost(all, call, used);
  await server.stop();
  rmSync(store.directory, { recursive: true, force: true });
}

/** Prints the processor time of each request of a device. */
async function splitCost(all: Devices, call: Call, used: () => number): Promise<void> {
  const costs: Record<DeviceRequest, number[]> = { nonce: [], session: [], refresh: [] };
  const measuredCall: Call = async (kind, ...rest) => {
    const before = used();
    const text = await call(kind, ...rest);
    costs[kind].push(used() - before);
    return text;
  };
  for (let number = 0; number < Math.min(measuredCount, all.serials.length); number++)
    await refreshDevice(number, all, measuredCall);
  const mean = (some: readonly number[]): string => (some.reduce((sum, ms) => sum + ms, 0) / some.length).toFixed(2);
  const split = Object.entries(costs).map(([kind, some]) => `${kind} ${mean(some)}`);
  console.log(`  ms of processor a request, one after the other: ${split.join(', ')}`);
}

/** The brand of the devices is trusted. */
async function trust({ store, directory }: FilledStore): Promise<void> {
  const at = new Date().toISOString();
  const chain = [storeKey, await account('acme'), await accountKey('ada', 'acme', 'default')];
  await store.records.change({ at, actor: 'bench', action: 'fill', object: 'store' }, async (tx) => {
    for (const assertion of chain)
      await tx.assertions.keep(toAssertionRecord(assertion, 'imported', { at, actor: 'bench' }));
  });
  await store.close();
  writeFileSync(join(directory, 'roots'), trusted);
  const trusts = { 'devices.snap': true, 'assertions.trusted': [join(directory, 'roots')] };
  changeConfig(join(directory, 'larder.toml'), trusts);
}

/** snapd tries again where a connection breaks: five times, each after a longer while. */
async function asSnapd<Reply>(once: () => Promise<Reply>, again: () => void): Promise<Reply> {
  for (let wait = 500; ; wait *= 2.5) {
    try {
      return await once();
    } catch (error) {
      if (wait > 20_000) throw error;
      again();
      await pause(wait);
    }
  }
}

async function ask(
  port: number,
  path: string,
  content: string,
  headers = {},
): Promise<{ status: number; text: string }> {
  const sent = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content), ...headers };
  const call = request({ host: '127.0.0.1', port, path, method: 'POST', headers: sent, agent: false }).end(content);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  const text = (await response.setEncoding('utf8').toArray()).join('');
  return { status: response.statusCode ?? 0, text };
}

/** The event loop and the memory of a server with many clients at sixteen kilobytes a second each. */
async function slowDownloads(): Promise<void> {
  const { child, port, path, headers, directory } = await filled();
  // By a process of its own: this one is busy with a thousand connections.
  const others = await openLoad({
    port,
    connections: 1,
    sleeps: true,
    request: 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n',
  });
  await others.slice({ requests: 500 });
  const alone = await others.slice({ milliseconds: 3000 });
  const [busy, before] = [watchMachine(child), residentMemory(child.pid)];
  const agent = new Agent({ maxSockets: Infinity });
  const taken = await Promise.all(
    Array.from({ length: slow }, async () => {
      const [response] = (await once(get({ host: '127.0.0.1', port, path, headers, agent }), 'response')) as [
        IncomingMessage,
      ];
      return response;
    }),
  );
  const reading = setInterval(() => taken.forEach((response) => void response.read(16 * 1024)), 1000);
  await pause(10_000);
  const used = processorTime(child);
  const alongside = await others.slice({ milliseconds: 10_000 });
  const cost = (processorTime(child) - used) / alongside.requests;
  const after = residentMemory(child.pid);
  console.log(
    `${taken.filter(({ statusCode }) => statusCode === 200).length} slow downloads at once: ` +
      `others wait ${alongside.p50.toFixed(2)} ms p50, ${alongside.p99.toFixed(2)} ms p99 (${alone.p50.toFixed(2)} and ` +
      `${alone.p99.toFixed(2)} without them) at ${cost.toFixed(3)} ms of processor each; ` +
      `resident memory ${before.toFixed(0)} → ${after.toFixed(0)} MiB (${busy()})`,
  );
  clearInterval(reading);
  agent.destroy();
  await others.close();
  await stopServer(child);
  rmSync(directory, { recursive: true, force: true });
}

const percentile = (numbers: readonly number[], part: number): string =>
  (numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))] ?? NaN).toFixed(
    1,
  );
