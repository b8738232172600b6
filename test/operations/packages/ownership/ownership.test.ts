// The people of a package: collaborators who leave, and packages that are handed over.
import t from 'tap';

import { command, newest, startNow } from '#test/acts/ways.ts';
import { mediaType } from '#assertions/format/assertion.ts';
import { chain } from '#test/assertions/vectors.ts';
import { now } from '#test/assertions/world.ts';
import { addOnlineBrand, trustingVectors } from '#test/fixtures/brands.ts';
import { days } from '#domain/clock.ts';
import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';

const at = '/internal/v1/packages/bin/hello';
const nothing = { status: 404, body: { 'error-list': [{ code: 'resource-not-found' }] } };

/** ada publishes bin/hello. */
async function withPackage(store: TestAppliance) {
  const [root, ada, bob] = [await store.as('root'), await store.as('ada'), await store.as('bob')];
  await ada.post('/v1/bin', { name: 'hello' });
  return { store, root, ada, bob };
}

async function collaborate({ ada, bob }: { ada: Client; bob: Client }): Promise<void> {
  const invites = [{ email: 'bob@example.com' }];
  const { tokens } = (await ada.post('/v1/bin/hello/collaborators/invites', { invites })).body;
  await bob.post('/v1/bin/hello/collaborators/invites/accept', { token: (tokens as { token: string }[])[0]?.token });
}

const seesIt = async (client: Client): Promise<boolean> => (await client.get('/v1/bin/hello')).status === 200;
const entries = async ({ beside: hostStore }: TestAppliance) => (await hostStore.records.audit.head())?.seq;

t.test('a collaborator is taken away by the publisher, by an administrator, and by a command', async (t) => {
  const { store, root, ada, bob } = await withPackage(await startNow(t));
  const path = `${at}/collaborators/${store.ids.bob}`;
  const removals: unknown[] = [];
  for (const remove of [
    () => ada.delete(path),
    () => root.delete(path),
    () => command(store, `collaborator remove bin/hello ${store.ids.bob} --yes`),
  ]) {
    await collaborate({ ada, bob });
    t.ok(await seesIt(bob));
    t.match(await bob.delete(path), { status: 401 }, 'a collaborator does not take others away');
    await remove();
    t.notOk(await seesIt(bob));
    removals.push(await newest(store));
  }
  t.match(removals[0], { action: 'remove_collaborator', object: 'bin/hello', details: { account: store.ids.bob } });
  t.same(removals, [removals[0], removals[0], removals[0]]);
  const before = await entries(store);
  t.match(await ada.delete(path), nothing);
  t.match(await bob.delete(path), nothing, 'a stranger learns nothing');
  t.match(await command(store, `collaborator remove bin/hello ${store.ids.bob} --yes`), {
    code: 'resource-not-found',
    error: /does not collaborate on bin\/hello/,
  });
  t.equal(await entries(store), before);
});

t.test('a collaborator leaves a package alone, once', async (t) => {
  const { store, ada, bob } = await withPackage(await startStore(t));
  t.match(await bob.delete(`${at}/collaboration`), nothing);
  t.match(await ada.delete(`${at}/collaboration`), nothing, 'a publisher does not leave');
  await collaborate({ ada, bob });
  const twice = await Promise.all([bob.delete(`${at}/collaboration`), bob.delete(`${at}/collaboration`)]);
  t.same(twice.map(({ status }) => status).sort(), [204, 404]);
  t.notOk(await seesIt(bob));
  t.match(await newest(store), { action: 'leave_package', object: 'bin/hello' });
  t.match(await bob.delete('/internal/v1/packages/bin/nowhere/collaboration'), nothing);
  t.match(await bob.delete('/internal/v1/packages/nowhere/hello/collaboration'), nothing);
});

