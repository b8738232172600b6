// The requests of snapcraft on an isolated site, from registering a name to closing a channel.
import t from 'tap';

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
