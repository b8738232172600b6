// A private snap with every kind of content, and each way to ask for it.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import type { Test } from 'tap';

import { made, timestamp } from '#test/assertions/world.ts';
import type { Reply, TestAppliance } from '#test/fixtures/appliance.ts';
import { componentFile } from '#test/fixtures/packages/components.ts';
import { deltaWork, noise, offeringDeltas } from '#test/fixtures/packages/deltas.ts';
import { deviceHeaders } from '#test/fixtures/devices.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';
import { pack } from '#test/review/packed.ts';
import { keep, startForDevices, vaultsChain } from '../world.ts';

export type Header = Record<string, string>;
export const name = 'pump-kernel';
export const grants = `/internal/v1/packages/snap/${name}/device-grants`;

/** A snap that declares a component; of two versions nearly all is the same, so that deltas are small. */
const kernel = (t: Test, version: number): Buffer => {
  const yaml = `name: ${name}\nversion: '${version}'\nsummary: s\ndescription: d\narchitectures: [all]\n`;
  const components = 'components:\n  words: {type: standard}\n';
  const files = { 'meta/snap.yaml': yaml + components, 'bin/same': noise(name, 90_000), 'bin/own': noise(yaml, 9_000) };
  return readFileSync(pack(t, files));
};

export const must = (reply: Reply): Reply => {
  if (reply.status >= 300) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
  return reply;
};

/**
 * Ada's private snap: revisions 1 and 3 were released to stable, each with the component of the same number, revision 2 to
 * edge, and revision 4 to no channel. carol collaborates on it.
 */
export async function withKernel(t: Test) {
  const { store } = await startForDevices(t, offeringDeltas);
  await keep(store, ...(await vaultsChain()));
  await store.join('carol');
  const ada = await store.as('ada');
  const { id } = must(await ada.post('/v1/snap', { name, private: true })).body as { id: string };
  const release = async (channel: string, revision: number, component: number) =>
    must(
      await ada.post(`/v1/snap/${name}/releases`, [
        { channel, revision, resources: [{ name: 'words', revision: component }] },
      ]),
    );
  for (const [version, channel] of [
    [1, 'stable'],
    [2, 'edge'],
    [3, 'stable'],
    [4, undefined],
  ] as const) {
    must(await ada.push('snap', name, kernel(t, version)));
    const content = componentFile(`${name}+words`, { text: String(version) });
    const request = { 'upload-id': await ada.upload(content), type: 'component/standard', 'package-revision': version };
    must(await ada.post(`/v1/snap/${name}/resources/words/revisions`, request));
    await store.appliance.reviewed();
    if (channel !== undefined) await release(channel, version, version);
  }
  await addCollaborator(store, id, 'carol');
  const of = { 'snap-id': id, timestamp };
  const digest = createHash('sha3-384').update(kernel(t, 3)).digest('base64url');
  await keep(
    store,
    await made('store', 'authority', 'snap-declaration', {
      series: '16',
      'snap-name': name,
      'publisher-id': 'acme',
      ...of,
    }),
    await made('store', 'authority', 'snap-revision', {
      'snap-sha3-384': digest,
      'snap-size': '1',
      'snap-revision': '3',
      'developer-id': 'acme',
      ...of,
    }),
  );
  const work = await deltaWork(t, store);
  await work.run();
  const delta = (await store.beside.records.deltas.find(id, 1, 3))?.sha3_384.slice(0, 16) ?? '';
  t.not(delta, '');
  return { store, ada, id, digest, delta, root: await store.as('root') };
}

type World = Awaited<ReturnType<typeof withKernel>>;

export const postRefresh = (
  store: TestAppliance,
  action: object,
  who: Header,
  context: object[] = [],
): Promise<Reply> =>
  store.anyone.post(
    '/v2/snaps/refresh',
    {
      context,
      actions: [{ 'instance-key': 'one', ...action }],
      fields: ['revision', 'download', 'resources', 'private'],
    },
    { ...deviceHeaders(), ...who },
  );