t.test('a package is offered, seen, and taken', async (t) => {
  const { store, ada, bob } = await withPackage(await startStore(t));
  await collaborate({ ada, bob });
  const offered = await ada.post(`${at}/offer`, { email: 'BOB@example.com' });
  t.match(offered, { status: 201, body: { namespace: 'bin', name: 'hello', to: { username: 'bob' } } });
  t.match((await bob.get('/internal/v1/package-offers')).body, {
    offers: [{ namespace: 'bin', name: 'hello', from: { username: 'ada' } }],
    'next-cursor': null,
  });
  t.same((await ada.get('/internal/v1/package-offers')).body, { offers: [], 'next-cursor': null });
  const narrowed = await store.as('bob', { packages: [{ type: 'bin', name: 'other' }] });
  t.same((await narrowed.get('/internal/v1/package-offers')).body.offers, [], 'a token sees what it is good for');
  t.match(await narrowed.post(`${at}/offer/answer`, { accept: true }), { status: 401 });
  t.match(await (await store.as('root')).post(`${at}/offer/answer`, { accept: true }), nothing, 'nobody else takes it');
  t.match(await bob.post(`${at}/offer`, { email: 'root@example.com' }), { status: 401 }, 'nor offers it');

  const twice = await Promise.all([
    bob.post(`${at}/offer/answer`, { accept: true }),
    bob.post(`${at}/offer/answer`, { accept: true }),
  ]);
  t.same(twice.map(({ status }) => status).sort(), [204, 404]);
  t.match((await bob.get('/v1/bin/hello/collaborators')).body, { collaborators: [], publisher: { username: 'bob' } });
  t.notOk(await seesIt(ada), 'the old publisher has no part in it any more');
  t.match(await newest(store), {
    action: 'accept_package',
    object: 'bin/hello',
    details: { from: store.ids.ada, to: store.ids.bob },
  });
});

t.test('an offer is left, withdrawn, replaced, or runs out', async (t) => {
  const { store, ada, bob } = await withPackage(await startStore(t));
  const offer = (email: string) => ada.post(`${at}/offer`, { email });
  const answer = (client: Client, accept: boolean) => client.post(`${at}/offer/answer`, { accept });
  await offer('bob@example.com');
  t.match(await answer(bob, false), { status: 204 });
  t.match(await newest(store), { action: 'reject_package' });
  t.match(await answer(bob, true), nothing);

  await offer('bob@example.com');
  t.match(await bob.delete(`${at}/offer`), nothing);
  t.match(await ada.delete(`${at}/offer`), { status: 204 });
  t.match(await ada.delete(`${at}/offer`), nothing);
  t.match(await answer(bob, true), nothing);

  await offer('bob@example.com');
  const root = (await store.beside.records.accounts.find('root'))?.email ?? '';
  t.match(await offer(root), { status: 201 });
  t.match(await answer(bob, true), nothing, 'another one is asked by now');

  await offer('bob@example.com');
  store.clock.advance(days(7));
  t.match(await answer(bob, true), nothing);
  t.same((await bob.get('/internal/v1/package-offers')).body.offers, []);
  t.ok(await seesIt(ada));

  for (const body of [{}, { email: '' }, { email: 7 }, { email: 'x'.repeat(321) }, { email: 'a@b', more: 1 }]) {
    t.match(await ada.post(`${at}/offer`, body), { status: 400 }, JSON.stringify(body).slice(0, 40));
  }
  t.match(await offer('nobody@example.com'), { status: 400, body: { 'error-list': [{ code: 'account-not-found' }] } });
  t.match(await offer('ada@example.com'), { status: 409 });
  t.match(await bob.post(`${at}/offer/answer`, { accept: 'yes' }), { status: 400 });
});

