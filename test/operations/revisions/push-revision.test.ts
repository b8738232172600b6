import t from 'tap';

import { pushRevision } from '#acts/uploads/uploads.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';

const notThere = { status: 404, body: { 'error-list': [{ code: 'resource-not-found' }] } };

t.test('an upload that is pushed becomes a revision once it is reviewed', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  const upload = await ada.upload(await snapFixture('app-xz'));
  const pushed = await ada.post('/v1/snap/tiny-app/revisions', { 'upload-id': upload });
  t.equal(pushed.status, 200);
  t.same(pushed.body, { 'status-url': `/v1/snap/tiny-app/revisions/review?upload-id=${upload}` });
  await store.appliance.reviewed();
  t.same((await ada.get(`/publishergw${pushed.body['status-url']}`)).body, {
    revisions: [{ 'upload-id': upload, status: 'approved', revision: 1, errors: null }],
  });
});

t.test('the status-url is a path without the prefix, for every way of pushing', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  const upload = await ada.upload('content');
  const pushed = await ada.post('/publishergw/v1/bin/hello/revisions', { 'upload-id': upload });
  t.same(pushed.body, { 'status-url': `/v1/bin/hello/revisions/review?upload-id=${upload}` });
});

t.test('pushing again is safe: it answers the same and makes nothing new', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/bin', { name: 'hello' })).body;
  const upload = await ada.upload('content');
  const push = () => ada.post('/v1/bin/hello/revisions', { 'upload-id': upload });
  const replies = await Promise.all([push(), push(), push()]);
  await store.appliance.reviewed();
  replies.push(await push());
  const rows = footprint(store.directory);
  replies.push(await push());
  for (const reply of replies) t.match(reply, { status: 200, body: replies[0].body });
  t.same(footprint(store.directory), rows, 'not even an entry in the audit log');
  t.equal((await ada.get('/v1/bin/hello/revisions')).body.revisions.length, 1);

  const { acts, records } = store.beside;
  const request = { upload, package: (await records.packages.byId(id))!, defaultQuota: readDefaultQuota({}) };
  await acts.do(pushRevision, { actor: store.ids.ada }, request);
  t.match(await records.uploads.review(id, upload), { status: 'approved', revision: 1 }, 'nor at the same moment');

  await addCollaborator(store, id, 'bob');
  t.match(await (await store.as('bob')).post('/v1/bin/hello/revisions', { 'upload-id': upload }), { status: 200 });
});

t.test('an upload that another package has claimed is not found, and neither is an unknown one', async (t) => {
  const store = await startStore(t);
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  for (const name of ['hello', 'other']) await ada.post('/v1/bin', { name });
  await bob.post('/v1/bin', { name: 'bobs' });
  const upload = await ada.upload('content');
  t.match(await ada.post('/v1/bin/hello/revisions', { 'upload-id': upload }), { status: 200 });
  t.match(await ada.post('/v1/bin/other/revisions', { 'upload-id': upload }), notThere);
  t.match(await bob.post('/v1/bin/bobs/revisions', { 'upload-id': upload }), notThere);
  for (const id of ['nonsense', '00000000-0000-0000-0000-000000000000', upload.toUpperCase(), ` ${upload}`]) {
    t.match(await ada.post('/v1/bin/hello/revisions', { 'upload-id': id }), notThere, id);
  }
});

t.test('a body that is wrong claims nothing', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  const upload = await ada.upload('content');
  const before = footprint(store.directory);
  for (const [body, pointer] of [
    [{}, '/'],
    [{ 'upload-id': 5 }, '/upload-id'],
    [{ 'upload-id': null }, '/upload-id'],
    [{ 'upload-id': '' }, '/upload-id'],
    [{ 'upload-id': 'x'.repeat(65) }, '/upload-id'],
    [{ 'upload-id': upload, channels: ['edge'] }, '/'],
    [{ upload_id: upload }, '/'],
  ] as const) {
    const reply = await ada.post('/v1/bin/hello/revisions', body);
    t.match(reply, {
      status: 400,
      body: { 'error-list': [{ code: 'api-error', message: new RegExp(` at ${pointer}$`) }] },
    });
  }
  t.same(footprint(store.directory), before);
});

