import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';
import { contentFiles } from '#test/fixtures/contents.ts';

const refused = (status: number, code: string, message: string) => ({
  status,
  body: { 'error-list': [{ code, message }] },
});

t.test('a publisher gives up a name that has no revisions', async (t) => {
  const store = await startStore(t);
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  const gone = await ada.delete('/v1/snap/hello');
  t.equal(gone.status, 200);
  t.same(gone.body, { 'package-id': id });
  t.equal((await ada.get('/v1/snap/hello')).status, 404);
  t.match(await ada.delete('/v1/snap/hello'), { status: 404 });
  t.match(await bob.post('/v1/snap', { name: 'hello' }), { status: 200 }, 'and it is free for others');
});

t.test('a missing package is refused with 404 and a message that begins with Name', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  for (const namespace of ['snap', 'charm', 'rock']) {
    const message = `Name hello not found in the ${namespace} namespace, or this account has no part in it`;
    t.match(await ada.delete(`/v1/${namespace}/hello`), refused(404, 'resource-not-found', message));
  }
  await ada.post('/v1/charm', { name: 'hello' });
  t.match(await (await store.as('bob')).delete('/v1/charm/hello'), { status: 404 }, "a stranger's is not there");
});

t.test('a package with revisions stays, and so does one with an upload in review', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  await ada.push('bin', 'hello', 'content');
  const message = 'Cannot unregister a package with existing revisions';
  t.match(await ada.delete('/v1/bin/hello'), refused(403, 'forbidden', message));
  t.match(await (await store.as('root')).delete('/v1/bin/hello'), refused(403, 'forbidden', message));

  await ada.post('/v1/bin', { name: 'waiting' });
  const upload = await ada.upload('other content');
  const at = store.clock.now.toISOString();
  const { id } = (await ada.get('/v1/bin/waiting')).body.metadata;
  await store.beside.records.change({ at, actor: 'test', action: 'claim', object: 'bin/waiting' }, (tx) =>
    tx.uploads.claim(upload, { packageId: id, pushedBy: store.ids.ada, pushedAt: at }),
  );
  t.match(
    await ada.delete('/v1/bin/waiting'),
    refused(403, 'forbidden', 'Cannot unregister a package with an upload in review'),
  );
});

t.test('a package with only rejected uploads is unregistered, and its name is free', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  t.match((await ada.push('snap', 'hello', 'no snap at all')).body, { revisions: [{ status: 'rejected' }] });
  t.match(await ada.delete('/v1/snap/hello'), { status: 200 });
  t.equal(contentFiles(store.directory).length, 1, 'its content is left to the sweep');
});

t.test('a charm without valid credentials is refused as the interface words it', async (t) => {
  const store = await startStore(t);
  const { token } = await store.as('ada');
  await (await store.as('ada')).post('/v1/charm', { name: 'hello' });
  const { anyone } = store;
  const required = refused(401, 'macaroon-authorization-required', 'discharge required');
  const unauthorized = refused(401, 'macaroon-authorization-required', 'Unauthorized');
  t.match(await anyone.delete('/v1/charm/hello'), required);
  t.match(await anyone.delete('/v1/charm/hello', {}), required);
  t.match(await anyone.delete('/v1/charm/hello', { other: 'member' }), required);
  t.match(await store.with('nonsense').delete('/v1/charm/hello'), required, 'a bad token in the header');
  t.match(await anyone.delete('/v1/charm/hello', { macaroon: 'nonsense' }), unauthorized);
  t.match(await anyone.delete('/v1/charm/hello', { macaroon: token.slice(3) }), unauthorized);
  t.match(await anyone.delete('/v1/snap/hello'), required);
  t.match(await anyone.delete('/v1/snap/hello', { macaroon: token }), required, 'snaps take the usual header alone');
  t.match(await anyone.delete('/v1/charm/hello', { macaroon: token, padding: 'x'.repeat(64 * 1024) }), { status: 413 });
  t.match(
    await anyone.delete('/v1/charm/hello', { macaroon: token }),
    { status: 200 },
    'a good one in the payload will do',
  );
});

