import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';

t.test('with an upload-id there is exactly one review', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  await ada.push('bin', 'hello', 'other');
  const reply = await ada.push('bin', 'hello', 'content');
  t.equal(reply.status, 200);
  t.equal(reply.body.revisions.length, 1);
  t.same(Object.keys(reply.body.revisions[0]).sort(), ['errors', 'revision', 'status', 'upload-id']);
});

t.test('an upload that this package has not pushed is not there', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  for (const name of ['hello', 'other']) await ada.post('/v1/bin', { name });
  const unclaimed = await ada.upload('content');
  const elsewhere = (await ada.push('bin', 'other', 'content')).body.revisions[0]['upload-id'];
  for (const id of [unclaimed, elsewhere, 'nonsense']) {
    t.match(await ada.get(`/v1/bin/hello/revisions/review?upload-id=${id}`), {
      status: 404,
      body: { 'error-list': [{ code: 'resource-not-found' }] },
    });
  }
  t.match(await ada.get('/v1/bin/hello/revisions/review?upload-id='), { status: 400 });
});

t.test('without one the newest hundred are listed, newest first', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/bin', { name: 'hello' })).body;
  t.same((await ada.get('/v1/bin/hello/revisions/review')).body, { revisions: [] });
  const at = new Date(store.clock.now.getTime());
  await store.beside.records.change(
    { at: at.toISOString(), actor: 'test', action: 'fill', object: 'bin/hello' },
    async (tx) => {
      for (let number = 1; number <= 105; number++) {
        const [upload, moment] = [`u${number}`, new Date(at.getTime() + number).toISOString()];
        const content = { sha3_384: String(number), sha256: '', size: 1, address: 'x', receivedAt: moment };
        await tx.uploads.add({ id: upload, ...content });
        await tx.uploads.claim(upload, { packageId: id, pushedBy: store.ids.ada, pushedAt: moment });
        await tx.uploads.approve(upload, number);
      }
    },
  );
  const { revisions } = (await ada.get('/v1/bin/hello/revisions/review')).body;
  t.equal(revisions.length, 100);
  t.match(revisions[0], { 'upload-id': 'u105', revision: 105 });
  t.match(revisions[99], { 'upload-id': 'u6', revision: 6 });
});

t.test('a token that may only push polls its upload, and lists nothing', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  const push = await store.as('ada', { permissions: ['package-manage-revisions'] });
  t.match(await push.push('bin', 'hello', 'content'), { status: 200, body: { revisions: [{ status: 'approved' }] } });
  t.match(await push.get('/v1/bin/hello/revisions/review'), {
    status: 401,
    body: { 'error-list': [{ message: 'Missing required permission: package-view-revisions' }] },
  });
  const administrator = await store.as('root', { permissions: ['store-manage'] });
  t.match(await administrator.push('bin', 'hello', 'more'), {
    status: 200,
    body: { revisions: [{ status: 'approved' }] },
  });
});

t.test('a review that has not begun has the status new, and neither revision nor errors', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/bin', { name: 'hello' })).body;
  const upload = await ada.upload('content');
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'claim', object: 'bin/hello' }, (tx) =>
    tx.uploads.claim(upload, { packageId: id, pushedBy: store.ids.ada, pushedAt: at }),
  );
  t.same((await ada.get(`/v1/bin/hello/revisions/review?upload-id=${upload}`)).body, {
    revisions: [{ 'upload-id': upload, status: 'new', revision: null, errors: null }],
  });
});
