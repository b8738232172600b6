// What the token of an account fetches at the interface for devices, as the tools do that build images: each caller, at each door.
import { readFileSync } from 'node:fs';

import t from 'tap';

import { days } from '#domain/clock.ts';
import type { Attenuated, Reply } from '#test/fixtures/appliance.ts';
import { refresh, servingSnaps } from '#test/fixtures/devices.ts';
import { raw, request } from '#test/fixtures/clients/raw.ts';
import { snapcraft } from '#test/fixtures/clients/snapcraft.ts';
import { pack } from '#test/review/packed.ts';
import { password, startIdentity } from '#test/identity/world.ts';
import {
  doors,
  grants,
  isThere,
  must,
  name,
  openDoors,
  postRefresh,
  withKernel,
  type Header,
} from './account-tokens-world.ts';
import { sessionOf, startForDevices } from '../world.ts';

t.setTimeout(600_000);

const every = Object.keys(doors);
const unreleased = ['number 4', 'file 4', 'component 4'];
const released = every.filter((door) => !unreleased.includes(door));
/** What holds without regard to channels, and what there is of edge. */
const ofEdge = ['install from edge', 'number 2', 'info', 'cohort', 'file 2', 'component 2'];
const about = ['declaration', 'snap-revision', 'fetch assertions'];
const inOrder = (open: readonly string[]): string[] => every.filter((door) => open.includes(door));

t.test('a token fetches what its account, its permissions, packages and channels allow, at every door', async (t) => {
  const world = await withKernel(t);
  const { store, id, root } = world;
  const as = async (person: string, attenuated: Attenuated = {}): Promise<Header> => ({
    authorization: `Macaroon ${(await store.as(person, attenuated)).token}`,
  });
  const other = { type: 'snap', name: 'other' } as const;
  const packages = [{ type: 'snap', name }] as const;
  const views = ['package-view-revisions'] as const;
  const rows: [string, Header, readonly string[]][] = [
    ['no token', {}, []],
    ['the publisher', await as('ada'), every],
    ['a collaborator', await as('carol'), every],
    ['another account', await as('bob'), []],
    ['a store administrator, who has no part in it', await as('root'), []],
    ['package-view-revisions', await as('ada', { permissions: [...views] }), every],
    ['package-view', await as('ada', { permissions: ['package-view'] }), every],
    ['package-manage', await as('ada', { permissions: ['package-manage'] }), released],
    ['package-manage-releases', await as('carol', { permissions: ['package-manage-releases'] }), released],
    ['package-view-releases', await as('ada', { permissions: ['package-view-releases'] }), []],
    ['no permission', await as('ada', { permissions: [] }), []],
    ['this package', await as('ada', { packages: [...packages] }), every],
    ['this package, by its id', await as('ada', { packages: [{ type: 'snap', id }] }), every],
    ['a charm of its name', await as('ada', { packages: [{ type: 'charm', name }] }), []],
    ['another package', await as('ada', { packages: [other] }), []],
    ['no package', await as('ada', { packages: [] }), []],
    ['the channel edge', await as('ada', { channels: ['latest/edge'] }), [...ofEdge, ...about]],
    ['edge, in words of a pattern', await as('carol', { channels: ['*/edge'] }), [...ofEdge, ...about]],
    ['a channel without a release', await as('ada', { channels: ['latest/beta'] }), ['cohort', ...about]],
    ['edge and a manage permission', await as('ada', { channels: ['edge'], permissions: ['package-manage'] }), ofEdge],
    ['stable of another package', await as('ada', { channels: ['stable'], packages: [other] }), []],
  ];
  for (const [caller, who, open] of rows) {
    const expected = caller === 'edge and a manage permission' ? [...ofEdge, ...about] : open;
    t.same(await openDoors(world, who), inOrder(expected), caller);
  }
  const info = await doors['info']!(world, await as('ada', { channels: ['latest/edge'] }));
  t.same(
    (info.body['channel-map'] as { channel: { name: string } }[]).map(({ channel }) => channel.name),
    ['edge'],
    'no other channel is listed',
  );
  const missed = await doors['install']!(world, await as('ada', { channels: ['latest/edge'] }));
  t.same(
    missed.body.results[0].error.extra.releases,
    [{ architecture: 'all', channel: 'latest/edge' }],
    'nor in an error',
  );

  must(await root.post(grants, { 'brand-id': store.ids.bob }));
  t.same(await openDoors(world, await as('bob')), released, 'a brand, when the snap is granted to all of its devices');
  must(await root.post(`${grants}/revoke`, { 'brand-id': store.ids.bob }));
  must(await root.post(grants, { 'brand-id': store.ids.bob, model: 'pump' }));
  t.same(await openDoors(world, await as('bob')), [], 'but not when it is granted to some of them');

  const carol = await as('carol');
  t.same(await openDoors(world, carol), every);
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'remove', object: id }, (tx) =>
    tx.collaborators.remove(id, store.ids['carol'] ?? ''),
  );
  t.same(await openDoors(world, carol), [], 'nothing after the collaboration has ended');
});

