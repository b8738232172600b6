// One worker beside two, a file beside a PostgreSQL server, and two hosts on that server beside one: the same questions and the same
// changes to the same store.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { changeConfig } from '#configuration/config.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { moveRecords, startMeasuredServer } from './harness/on-postgres.ts';
import { begin, compare, connections, end, type Side, type Work } from './harness/sides.ts';
import { fillStore, type FilledStore } from './harness/store.ts';

/**
 * Prints the rates and the cost of a request on both sides. LARDER_ONLY='engines|hosts' leaves out all other
 * comparisons, such as `workers`, and LARDER_ONLY='workers: (the same|register)' all but some requests.
 */
export async function scale(): Promise<void> {
  const filled = await fillStore(10_000, 10);
  await publishAll(filled);
  await filled.store.close();
  const { directory } = filled;
  changeConfig(join(directory, 'larder.toml'), { 'internal.package_permissions': true });
  const only = new RegExp(process.env['LARDER_ONLY'] ?? '');
  console.log(`scale: 10,000 packages, 100,000 revisions, ${String(connections)} connections`);
  const selectWorks = (group: string): WorkOfSides[] =>
    worksOf(filled).filter(({ name }) => only.test(`${group}: ${name}`));
  const [workers, engines, hosts] = [selectWorks('workers'), selectWorks('engines'), selectWorks('hosts')];
  if (workers.length > 0) await compareWorkers(filled, workers);
  if (engines.length > 0 || hosts.length > 0) await compareEngines(filled, engines, hosts);
  rmSync(directory, { recursive: true, force: true });
}

/** Every package has something released, so that a release is one as it is most of the time. */
async function publishAll({ store, packageIds }: FilledStore): Promise<void> {
  const at = new Date().toISOString();
  await store.records.change({ at, actor: 'bench', action: 'fill', object: 'store' }, async (tx) => {
    const slot = { slot: 'amd64', architecture: 'amd64' };
    for (const packageId of packageIds) {
      await filler(tx, at).release({ packageId, channel: 'latest/stable', revision: 1, ...slot });
      await tx.packages.publish(packageId);
    }
  });
}

/**
 * Two workers on two processors beside one on one, each with a client on its processor, and two stores beside one:
 * these share only the machine, so a loss that shows there too is that of the machine. With a third process for all
 * clients, two stores came to 1.55 on a machine that gives 2.00 this way: a process that is moved all the time finds
 * cold caches.
 */
async function compareWorkers(filled: FilledStore, works: readonly WorkOfSides[]): Promise<void> {
  const [first, other, two] = [copyOf(filled.directory), copyOf(filled.directory), copyOf(filled.directory)];
  changeConfig(join(two, 'larder.toml'), { 'http.workers': 2 });
  const both = [0, 1];
  const single: Side = { name: 'one process', serving: [await begin(first)], processors: both.slice(0, 1) };
  const workers: Side = { name: 'two workers', serving: [await begin(two)], processors: both };
  const stores: Side = { name: 'two stores', serving: [...single.serving, await begin(other)], processors: both };
  const spread = [workers, stores].map((side) => ({ ...side, name: `${side.name}, spread`, spread: true }));
  for (const each of works) {
    const work = { ...each, load: { ...each.load, sleeps: true } };
    await compare(work, [single, workers]);
    if (work.changes) continue;
    for (const side of [stores, ...spread]) await compare(work, [single, side]);
  }
  await leave([stores, workers], [first, other, two]);
}

async function compareEngines(
  filled: FilledStore,
  works: readonly WorkOfSides[],
  ofHosts: readonly WorkOfSides[],
): Promise<void> {
  const [file, host] = [copyOf(filled.directory), copyOf(filled.directory)];
  const server = await startMeasuredServer();
  await moveRecords(host, server);
  const other = copyOf(host);
  const onServer: Side = { name: 'PostgreSQL', serving: [await begin(host)], server };
  const inFile: Side = { name: 'SQLite', serving: [await begin(file)] };
  for (const work of works) await compare(work, [inFile, onServer]);
  const second = await begin(other);
  const hosts = [
    { ...onServer, name: 'one host' },
    { name: 'two hosts', serving: [...onServer.serving, second], server },
  ] as const;
  for (const work of ofHosts.filter(({ changes }) => !changes))
    await compare({ ...work, load: { ...work.load, sleeps: true } }, hosts);
  await leave([inFile, hosts[1]], [file, host, other]);
  await server.end();
}

let copies = 0;

function copyOf(directory: string): string {
  const copy = `${directory}-${String(++copies)}`;
  cpSync(directory, copy, { recursive: true });
  return copy;
}

async function leave(sides: readonly Side[], directories: readonly string[]): Promise<void> {
  for (const serving of sides.flatMap((side) => side.serving)) await end(serving);
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
}

/** Each request is another one: of a thousand, or of more than are asked. */
const [thousand, never] = [1000, 1e9];

type WorkOfSides = Work & { changes: boolean };

function worksOf(filled: FilledStore): WorkOfSides[] {
  const [permissions, list] = [permissionsOf(filled), listOf(filled)];
  // Until it is compiled: a server that is not costs three times as much.
  const questions = {
    warmup: { requests: 60_000, milliseconds: 20_000 },
    slice: { milliseconds: 1000 },
    changes: false,
  };
  const changes = { warmup: { requests: 3000 }, slice: { requests: 400 }, changes: true };
  return [
    { name: 'the same question', load: { request: permissions.request }, ...questions },
    {
      name: '1,000 different questions',
      load: { ...permissions, turns: { ...permissions.turns, different: thousand } },
      ...questions,
    },
    { name: 'no question twice', load: permissions, ...questions },
    { name: 'a list, of another package each time', load: list, ...questions },
    { name: 'register_name', load: { ...registrationOf(filled), sleeps: true }, ...changes },
    { name: 'release', load: { ...releaseOf(filled), sleeps: true }, ...changes },
  ];
}

type Asking = Required<Pick<Work['load'], 'request' | 'turns'>>;

function permissionsOf({ token, packageIds }: FilledStore): Asking {
  const sampleIds = [10, 5_000, 9_990].map((at) => packageIds[at]!);
  const filters = JSON.stringify({ filters: sampleIds.map((id) => ({ type: 'snap', id })) });
  const request = requestOf('POST /internal/v1/package-permissions', token, filters);
  return {
    request,
    turns: { places: sampleIds.map((id) => request.indexOf(id)), texts: packageIds, different: never },
  };
}

/** Digits take the places of a name's `#`. */
function turning(request: string, from: number): Asking {
  const places = [...request.matchAll(/#/g)].map(({ index }) => index);
  const texts = Array.from({ length: 10 - from }, (_, digit) => String(from + digit));
  return { request, turns: { places, texts, different: never } };
}

const listOf = ({ token }: FilledStore): Asking => turning(requestOf('GET /v1/snap/snap-####/revisions', token), 1);

const registrationOf = ({ token }: FilledStore): Asking =>
  turning(requestOf('POST /v1/snap', token, JSON.stringify({ name: 'new-name-#########' })), 0);

/** Each package has its first revision there, and gets the second one. */
const releaseOf = ({ token }: FilledStore): Asking => {
  const releases = [{ channel: 'latest/stable', revision: 2 }];
  return turning(requestOf('POST /v1/snap/snap-####/releases', token, JSON.stringify(releases)), 1);
};

const requestOf = (line: string, token: string, body = ''): string =>
  `${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Macaroon ${token}\r\n` +
  (body === '' ? '\r\n' : `Content-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`);
