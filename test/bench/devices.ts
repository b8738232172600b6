// The requests of a device at each refresh, beside bare node:http with the same bytes for the same request.
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { changeConfig } from '#configuration/config.ts';
import { deviceHeaders, fields } from '#test/fixtures/devices.ts';
import { filler, snapDetails } from '#test/fixtures/records/filler.ts';
import {
  median,
  openLoad,
  processorTime,
  startServer,
  stopServer,
  watchMachine,
  type Client,
} from './harness/measure.ts';
import { question } from './permissions.ts';
import { fillStore, type FilledStore } from './harness/store.ts';

export const items = 30;
const rounds = 7;
const slice = 1000;

/** Prints the rate and the processor time of a refresh in a small store and a large one, and the ratios to the bare server. */
export async function devices(): Promise<void> {
  console.log(`devices: a refresh with ${items} snaps of which half have something newer; 16 connections`);
  const costs: number[] = [];
  for (const packages of [100, 100_000]) costs.push(await refreshIn(packages));
  const [small = NaN, large = NaN] = costs;
  console.log(`  in a store of 100,000 packages it costs ${(large / small).toFixed(2)} of what it costs in one of 100`);
  await withFleets();
}

/** Prints the processor time of a refresh for a device of two fleets that pin half of its snaps, beside the same store without fleets. */
async function withFleets(): Promise<void> {
  const sides = [];
  for (const hasFleets of [false, true]) {
    const filled = await fillStore(100, 1);
    await releaseThem(filled);
    if (hasFleets) await addFleets(filled);
    await filled.store.close();
    changeConfig(join(filled.directory, 'larder.toml'), { 'devices.snap': true });
    const server = await startServer<{ port: number }>('store-server.ts', filled.directory);
    sides.push({ filled, server, client: await opened(questionOf(filled), server.told.port) });
  }
  const [plain, fleets] = [sides[0]!, sides[1]!];
  const [pinned, inStore] = [await ask(fleets.server.told.port, questionOf(fleets.filled)), questionOf(plain.filled)];
  const countFirstRevisions = (answer: string): number => answer.split('"revision":1,').length - 1;
  const costs: number[][] = [];
  for (let round = 0; round < rounds; round++)
    costs.push([(await figure(plain.client, plain.server)).cost, (await figure(fleets.client, fleets.server)).cost]);
  const [without = NaN, within = NaN] = [0, 1].map((side) => median(costs.map((cost) => cost[side]!)));
  const ratio = median(costs.map(([plainCost = NaN, other = NaN]) => other / plainCost));
  console.log(
    `  with fleets that pin ${countFirstRevisions(pinned)} of ${items} snaps (without them ${countFirstRevisions(await ask(plain.server.told.port, inStore))}): ` +
      `${(within / 1000).toFixed(2)} ms of processor a refresh, beside ${(without / 1000).toFixed(2)} ms: ${ratio.toFixed(2)}`,
  );
  for (const { client, server, filled } of sides) {
    await client.close();
    await stopServer(server.child);
    rmSync(filled.directory, { recursive: true, force: true });
  }
}

/** Fleets of serials, of a model and of the store; the last one has the devices of the benchmark. */
async function addFleets({ store, packageIds }: FilledStore): Promise<void> {
  const [setAt, setBy] = [new Date().toISOString(), 'bench'];
  await store.records.change({ at: setAt, actor: setBy, action: 'fill', object: 'fleets' }, async (tx) => {
    const selectors = {
      serial: Array.from({ length: 1000 }, (_, n) => `acme/pump/${n}`),
      model: ['acme/pump'],
      store: ['larder'],
    };
    for (const kind of ['serial', 'model', 'store'] as const) {
      const fleet = { name: `by-${kind}`, kind, createdAt: setAt, createdBy: setBy };
      await tx.fleets.claim(fleet);
      await tx.fleets.addSelectors(fleet, selectors[kind]);
      for (const packageId of packageIds.slice(0, items / 2)) {
        const at = { fleet: fleet.name, packageId, channel: 'latest/stable' };
        const pin = {
          slot: 'amd64',
          mode: 'pin' as const,
          revision: 1,
          follows: null,
          resources: [],
          withdrawn: false,
        };
        await tx.fleets.setChannel(at, [{ ...at, ...pin, setAt, setBy }]);
      }
    }
  });
}

/** Microseconds of processor time a refresh. */
async function refreshIn(packages: number): Promise<number> {
  const filled = await fillStore(packages, 1);
  await releaseThem(filled);
  await filled.store.close();
  changeConfig(join(filled.directory, 'larder.toml'), { 'devices.snap': true });
  const body = questionOf(filled);
  const larder = await startServer<{ port: number }>('store-server.ts', filled.directory);
  const answer = await ask(larder.told.port, body);
  const bare = await startServer<{ port: number }>('bare-server.ts', answer);
  const clients = { larder: await opened(body, larder.told.port), bare: await opened(body, bare.told.port) };
  const busy = watchMachine(larder.child, bare.child, clients.larder.child, clients.bare.child);
  const figures = [];
  for (let round = 0; round < rounds; round++) {
    figures.push({ bare: await figure(clients.bare, bare), larder: await figure(clients.larder, larder) });
  }
  const wall = median(figures.map((pair) => pair.larder.perSecond / pair.bare.perSecond));
  const processor = median(figures.map((pair) => pair.bare.cost / pair.larder.cost));
  const cost = median(figures.map((pair) => pair.larder.cost));
  console.log(
    `  ${packages} packages: ${(cost / 1000).toFixed(2)} ms of processor a refresh, ` +
      `${median(figures.map((pair) => pair.larder.perSecond)).toFixed(0)} a second; beside the bare server ${wall.toFixed(2)} by wall, ` +
      `${processor.toFixed(2)} by processor; ${answer.length} bytes (${busy()})`,
  );
  if (packages >= 10_000) await permissionsBeside(filled, larder, body, cost);
  for (const client of Object.values(clients)) await client.close();
  await stopServer(bare.child);
  await stopServer(larder.child);
  rmSync(filled.directory, { recursive: true, force: true });
  return cost;
}