t.test('an administrator hands a package over, by operation as by command', async (t) => {
  const { store, root, ada, bob } = await withPackage(await startNow(t));
  const { ada: adaId, bob: bobId } = store.ids;
  const give = (to: string) => root.post(`${at}/publisher`, { 'account-id': to });
  await collaborate({ ada, bob });
  await root.post(`/internal/v1/accounts/${adaId}/disable`);
  t.match(await give(bobId), { status: 200, body: { namespace: 'bin', name: 'hello', from: adaId, to: bobId } });
  const entry = await newest(store);
  t.match(entry, { action: 'hand_over_package', object: 'bin/hello', details: { from: adaId, to: bobId } });
  t.match((await bob.get('/v1/bin/hello/collaborators')).body, { collaborators: [], publisher: { username: 'bob' } });
  t.match(await give(adaId), { status: 409 }, 'not to a disabled account');
  await root.post(`/internal/v1/accounts/${adaId}/enable`);
  t.match(await give(adaId), { status: 200 });
  t.match(await command(store, `package hand-over bin/hello ${bobId} --yes`), { from: adaId, to: bobId });
  t.same(await newest(store), entry);

  const before = await entries(store);
  const { code, error } = await command(store, `package hand-over bin/hello ${bobId} --yes`);
  t.match(await give(bobId), { status: 409, body: { 'error-list': [{ code, message: error }] } });
  t.match(await give('nobody'), { status: 404 });
  t.match(await bob.post(`${at}/publisher`, { 'account-id': adaId }), { status: 401 });
  t.match(await root.post('/internal/v1/packages/bin/nowhere/publisher', { 'account-id': adaId }), nothing);
  t.equal(await entries(store), before);
});

t.test('a collaborator who becomes the publisher and returns the package has no part in it any more', async (t) => {
  const world = await withPackage(await startNow(t));
  const { store, root, ada, bob } = world;
  const { ada: adaId, bob: bobId } = store.ids;
  const collaborators = async (client: Client) => {
    const { status, body } = await client.get('/v1/bin/hello/collaborators');
    const listed = (body as { collaborators?: { account: { username: string } }[] }).collaborators ?? [];
    return status === 200 ? listed.map(({ account }) => account.username) : status;
  };
  await collaborate(world);
  t.same(await collaborators(ada), ['bob']);
  const handOver = (client: Client, to: string) => client.post(`${at}/publisher`, { 'account-id': to });
  t.equal((await handOver(root, bobId)).status, 200);
  t.same(await collaborators(bob), [], 'the new publisher is no collaborator beside that');
  t.notOk(await seesIt(ada), 'and the old one has no part in it');
  t.equal((await handOver(root, adaId)).status, 200);
  t.same(await collaborators(ada), [], 'the collaboration from before is not there again');
  t.notOk(await seesIt(bob));
  const { id } = (await store.beside.records.packages.find('bin', 'hello'))!;
  t.equal(await store.beside.records.collaborators.has(id, bobId), false, 'and nothing of it is kept');
});

t.test('a snap with an imported declaration goes only to the publisher that it names', async (t) => {
  const store = await startStore(t, trustingVectors(t));
  store.clock.now = now;
  await addOnlineBrand(store, 'my-brand');
  const [root, brand] = [await store.as('root'), await store.as('my-brand')];
  const imported = ['store-account-key', 'brand-account', 'decl-ra'].map((name) => chain.assertions[name]).join('\n');
  await brand.post('/v1/brand/my-brand/assertions', imported, { 'content-type': mediaType });
  const name = /^snap-name: (.+)$/m.exec(imported)?.[1] ?? '';
  t.match(await brand.post('/v1/snap', { name }), { status: 200 });
  const to = { 'account-id': store.ids.ada };
  t.match(await root.post(`/internal/v1/packages/snap/${name}/publisher`, to), {
    status: 409,
    body: { 'error-list': [{ code: 'conflict', message: /names the account my-brand as its publisher/ }] },
  });
  const offer = await brand.post(`/internal/v1/packages/snap/${name}/offer`, { email: 'ada@example.com' });
  t.match(offer, { status: 409 });
  await brand.post('/v1/snap', { name: 'undeclared' });
  t.match(await root.post('/internal/v1/packages/snap/undeclared/publisher', to), { status: 200 });
});