t.test('a snap asks for credentials that are good for snaps', async (t) => {
  const store = await startStore(t);
  await (await store.as('ada')).post('/v1/snap', { name: 'hello' });
  const message = 'Unregistering snaps requires snap-publishing credentials';
  const charms = await store.as('ada', { packages: [{ type: 'charm', name: 'hello' }] });
  t.match(await charms.delete('/v1/snap/hello'), refused(401, 'permission-required', message));
  const other = await store.as('ada', { packages: [{ type: 'snap', name: 'other' }] });
  t.match(await other.delete('/v1/snap/hello'), {
    status: 401,
    body: { 'error-list': [{ code: 'permission-required' }] },
  });
  const both = await store.as('ada', {
    packages: [
      { type: 'charm', name: 'x' },
      { type: 'snap', name: 'hello' },
    ],
  });
  t.match(await both.delete('/v1/snap/hello'), { status: 200 });
});

t.test('only the publisher unregisters', async (t) => {
  const store = await startStore(t);
  const [ada, bob, root] = [await store.as('ada'), await store.as('bob'), await store.as('root')];
  for (const [namespace, subject] of [
    ['charm', 'Charms'],
    ['snap', 'Packages'],
    ['rock', 'Packages'],
  ] as const) {
    const { id } = (await ada.post(`/v1/${namespace}`, { name: 'hello' })).body;
    await addCollaborator(store, id, 'bob');
    const message = `${subject} can only be unregistered by their publisher`;
    t.match(await bob.delete(`/v1/${namespace}/hello`), refused(401, 'permission-required', message), namespace);
  }
  t.match(
    await root.delete('/v1/charm/hello'),
    refused(401, 'permission-required', 'Charms can only be unregistered by their publisher'),
  );
  t.match(await root.delete('/v1/snap/hello'), { status: 200 }, 'a store administrator may, but for charms');
  for (const permissions of [['account-register-package'], ['package-manage']] as const) {
    const weak = await store.as('root', { permissions: [...permissions] });
    t.match(await weak.delete('/v1/rock/hello'), { status: 404 }, 'with a token for that');
  }
  const strong = await store.as('root', { permissions: ['store-manage'] });
  t.match(await strong.delete('/v1/rock/hello'), { status: 200 });
});

t.test('either of two permissions will do', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  for (const permission of ['account-register-package', 'package-manage'] as const) {
    await ada.post('/v1/snap', { name: 'hello' });
    const narrow = await store.as('ada', { permissions: [permission] });
    t.match(await narrow.delete('/v1/snap/hello'), { status: 200 }, permission);
  }
  await ada.post('/v1/snap', { name: 'hello' });
  const wrong = await store.as('ada', { permissions: ['package-manage-metadata', 'package-view', 'store-manage'] });
  t.match(
    await wrong.delete('/v1/snap/hello'),
    refused(401, 'permission-required', 'Missing required permission: account-register-package'),
  );
});

t.test("the interface's own refusals come before what a narrowed token leaves out", async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  for (const name of ['empty', 'full']) await ada.post('/v1/bin', { name });
  await ada.push('bin', 'full', 'content');
  const edge = await store.as('ada', { channels: ['edge'] });
  const other = await store.as('ada', { packages: [{ type: 'bin', name: 'other' }] });
  for (const narrowed of [edge, other]) {
    t.match(
      await narrowed.delete('/v1/bin/full'),
      refused(403, 'forbidden', 'Cannot unregister a package with existing revisions'),
    );
    t.match(await narrowed.delete('/v1/bin/empty'), {
      status: 401,
      body: { 'error-list': [{ code: 'permission-required', message: /^(?:This token|Package access)/ }] },
    });
    t.match(await narrowed.delete('/v1/bin/nowhere'), { status: 404 });
  }
  t.match(await ada.delete('/v1/bin/empty'), { status: 200 });
});