t.test('a snap without a release exists for the accounts that see its revisions', async (t) => {
  const { store } = await startForDevices(t);
  const ada = await store.as('ada');
  for (const [snap, isPrivate] of [
    ['tiny-private', true],
    ['tiny-public', false],
  ] as const) {
    const { id } = must(await ada.post('/v1/snap', { name: snap, private: isPrivate })).body as { id: string };
    const yaml = `name: ${snap}\nversion: '1'\nsummary: s\ndescription: d\narchitectures: [arm64]\n`;
    must(await ada.push('snap', snap, readFileSync(pack(t, { 'meta/snap.yaml': yaml }))));
    const action = { action: 'download', name: snap, revision: 1 };
    const ask = async (token: string, architecture = 'arm64'): Promise<unknown> => {
      const who: Header = { 'snap-device-architecture': architecture };
      if (token !== '') who['authorization'] = `Bearer ${token}`;
      const [result] = (await postRefresh(store, action, who)).body.results;
      const { status } = await store.anyone.get(`/api/v1/snaps/download/${id}_1.snap`, who);
      return [result.error?.code ?? result.snap.revision, status];
    };
    t.same(await ask(ada.token), [1, 200], snap);
    t.same(await ask(ada.token, 'amd64'), ['revision-not-found', 200], 'the architecture counts as ever');
    for (const token of ['', (await store.as('bob')).token, (await store.as('root')).token])
      t.same(await ask(token), ['name-not-found', 404]);
    const releases = await store.as('ada', { permissions: ['package-manage-releases'] });
    t.same(await ask(releases.token), ['name-not-found', 404], 'without package-view-revisions');
  }
});

t.test('what a token does not reach is answered like what never was, word for word', async (t) => {
  const { store, id } = await withKernel(t);
  const never = 'N'.repeat(32);
  const text = ({ status, body, headers }: Reply): string =>
    JSON.stringify([status, body, [...headers].filter(([header]) => !/^(?:date|x-request-id)$/.test(header))])
      .replaceAll(id, never)
      .replaceAll(name, 'never-there');
  for (const client of [
    await store.as('bob'),
    await store.as('ada', { packages: [{ type: 'snap', name: 'other' }] }),
    await store.as('ada', { permissions: ['account-view-packages'] }),
  ]) {
    const who = { authorization: `Macaroon ${client.token}` };
    const get = (path: string) => store.anyone.get(path, who);
    for (const [first, other] of [
      [`/v2/snaps/info/${name}`, '/v2/snaps/info/never-there'],
      [`/api/v1/snaps/download/${id}_3.snap`, `/api/v1/snaps/download/${never}_3.snap`],
      [`/api/v1/snaps/download/${id}_words_3.comp`, `/api/v1/snaps/download/${never}_words_3.comp`],
      [`/v2/assertions/snap-declaration/16/${id}`, `/v2/assertions/snap-declaration/16/${never}`],
    ] as const)
      t.equal(text(await get(first)), text(await get(other)), first);
    const install = (snap: string) => postRefresh(store, { action: 'install', name: snap }, who);
    t.equal(text(await install(name)), text(await install('never-there')));
  }
});