/** Prints what `package_permissions` costs a gateway alone, and while devices refresh over four connections. */
async function permissionsBeside(
  { token, packageIds }: FilledStore,
  larder: Server,
  body: string,
  refresh: number,
): Promise<void> {
  const { request } = question(token, packageIds);
  const gateway = await openLoad({ port: larder.told.port, request, connections: 16 });
  await gateway.slice({ requests: 60_000 });
  const refreshing = await openLoad({ port: larder.told.port, request: requestOf(body), connections: 4, sleeps: true });
  const figures: Record<'alone' | 'beside' | 'devices' | 'p99', number>[] = [];
  for (let round = 0; round < rounds; round++) {
    const alone = await figure(gateway, larder);
    const before = processorTime(larder.child);
    const [gatewaySlice, refreshed] = await Promise.all(
      [gateway, refreshing].map((client) => client.slice({ milliseconds: slice })),
    );
    const used = (processorTime(larder.child) - before) * 1000;
    const costAlongside = (used - refreshed!.requests * refresh) / gatewaySlice!.requests;
    figures.push({
      alone: alone.cost,
      beside: costAlongside,
      devices: refreshed!.requestsPerSecond,
      p99: gatewaySlice!.p99,
    });
  }
  const middle = (of: (one: (typeof figures)[number]) => number, digits: number): string =>
    median(figures.map(of)).toFixed(digits);
  console.log(
    `  package_permissions: ${middle((round) => round.alone, 1)} µs of processor alone, ${middle((round) => round.beside, 1)} beside ` +
      `${middle((round) => round.devices, 0)} refreshes a second (${middle((round) => round.alone / round.beside, 2)}), p99 ${middle((round) => round.p99, 1)} ms`,
  );
  for (const client of [gateway, refreshing]) await client.close();
}

type Server = Awaited<ReturnType<typeof startServer<{ port: number }>>>;

const opened = async (body: string, port: number): Promise<Client> => {
  const client = await openLoad({ port, request: requestOf(body), connections: 16 });
  await client.slice({ requests: 3000 });
  return client;
};

async function figure(client: Client, { child }: Pick<Server, 'child'>) {
  const before = processorTime(child);
  const { requests, requestsPerSecond, failures } = await client.slice({ milliseconds: slice });
  if (failures > 0) throw new Error(`cannot measure: ${failures} of ${requests} failed`);
  return { perSecond: requestsPerSecond, cost: ((processorTime(child) - before) * 1000) / requests };
}

/** Of each snap a second revision is in the channel, with a snap.yaml of the usual length. */
export async function releaseThem({ store, packageIds, accountId }: FilledStore): Promise<void> {
  const at = new Date().toISOString();
  await store.records.change({ at, actor: 'bench', action: 'fill', object: 'store' }, async (tx) => {
    const fill = filler(tx, at);
    for (const [index, packageId] of packageIds.slice(0, items).entries()) {
      const packageYaml = `name: snap-${index}\nversion: '2'\nbase: core24\napps:\n  run:\n    command: bin/run\n${'# \n'.repeat(150)}`;
      const made = { packageId, createdBy: accountId, details: snapDetails, packageYaml };
      await fill.revision({ ...made, revision: 2, status: 'released' });
      await fill.release({ packageId, channel: 'latest/stable', revision: 2, slot: 'amd64', architecture: 'amd64' });
      await tx.packages.publish(packageId);
    }
  });
}

export function questionOf({ packageIds }: Pick<FilledStore, 'packageIds'>): string {
  const mine = packageIds.slice(0, items);
  return JSON.stringify({
    context: mine.map((id, at) => ({
      'snap-id': id,
      'instance-key': id,
      revision: 1 + (at % 2),
      'tracking-channel': 'latest/stable',
      epoch: { read: [0], write: [0] },
      'refreshed-date': '2026-03-01T12:00:00Z',
    })),
    actions: mine.map((id) => ({ action: 'refresh', 'instance-key': id, 'snap-id': id })),
    fields,
  });
}

const headers = { ...deviceHeaders(), 'content-type': 'application/json' };

const requestOf = (body: string): string =>
  `POST /v2/snaps/refresh HTTP/1.1\r\nHost: localhost\r\n` +
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('') +
  `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

async function ask(port: number, body: string): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${port}/v2/snaps/refresh`, { method: 'POST', headers, body });
  const text = await reply.text();
  const { results } = JSON.parse(text) as { results: { result: string }[] };
  const good = results.filter(({ result }) => result === 'refresh').length;
  if (good !== items) throw new Error(`cannot measure: ${good} of ${items} were answered: ${text.slice(0, 500)}`);
  return text;
}