/** Each way to ask for something of the snap. */
export const doors: Record<string, (world: World, who: Header) => Promise<Reply>> = {
  install: ({ store }, who) => postRefresh(store, { action: 'install', name, channel: 'stable' }, who),
  'install from edge': ({ store }, who) => postRefresh(store, { action: 'install', name, channel: 'edge' }, who),
  'install by id': ({ store, id }, who) =>
    postRefresh(store, { action: 'install', 'snap-id': id, channel: 'stable' }, who),
  refresh: ({ store, id }, who) => {
    const context = [{ 'snap-id': id, 'instance-key': id, revision: 1, 'tracking-channel': 'stable' }];
    return postRefresh(store, { action: 'refresh', 'snap-id': id, 'instance-key': id }, who, context);
  },
  'revision 1 that a device has': ({ store, id }, who) => {
    const context = [{ 'snap-id': id, 'instance-key': id, revision: 1, 'tracking-channel': 'stable' }];
    return postRefresh(store, { action: 'refresh', 'snap-id': id, 'instance-key': id, revision: 1 }, who, context);
  },
  'number 2': ({ store }, who) => postRefresh(store, { action: 'download', name, revision: 2 }, who),
  'number 3': ({ store }, who) => postRefresh(store, { action: 'download', name, revision: 3 }, who),
  'number 4': ({ store }, who) => postRefresh(store, { action: 'download', name, revision: 4 }, who),
  info: ({ store }, who) => store.anyone.get(`/v2/snaps/info/${name}`, { ...deviceHeaders(), ...who }),
  cohort: ({ store }, who) => store.anyone.post('/v2/cohorts', { snaps: [name] }, who),
  ...Object.fromEntries(
    [1, 2, 3, 4].flatMap((number) => [
      [`file ${number}`, file(`${number}.snap`)] as const,
      [`component ${number}`, file(`words_${number}.comp`)] as const,
    ]),
  ),
  'part of file 3': ({ store, id }, who) =>
    store.anyone.get(`/api/v1/snaps/download/${id}_3.snap`, { ...who, range: 'bytes=10-' }),
  delta: ({ store, id, delta }, who) => store.anyone.get(`/api/v1/snaps/download/${id}_1_3_${delta}.xdelta3`, who),
  declaration: ({ store, id }, who) => store.anyone.get(`/v2/assertions/snap-declaration/16/${id}`, who),
  'snap-revision': ({ store, digest }, who) => store.anyone.get(`/v2/assertions/snap-revision/${digest}`, who),
  'fetch assertions': ({ store, id }, who) => {
    const assertions = [{ type: 'snap-declaration', 'primary-key': ['16', id] }];
    return store.anyone.post(
      '/v2/snaps/refresh',
      { context: [], actions: [{ action: 'fetch-assertions', key: 'one', assertions }] },
      who,
    );
  },
};

function file(part: string) {
  return ({ store, id }: World, who: Header): Promise<Reply> =>
    store.anyone.get(`/api/v1/snaps/download/${id}_${part}`, who);
}

/** Whether the reply has the requested content; a refusal says that it does not exist. */
export function isThere({ status, body }: Reply): boolean {
  if (status === 404) return false;
  if (status !== 200 && status !== 206) throw new Error(`${status} ${JSON.stringify(body)}`);
  const [result] = (body?.results ?? []) as { result: string; error?: { code: string }; 'error-list'?: unknown[] }[];
  if (result === undefined) return true;
  if (result['error-list'] !== undefined) return result['error-list'].length === 0;
  if (result.result !== 'error') return true;
  if (!/^(?:name-not-found|id-not-found|revision-not-found)$/.test(result.error?.code ?? ''))
    throw new Error(JSON.stringify(result));
  return false;
}

export async function openDoors(world: World, who: Header): Promise<string[]> {
  const open: string[] = [];
  for (const [door, ask] of Object.entries(doors)) {
    const reply = await ask(world, who);
    if ('authorization' in who && reply.headers.get('cache-control') !== 'private, no-store')
      throw new Error(`${door}: ${reply.headers.get('cache-control') ?? ''}`);
    if (isThere(reply)) open.push(door);
  }
  return open;
}