t.test('content that the package has already is rejected, naming the revision that has it', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  for (const name of ['hello', 'other']) await ada.post('/v1/bin', { name });
  await ada.push('bin', 'hello', 'first');
  await ada.push('bin', 'hello', 'second');
  const again = (await ada.push('bin', 'hello', 'first')).body.revisions;
  t.match(again, [
    {
      status: 'rejected',
      revision: null,
      errors: [
        {
          code: 'review-error',
          message:
            /^Cannot insert package\. An upload with that digest \(SHA3-384: '[0-9a-f]{96}'\) already exists in the database, as revision 1\.$/,
        },
      ],
    },
  ]);
  t.match(
    (await ada.push('bin', 'other', 'first')).body,
    { revisions: [{ status: 'approved', revision: 1 }] },
    'another package may have it',
  );
  t.match(
    (await ada.push('bin', 'hello', 'third')).body,
    { revisions: [{ status: 'approved', revision: 3 }] },
    'and no number is lost',
  );
});

t.test('of the same content pushed twice before any review, one is approved', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  const uploads = await Promise.all([...Array(5).keys()].map(() => ada.upload('the same')));
  await Promise.all(uploads.map((id) => ada.post('/v1/bin/hello/revisions', { 'upload-id': id })));
  await store.appliance.reviewed();
  const { revisions } = (await ada.get('/v1/bin/hello/revisions/review')).body;
  const statuses = (revisions as { status: string }[]).map(({ status }) => status).sort();
  t.same(statuses, ['approved', 'rejected', 'rejected', 'rejected', 'rejected']);
});

t.test('revisions are numbered without gaps, with any number of concurrent pushes', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  for (const name of ['one', 'two']) await ada.post('/v1/bin', { name });
  await Promise.all(
    [...Array(20).keys()].map(async (at) => {
      const upload = await ada.upload(`content ${at}`);
      await ada.post(`/v1/bin/${at % 2 === 0 ? 'one' : 'two'}/revisions`, { 'upload-id': upload });
    }),
  );
  await store.appliance.reviewed();
  for (const name of ['one', 'two']) {
    const { revisions } = (await ada.get(`/v1/bin/${name}/revisions`)).body;
    t.same(
      (revisions as { revision: number }[]).map(({ revision }) => revision),
      [10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
    );
  }
});

t.test('an upload in review at a stop is reviewed after the next start', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'tiny-app' })).body;
  const uploads = [await ada.upload(await snapFixture('app-xz')), await ada.upload('nothing of the kind')];
  const at = store.clock.now.toISOString();
  // Claimed beside the serving process, which therefore does not know that something waits.
  await store.beside.records.change({ at, actor: 'test', action: 'claim', object: 'snap/tiny-app' }, async (tx) => {
    for (const upload of uploads)
      await tx.uploads.claim(upload, { packageId: id, pushedBy: store.ids.ada, pushedAt: at });
  });
  await store.restart();
  await store.appliance.reviewed();
  for (const [upload, status] of [
    [uploads[0], 'approved'],
    [uploads[1], 'rejected'],
  ] as const) {
    t.match((await ada.get(`/v1/snap/tiny-app/revisions/review?upload-id=${upload ?? ''}`)).body, {
      revisions: [{ status }],
    });
  }
});

t.test('a snap with another name, or an invalid one, is rejected with the mistake', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'other' });
  for (const content of [await snapFixture('app-xz'), await snapFixture('no-snap-yaml'), 'nonsense', '']) {
    const [review] = (await ada.push('snap', 'other', content)).body.revisions;
    t.match(review, { status: 'rejected', revision: null, errors: [{ code: 'review-error', message: /.{10,}/ }] });
  }
  t.same((await ada.get('/v1/snap/other/revisions')).body, { revisions: [] });
});

t.test('an empty file is content too, if no content is required', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  t.match((await ada.push('bin', 'hello', '')).body, { revisions: [{ status: 'approved', revision: 1 }] });
  t.match((await ada.get('/v1/bin/hello/revisions')).body, { revisions: [{ size: 0 }] });
});