t.test('the token adds to what a device has, and both must be valid', async (t) => {
  const world = await withKernel(t);
  const { store, ada, root } = world;
  const device = await sessionOf(store.anyone, { brand: 'vault', model: 'pump', serial: '0001' });
  const token = { authorization: `Macaroon ${ada.token}` };
  const narrow = {
    authorization: `Macaroon ${(await store.as('ada', { packages: [{ type: 'snap', name: 'other' }] })).token}`,
  };
  t.same(await openDoors(world, device), []);
  t.same(await openDoors(world, { ...device, ...token }), every);
  must(await root.post(grants, { 'brand-id': 'vault' }));
  t.same(await openDoors(world, { ...device, ...narrow }), released, 'a narrow token takes nothing from the device');
  const info = (who: Header) => store.anyone.get(`/v2/snaps/info/${name}`, who);
  t.match(await info({ ...token, 'snap-device-authorization': 'Macaroon root="forged"' }), {
    status: 401,
    body: { 'error-list': [{ code: 'device-authorization-needs-refresh' }] },
  });
  t.match(await info({ ...device, authorization: 'Macaroon forged' }), {
    status: 401,
    body: { 'error-list': [{ code: 'macaroon-authorization-required' }] },
  });
  t.equal((await info({ ...token, 'x-ubuntu-store': 'another-store' })).status, 200, 'the account is of this store');
});

t.test('the responses to one account reach no other account, in any order of requests', async (t) => {
  const world = await withKernel(t);
  const { store, ada } = world;
  const token = { authorization: `Macaroon ${ada.token}` };
  const usual = ['refresh', 'install', 'info', 'file 3'];
  const ask = async (who: Header) => {
    const open: string[] = [];
    for (const door of usual) if (isThere(await doors[door]!(world, who))) open.push(door);
    return open;
  };
  for (const [who, open] of [
    [{}, []],
    [token, usual],
    [{}, []],
    [token, usual],
  ] as [Header, string[]][])
    t.same(await ask(who), open);

  // A device asks for the same channel as a token that falls back to another one.
  const { id, root } = world;
  const device = await sessionOf(store.anyone, { brand: 'vault', model: 'pump', serial: '0001' });
  must(await root.post(grants, { 'brand-id': 'vault' }));
  const stable = { authorization: `Macaroon ${(await store.as('ada', { channels: ['stable'] })).token}` };
  const ofEdge = async (who: Header) => {
    const action = { action: 'refresh', 'snap-id': id, 'instance-key': id } as const;
    const context = [{ 'snap-id': id, 'instance-key': id, revision: 1, 'tracking-channel': 'latest/edge' }];
    return (await refresh(store, [action], context, who))[0]?.snap?.revision;
  };
  t.same([await ofEdge(stable), await ofEdge(device), await ofEdge(stable)], [3, 2, 3]);
  must(await root.post(`${grants}/revoke`, { 'brand-id': 'vault' }));

  must(await ada.patch(`/v1/snap/${name}`, { private: false }));
  const cacheable = async (who: Header) =>
    Promise.all(
      ['info', 'file 3', 'declaration'].map(
        async (door) => (await doors[door]!(world, who)).headers.get('cache-control') ?? '',
      ),
    );
  const shared = ['max-age=60', 'public, max-age=31536000, immutable', 'max-age=300'];
  t.same(await cacheable({}), shared, 'public, and asked for without a token');
  t.same(
    await cacheable(token),
    shared.map(() => 'private, no-store'),
  );
  t.same(await ask(token), usual);
  t.same(await ask({}), usual);
  const narrow = { authorization: `Macaroon ${(await store.as('bob', { packages: [] })).token}` };
  t.same(await ask(narrow), usual, 'no token hides a public snap');
  const etag = (await doors['file 3']!(world, token)).headers.get('etag') ?? '';
  const again = await doors['file 3']!(world, { ...token, 'if-none-match': etag });
  t.same([again.status, again.headers.get('cache-control')], [304, 'private, no-store']);
});

