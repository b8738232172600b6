// What the other clients send from upload to release: snapcraft on an isolated site, Launchpad, and those who publish rocks.
import t from 'tap';

import { rock } from '#test/fixtures/archives.ts';
import { snapFixture, startStore } from '#test/fixtures/appliance.ts';

const snapcraftsMembers = [
  'architectures',
  'base',
  'build-url',
  'confinement',
  'created-at',
  'grade',
  'revision',
  'sha3-384',
  'size',
  'status',
  'version',
];

t.test('snapcraft registers, uploads, releases, lists and closes', async (t) => {
  const store = await startStore(t);
  const me = await store.as('root');
  const at = '/publishergw/v1/snap/tiny-app';
  t.match(
    await me.post('/publishergw/dev/api/register-name/', { snap_name: 'tiny-app', is_private: false, series: '16' }),
    { status: 201 },
  );
  t.match((await me.get('/publishergw/dev/api/account')).body.snaps['16'], {
    'tiny-app': { status: 'Approved', private: false },
  });
  t.ok('email' in (await me.get('/publishergw/v1/tokens/whoami')).body.account);

  const id = await me.upload(await snapFixture('app-xz'));
  const { body } = await me.post(`${at}/revisions`, { 'upload-id': id });
  await store.appliance.reviewed();
  const { revisions } = (await me.get(`/publishergw${body['status-url']}`)).body;
  t.match(revisions, [{ status: 'approved', revision: 1, errors: null }]);
  t.equal(revisions.length, 1);
  t.match(
    await me.post(`${at}/releases`, [
      { revision: 1, channel: 'edge' },
      { revision: 1, channel: 'stable' },
    ]),
    { status: 200 },
  );

  const listed = (await me.get(`${at}/revisions`)).body.revisions;
  t.same(Object.keys(listed[0]).sort(), snapcraftsMembers, 'no member more than it accepts');
  const status = (await me.get(`${at}/releases`)).body;
  t.ok(status.package.channels.length > 0);
  for (const entry of status['channel-map']) {
    t.same(Object.keys(entry).sort(), [
      'architecture',
      'channel',
      'expiration-date',
      'progressive',
      'revision',
      'when',
    ]);
    t.same(entry.progressive, { paused: null, percentage: null });
    t.ok(
      status.package.channels.some(({ name }: { name: string }) => name === entry.channel),
      'both lists spell a channel alike',
    );
  }
  for (const member of ['created-by', 'type', 'confinement', 'grade']) t.ok(status.revisions[0][member], member);
  t.match(await me.post(`${at}/releases`, [{ revision: null, channel: 'edge' }]), { status: 200 });
  t.notOk(
    (await me.get(`${at}/releases`)).body['channel-map'].some(
      ({ channel }: { channel: string }) => channel === 'latest/edge',
    ),
  );
});

t.test('Launchpad uploads and releases with a token for just that', async (t) => {
  const store = await startStore(t);
  await (await store.as('ada')).post('/v1/snap', { name: 'tiny-app' });
  const launchpad = await store.as('ada', {
    permissions: ['package-manage-releases', 'package-manage-revisions', 'package-view-revisions'],
    packages: [{ type: 'snap', name: 'tiny-app' }],
    channels: ['latest/edge'],
  });
  const id = await launchpad.upload(await snapFixture('app-gzip'));
  const pushed = await launchpad.post('/v1/snap/tiny-app/revisions', { 'upload-id': id });
  t.match(pushed, { status: 200, body: { 'status-url': `/v1/snap/tiny-app/revisions/review?upload-id=${id}` } });
  await store.appliance.reviewed();
  t.match((await launchpad.get(pushed.body['status-url'])).body.revisions, [
    { 'upload-id': id, status: 'approved', revision: 1 },
  ]);
  t.match(await launchpad.post('/v1/snap/tiny-app/releases', [{ channel: 'edge', revision: 1 }]), { status: 200 });
  t.match(await launchpad.post('/v1/snap/tiny-app/releases', [{ channel: 'stable', revision: 1 }]), {
    status: 401,
    body: { 'error-list': [{ code: 'permission-required' }] },
  });
  t.match(await launchpad.get('/v1/snap/tiny-app'), { status: 401 }, 'it may not read the metadata');
});

t.test('a rock goes from registration to release', async (t) => {
  const store = await startStore(t);
  const me = await store.as('ada');
  await me.post('/v1/rock', { name: 'hello', type: 'rock' });
  t.match((await me.push('rock', 'hello', rock('other'))).body.revisions, [
    { status: 'rejected', revision: null, errors: [{ code: 'review-error', message: /called 'other'/ }] },
  ]);
  t.match((await me.push('rock', 'hello', rock('hello'))).body.revisions, [{ status: 'approved', revision: 1 }]);
  t.match((await me.push('rock', 'hello', rock('hello'))).body.revisions, [
    { status: 'rejected', errors: [{ message: /already exists in the database, as revision 1/ }] },
  ]);
  const { revisions } = (await me.get('/v1/rock/hello/revisions')).body;
  t.same(Object.keys(revisions[0]).sort(), ['created-at', 'created-by', 'revision', 'sha256', 'status']);
  t.match(await me.post('/v1/rock/hello/releases', [{ channel: 'edge', revision: 1 }]), { status: 200 });
  t.same(Object.keys((await me.get('/v1/rock/hello/releases')).body['channel-map'][0]).sort(), [
    'channel',
    'expiration-date',
    'revision',
    'when',
  ]);
  t.match(
    await me.post('/v1/rock/hello/releases', [
      { channel: 'edge', revision: 1, resources: [{ name: 'x', revision: 1 }] },
    ]),
    {
      status: 400,
      body: { 'error-list': [{ message: /^Resource 'x' is not valid for rock/ }] },
    },
  );
});
