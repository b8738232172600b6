// A rock from its registration to stable: an image in one file, in the requests of craft-store's clients.
import { createHash } from 'node:crypto';

import t from 'tap';

import { rock } from '#test/fixtures/packages/archives.ts';
import { startStore } from '#test/fixtures/appliance.ts';

t.test('a rock goes from registration to stable', async (t) => {
  const store = await startStore(t);
  const me = await store.as('ada');
  t.match(await me.post('/v1/rock', { name: 'hello', private: true, type: 'rock' }), { status: 200 });
  t.match((await me.get('/v1/rock?include-collaborations=false')).body.results, [
    { name: 'hello', private: true, status: 'registered', type: 'rock' },
  ]);

  // An archive with another name is refused, and so is one with a missing part; then a valid one is accepted.
  t.match((await me.push('rock', 'hello', rock('other'))).body.revisions, [
    { status: 'rejected', revision: null, errors: [{ code: 'review-error', message: /called 'other'/ }] },
  ]);
  const half = rock('hello', { change: (entries) => entries.slice(0, -1) });
  t.match((await me.push('rock', 'hello', half)).body.revisions, [
    { status: 'rejected', errors: [{ message: /not in the archive: make it again/ }] },
  ]);
  const [first, second] = [rock('hello'), rock('hello', { layers: ['layer', 'and another'] })];
  t.match((await me.push('rock', 'hello', first)).body.revisions, [{ status: 'approved', revision: 1, errors: null }]);
  t.match((await me.push('rock', 'hello', first)).body.revisions, [
    { status: 'rejected', errors: [{ message: /already exists in the database, as revision 1/ }] },
  ]);
  t.match((await me.push('rock', 'hello', second)).body.revisions, [{ status: 'approved', revision: 2 }]);

  const { revisions } = (await me.get('/v1/rock/hello/revisions')).body;
  t.match(revisions, [{ revision: 2 }, { revision: 1, status: 'approved', 'created-by': store.ids.ada }]);
  t.equal(revisions[1].sha256, createHash('sha256').update(first).digest('hex'));
  for (const revision of revisions) {
    t.same(Object.keys(revision).sort(), ['created-at', 'created-by', 'revision', 'sha256', 'status']);
  }

  // It is released to edge, then to stable; a rock has one slot a channel, and no resources.
  const releases = '/v1/rock/hello/releases';
  t.match(await me.post(releases, [{ channel: 'edge', revision: 2 }]), { status: 200 });
  t.match(
    await me.post(releases, [
      { channel: 'stable', revision: 1 },
      { channel: 'candidate', revision: 2 },
    ]),
    {
      status: 200,
      body: { released: [{ channel: 'latest/stable' }, { channel: 'latest/candidate', resources: [] }] },
    },
  );
  t.match(await me.post(releases, [{ channel: 'stable', revision: 2 }]), { status: 200 });
  const map = (await me.get(releases)).body['channel-map'];
  t.match(map, [
    { channel: 'latest/stable', revision: 2 },
    { channel: 'latest/candidate', revision: 2 },
    { channel: 'latest/edge', revision: 2 },
  ]);
  for (const entry of map) t.same(Object.keys(entry).sort(), ['channel', 'expiration-date', 'revision', 'when']);
  t.match(await me.post(releases, [{ channel: 'edge', revision: 1, resources: [{ name: 'x', revision: 1 }] }]), {
    status: 400,
    body: { 'error-list': [{ message: /^Resource 'x' is not valid for rock/ }] },
  });
  t.match((await me.get('/v1/rock/hello')).body.metadata, { status: 'published', type: 'rock' });
  t.match(await me.post(releases, [{ channel: 'edge', revision: null }]), { status: 200 });
  t.equal((await me.get(releases)).body['channel-map'].length, 2);
});
