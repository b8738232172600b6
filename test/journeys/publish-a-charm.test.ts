// A charm from its registration to stable, in the requests that charmcraft sends, under the prefix it is configured with.
import t from 'tap';

import { charm } from '#test/fixtures/archives.ts';
import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';

const at = '/publishergw/v1/charm';

/** What charmcraft does after every push: polls the path it was given, its own prefix before it. */
async function poll(
  store: TestAppliance,
  client: Client,
  pushed: { status: number; body: { 'status-url': string } },
): Promise<number> {
  const url = pushed.body['status-url'];
  if (!url.startsWith('/v1/charm/')) throw new Error(`charmcraft cannot follow ${url}`);
  await store.appliance.reviewed();
  const { revisions } = (await client.get(`/publishergw${url}`)).body;
  const [review, ...others] = revisions as { status: string; revision: number }[];
  if (others.length > 0 || review?.status !== 'approved')
    throw new Error(`charmcraft gives up: ${JSON.stringify(revisions)}`);
  return review.revision;
}

interface Listed {
  'channel-map': object[];
  package: { channels: object[] };
  revisions: { bases: object[] }[];
}

/** Every key that charmcraft's own parser reads without asking whether it is there. */
function readable(t: { ok(value: unknown, message: string): void }, releases: Listed): void {
  for (const entry of releases['channel-map']) {
    for (const key of ['base', 'channel', 'expiration-date', 'progressive', 'resources', 'revision', 'when'])
      t.ok(key in entry, key);
  }
  for (const channel of releases.package.channels) {
    for (const key of ['name', 'track', 'risk', 'branch', 'fallback']) t.ok(key in channel, key);
  }
  for (const revision of releases.revisions) {
    for (const key of ['revision', 'version', 'created-at', 'status', 'errors', 'bases', 'sha3-384', 'size'])
      t.ok(key in revision, key);
    for (const base of revision.bases)
      t.ok(Object.keys(base).sort().join() === 'architecture,channel,name', 'a base has three members');
  }
}

t.test('a charm with resources goes from registration to stable', async (t) => {
  const store = await startStore(t);
  const me = await store.as('ada', {
    permissions: ['account-register-package', 'account-view-packages', 'package-manage', 'package-view'],
  });

  // charmcraft login ends with whoami; register; names
  t.match(await me.get('/publishergw/v1/tokens/whoami'), {
    body: { account: { id: store.ids.ada, username: 'ada' }, packages: null, channels: null },
  });
  t.match(await me.post(at, { name: 'hello', type: 'charm' }), { status: 200, body: { id: /^\w{32}$/ } });
  t.match((await me.get(at)).body.results, [
    { name: 'hello', private: false, status: 'registered', type: 'charm', publisher: { 'display-name': 'Ada' } },
  ]);

  // charmcraft upload
  const declared = 'resources:\n  config: {type: file, filename: config.txt}\n  image: {type: oci-image}\n';
  const upload = async (files = {}): Promise<number> => {
    await me.get('/publishergw/v1/tokens/whoami');
    const id = await me.upload(charm('hello', files, declared));
    return poll(store, me, await me.post(`${at}/hello/revisions`, { 'upload-id': id }));
  };
  t.equal(await upload(), 1);
  t.equal(await upload({ dispatch: '#!/bin/sh\n# second\n' }), 2);
  t.match((await me.get(`${at}/hello/revisions`)).body.revisions, [
    {
      revision: 2,
      version: '2',
      status: 'approved',
      errors: null,
      bases: [{ name: 'ubuntu', channel: '22.04', architecture: 'amd64' }, {}],
    },
    { revision: 1 },
  ]);
  t.match((await me.get(`${at}/hello/revisions?include-craft-yaml=true&revision=1`)).body.revisions, [
    { 'craft-yaml': /^type: charm/ },
  ]);

  // charmcraft resources, upload-resource (a file, then what an image registry answered), resource-revisions
  t.match((await me.get(`${at}/hello/resources`)).body.resources, [
    { name: 'config', type: 'file' },
    { name: 'image', type: 'oci-image' },
  ]);
  const uploadResource = async (name: string, content: string, body: object): Promise<number> => {
    await me.get('/publishergw/v1/tokens/whoami');
    const id = await me.upload(content);
    return poll(store, me, await me.post(`${at}/hello/resources/${name}/revisions`, { 'upload-id': id, ...body }));
  };
  const everywhere = [{ name: 'all', channel: 'all', architectures: ['all'] }];
  t.equal(await uploadResource('config', 'a: b', { type: 'file', bases: everywhere }), 1);
  t.equal(
    await uploadResource('image', '{"ImageName": "x"}', { type: 'oci-image', bases: [{ architectures: ['all'] }] }),
    1,
  );
  t.match((await me.get(`${at}/hello/resources/image/revisions`)).body.revisions, [
    { revision: 1, type: 'oci-image', bases: everywhere },
  ]);

  // charmcraft set-resource-architectures
  const armed = [{ name: 'all', channel: 'all', architectures: ['amd64', 'arm64'] }];
  t.match(
    await me.patch(`${at}/hello/resources/config/revisions`, {
      'resource-revision-updates': [{ revision: 1, bases: armed }],
    }),
    {
      body: { 'num-resource-revisions-updated': 1 },
    },
  );
  t.match((await me.get(`${at}/hello/resources/config/revisions`)).body.revisions, [{ bases: armed }]);

  // charmcraft release, status
  const resources = [
    { name: 'config', revision: 1 },
    { name: 'image', revision: 1 },
  ];
  t.match(await me.post(`${at}/hello/releases`, [{ revision: 1, channel: 'edge', resources }]), {
    status: 200,
    body: { released: [{ channel: 'latest/edge' }] },
  });
  const status = (await me.get(`${at}/hello/releases`)).body;
  readable(t, status);
  t.match(status.package.channels, [
    { name: 'latest/stable', fallback: null },
    { name: 'latest/candidate', fallback: 'latest/stable' },
    { name: 'latest/beta', fallback: 'latest/candidate' },
    { name: 'latest/edge', fallback: 'latest/beta' },
  ]);

  // charmcraft promote: edge → stable, with what edge holds
  await me.get(`${at}/hello`);
  const held = (await me.get(`${at}/hello/releases`)).body['channel-map'] as {
    channel: string;
    revision: number;
    resources: typeof resources;
  }[];
  const promoted = held
    .filter(({ channel }) => channel === 'latest/edge')
    .map(({ revision, resources }) => ({
      channel: 'latest/stable',
      revision,
      resources: resources.map(({ name, revision }) => ({ name, revision })),
    }));
  t.match(await me.post(`${at}/hello/releases`, promoted), { status: 200 });
  t.match((await me.get(`${at}/hello/releases`)).body['channel-map'], [
    { channel: 'latest/stable', revision: 1 },
    { channel: 'latest/stable' },
    { channel: 'latest/edge' },
    { channel: 'latest/edge' },
  ]);
  t.match((await me.get(`${at}/hello`)).body.metadata, { status: 'published' });

  // charmcraft close, unregister
  t.match(await me.post(`${at}/hello/releases`, [{ revision: null, channel: 'edge' }]), { status: 200 });
  t.match(await me.delete(`${at}/hello`), {
    status: 403,
    body: { 'error-list': [{ message: 'Cannot unregister a package with existing revisions' }] },
  });
});