t.test('a bad token is refused at every door, also for public snaps, with the code and the remedy', async (t) => {
  const store = await startIdentity(t, servingSnaps);
  const ada = await store.as('ada');
  must(await ada.post('/v1/snap', { name: 'hello' }));
  const elsewhere = await startIdentity(t);
  const other = (await elsewhere.as('ada')).token;
  const tool = snapcraft(store.url, 'ada@example.com', password);
  await tool.login({ acls: ['package_access'] });
  const [, root = '', discharge = ''] = /root=(\S+), discharge=(\S+)/.exec(tool.authorization()) ?? [];
  const paths = [
    '/v2/snaps/info/hello',
    '/v2/snaps/find?q=hello',
    '/api/v1/snaps/download/x_1.snap',
    '/v2/assertions/account/ada',
  ];
  const refused = async (authorization: string, code: string, message: RegExp, asks = 'Macaroon') => {
    const who = { authorization };
    const replies = await Promise.all(paths.map((path) => store.anyone.get(path, who)));
    replies.push(await postRefresh(store, { action: 'install', name: 'hello' }, who));
    replies.push(await store.anyone.post('/v2/cohorts', { snaps: ['hello'] }, who));
    for (const reply of replies) {
      t.match(reply, { status: 401, body: { 'error-list': [{ code, message }] } }, authorization.slice(0, 60));
      t.equal(reply.headers.get('www-authenticate'), asks);
    }
  };
  const unknown = /not a token of this store.*Issue another one with 'larder token issue --for images'.*snap logout/;
  for (const authorization of [
    `Macaroon ${other}`,
    `Bearer ${other}`,
    `Macaroon root="${root}"`,
    `Macaroon ${root}`,
    `Macaroon root="${root}", discharge="${root}"`,
    `Macaroon root="${other}", discharge="${discharge}"`,
    `Macaroon root="${root}", discharge="${discharge}", discharge="${discharge}"`,
    `Macaroon ${ada.token.slice(0, -6)}AAAAAA`,
    `Macaroon ${'A'.repeat(70_000)}`,
    `Macaroon ${Buffer.from('{"t":"macaroon"}').toString('base64')}`,
    'Macaroon',
    'Bearer {}',
    'Basic YWRhOnNlY3JldA==',
    'x',
    '',
  ])
    await refused(authorization, 'macaroon-authorization-required', unknown);
  const huge = request('GET /v2/snaps/info/hello', [`Authorization: Macaroon ${'A'.repeat(1 << 20)}`]);
  t.equal((await raw(store.url, huge))?.status, 431);

  const get = (token: string, scheme = 'Macaroon') =>
    store.anyone.get('/v2/assertions/account/ada', { authorization: `${scheme} ${token}` });
  t.equal((await get(ada.token)).status, 404, 'a valid one is not');
  const pair = `root="${root}", discharge="${discharge}"`;
  t.equal((await get(pair)).status, 404, 'nor is a login, as snapd writes it');
  await tool.whoami();

  const revoked = await store.as('ada', { packages: [{ type: 'snap', name: 'hello' }] });
  t.equal((await get(revoked.token)).status, 404);
  const [{ 'session-id': session }] = (await revoked.get('/v1/tokens')).body.macaroons as [{ 'session-id': string }];
  must(await revoked.post('/v1/tokens/revoke', { 'session-id': session }));
  await refused(`Macaroon ${revoked.token}`, 'macaroon-authorization-required', /has been revoked; log in again/);
  const bob = (await store.as('bob')).token;
  await store.disable('bob');
  await refused(`Macaroon ${bob}`, 'macaroon-authorization-required', /account .* is disabled; an administrator/);
  store.clock.advance(days(40));
  await refused(
    `Macaroon ${pair}`,
    'user-authorization-needs-refresh',
    /discharge has expired; refresh it/,
    'Macaroon needs_refresh=1',
  );
  store.clock.advance(days(400));
  await refused(`Macaroon ${ada.token}`, 'macaroon-authorization-required', /has expired.*; log in again/);
});
