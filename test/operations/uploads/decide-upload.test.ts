// Deciding on an upload over HTTP: the same acts as by command and in the console.
import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { until } from '#test/fixtures/until.ts';

t.test('an upload is approved, or rejected with a reason, by a store administrator', async (t) => {
  const store = await startStore(t);
  const [ada, bob, root] = await Promise.all(['ada', 'bob', 'root'].map((who) => store.as(who)));
  const { id } = (await ada!.post('/v1/bin', { name: 'hello' })).body as { id: string };
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'test', object: 'bin/hello' }, (tx) =>
    tx.packages.reviewByHand(id, true),
  );
  const push = async (content: string): Promise<string> => {
    const upload = await ada!.upload(content);
    await ada!.post('/v1/bin/hello/revisions', { 'upload-id': upload });
    const review = `/v1/bin/hello/revisions/review?upload-id=${upload}`;
    await until(async () => (await ada!.get(review)).body.revisions[0].status === 'scanned');
    return `/internal/v1/uploads/${upload}`;
  };
  const refused = { status: 401, body: { 'error-list': [{ code: 'permission-required' }] } };
  const first = await push('one');
  for (const client of [ada!, bob!]) t.match(await client.post(`${first}/approve`), refused);
  t.match(await root!.post(`${first}/approve`), {
    status: 200,
    body: { package: 'bin/hello', resource: null, status: 'approved', revision: 1 },
  });
  t.match(await root!.post(`${first}/approve`), {
    status: 409,
    body: { 'error-list': [{ message: /it is approved/ }] },
  });

  const second = await push('two');
  t.match(await root!.post(`${second}/reject`, { reason: '  ' }), { status: 400 });
  t.match(await root!.post(`${second}/reject`, { reason: ' It leaks. ' }), { body: { status: 'rejected' } });
  const [revision] = (await ada!.get('/v1/bin/hello/revisions/review')).body.revisions;
  t.match(revision, { status: 'rejected', errors: [{ code: 'review-error', message: 'It leaks.' }] });

  const twin = await push('one');
  t.match(await root!.post(`${twin}/approve`), { body: { status: 'rejected', revision: null } });
  t.match(await root!.post('/internal/v1/uploads/nothing/approve'), { status: 404 });
});