t.test('a track is created within its guardrails, and released to', async (t) => {
  const store = await startStore(t);
  const me = await store.as('ada');
  const { id } = (await me.post(at, { name: 'hello', type: 'charm' })).body;
  t.match(await me.post(`${at}/hello/tracks`, [{ name: '2.0', 'automatic-phasing-percentage': null }]), {
    status: 400,
  });
  const moment = store.clock.now.toISOString();
  await store.beside.records.change(
    { at: moment, actor: 'test', action: 'guardrail add', object: 'charm/hello' },
    (tx) => tx.guardrails.claim(id, { pattern: '\\d+\\.\\d+', createdAt: moment }),
  );
  // charmcraft create-track prints what the metadata says afterwards
  t.match(await me.post(`${at}/hello/tracks`, [{ name: '2.0', 'automatic-phasing-percentage': '50' }]), {
    status: 201,
    body: { 'num-tracks-created': 1 },
  });
  t.match((await me.get(`${at}/hello`)).body.metadata, {
    tracks: [{ name: 'latest' }, { name: '2.0', 'automatic-phasing-percentage': 50 }],
    'track-guardrails': [{ pattern: '\\d+\\.\\d+' }],
  });
  const upload = await me.upload(charm('hello'));
  await poll(store, me, await me.post(`${at}/hello/revisions`, { 'upload-id': upload }));
  t.match(await me.post(`${at}/hello/releases`, [{ revision: 1, channel: '2.0/edge/fix' }]), { status: 200 });
  t.match((await me.get(`${at}/hello/releases`)).body['channel-map'], [
    { channel: '2.0/edge/fix', 'expiration-date': /Z$/ },
    {},
  ]);
});

t.test('two people work on one charm', async (t) => {
  const store = await startStore(t);
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  await ada.post(at, { name: 'hello', type: 'charm' });
  const { tokens } = (await ada.post(`${at}/hello/collaborators/invites`, { invites: [{ email: 'bob@example.com' }] }))
    .body;
  t.match((await bob.get(`${at}?include-collaborations=true`)).body.results, []);
  t.match(await bob.post(`${at}/hello/collaborators/invites/accept`, { token: tokens[0].token }), { status: 204 });
  t.match((await bob.get(`${at}?include-collaborations=true`)).body.results, [
    { name: 'hello', publisher: { id: store.ids.ada } },
  ]);
  t.match((await bob.get(at)).body.results, []);
  const upload = await bob.upload(charm('hello'));
  t.equal(await poll(store, bob, await bob.post(`${at}/hello/revisions`, { 'upload-id': upload })), 1);
  t.match(await bob.post(`${at}/hello/releases`, [{ revision: 1, channel: 'edge' }]), { status: 200 });
  t.match((await ada.get(`${at}/hello/releases`)).body['channel-map'], [{ revision: 1 }, { revision: 1 }]);
  t.match(await bob.delete(`${at}/hello`), {
    status: 401,
    body: { 'error-list': [{ message: 'Charms can only be unregistered by their publisher' }] },
  });
});
