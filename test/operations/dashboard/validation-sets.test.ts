// Validation sets and signed builds: made by publishers with keys of their own, and sent as the older publishing tools do.
import t from 'tap';
import type { Headers } from '#assertions/format/assertion.ts';
import type * as world from '#test/assertions/world.ts';
import type { Reply } from '#test/fixtures/appliance.ts';
import { addBrand } from '#test/fixtures/brands.ts';
import { addCollaborator, addRevision } from '#test/fixtures/packages/packages.ts';
import { larder } from '../../cli/world.ts';
import { newest } from '../../acts/ways.ts';
import { keys, at, build, withKey, sign, post } from './validation-sets-world.ts';

const refused = (status: number, code: string, message: RegExp) => ({
  status,
  body: { error_list: [{ code, message }] },
});
const bad = (message: RegExp) => refused(400, 'api-error', message);

t.test('a set is built, signed, posted, listed, and built again', async (t) => {
  const { store, ada, id } = await withKey(t);
  const list = (path = '', client = ada): Promise<Reply> =>
    client.get(`${at}${path}`, { 'content-type': 'application/json', accept: 'application/json' });
  t.same((await list()).body, { assertions: [] });
  t.same((await list('/base-set?sequence=1')).body, { assertions: [] }, 'not there is an empty list');

  const draft = { 'account-id': store.ids.ada, name: 'base-set', sequence: 2, snaps: [{ name: 'pcx', revision: 7 }] };
  const built = await ada.post(build, draft);
  const headers = {
    type: 'validation-set',
    'authority-id': store.ids.ada,
    series: '16',
    'account-id': store.ids.ada,
    name: 'base-set',
    sequence: '2',
    revision: '0',
    timestamp: '2026-11-20T12:00:00Z',
    snaps: [{ name: 'pcx', id, presence: 'required', revision: '7' }],
  };
  t.same([built.status, built.body], [200, headers]);
  const text = await sign(built.body as Headers);
  const posted = await post(ada, text);
  t.same([posted.status, posted.body], [201, { assertions: [{ headers }] }]);
  const name = `validation-set/16/${store.ids.ada}/base-set/2`;
  t.same(await newest(store), {
    action: 'post_validation_set',
    object: name,
    outcome: 'done',
    details: { revision: 0, key: keys.device.id },
  });
  const exported = await larder(
    `assertion export validation-set 16 ${store.ids.ada} base-set 2 --data ${store.directory}`,
  );
  t.ok(exported.out.includes(text.trimEnd()), 'as it was signed');
  t.match(await post(ada, text), refused(409, 'conflict', /Revision 0 of .* is not newer/));

  const again = await ada.post(build, { ...draft, snaps: [{ name: 'pcx', presence: 'invalid' }] });
  t.match(again.body, { revision: '1', snaps: [{ presence: 'invalid' }] }, 'the next revision of its sequence');
  t.match((await ada.post(build, { ...draft, revision: '5' })).body, { revision: '5' });
  t.match((await ada.post(build, { ...draft, revision: '0' })).body, { revision: '1' });
  const second = await sign(again.body as Headers);
  const both = await Promise.all([post(ada, second), post(ada, second)]);
  t.same(both.map(({ status }) => status).sort(), [201, 409], 'twice at once: one of them');

  for (const sequence of [10, 3]) {
    const next = await ada.post(build, { ...draft, sequence });
    t.match(await post(ada, await sign(next.body as Headers)), { status: 201 });
  }
  const other = await ada.post(build, { ...draft, name: 'another', sequence: 1 });
  await post(ada, await sign(other.body as Headers));
  const shown = async (path: string): Promise<string[]> =>
    (await list(path)).body.assertions.map(
      ({ headers: fields }: { headers: Record<string, string> }) =>
        `${fields['name']} ${fields['sequence']}.${fields['revision']}`,
    );
  t.same(await shown(''), ['another 1.0', 'base-set 10.0'], 'of each the newest');
  t.same(await shown('?sequence=latest'), ['another 1.0', 'base-set 10.0']);
  t.same(await shown('?sequence=all'), ['another 1.0', 'base-set 10.0', 'base-set 3.0', 'base-set 2.1']);
  t.same(await shown('?sequence=2'), ['base-set 2.1']);
  t.same(await shown('/base-set'), ['base-set 10.0']);
  t.same(await shown('/base-set?sequence=all'), ['base-set 10.0', 'base-set 3.0', 'base-set 2.1']);
  t.same(await shown('/base-set?sequence=02'), ['base-set 2.1']);
  t.same(await shown('/base-set?sequence=4'), []);
  t.same(await shown('/nothing_here'), []);
  t.match(await list('?sequence=first'), bad(/sequence/));
  t.same((await list('', await store.as('bob'))).body, { assertions: [] }, 'those of others are not told');
});

t.test('the owner of a set, and its permitted signers', async (t) => {
  const { store, ada, register } = await withKey(t);
  await store.join('carol');
  const brand = await addBrand(store, 'carol', ['ada']);
  const set = (accountId: string, more: object = {}) => ({
    'account-id': accountId,
    name: 'set',
    sequence: 1,
    snaps: [{ name: 'pcx' }],
    ...more,
  });
  t.match(await ada.post(build, set(store.ids.bob)), refused(403, 'forbidden', /is neither/));
  const foreign = await (await store.as('bob')).post(build, set(store.ids.bob));
  t.match(foreign, { status: 200 });
  t.match(await post(ada, await sign(foreign.body as Headers)), refused(403, 'forbidden', /is neither/));
  t.match(await post(await store.as('bob'), await sign(foreign.body as Headers)), bad(/belongs to 'A{32}'/));

  const forBrand = await ada.post(build, set(brand));
  t.match(forBrand, { status: 200, body: { 'authority-id': brand } });
  t.match(await post(ada, await sign(forBrand.body as Headers)), bad(/the key that signed it belongs to 'A{32}'/));
  t.match(await register(await store.as('carol'), brand, keys.second.id), { status: 202 });
  t.match(await post(ada, await sign(forBrand.body as Headers, 'second')), { status: 201 });
  t.match((await ada.get(`${at}/set`)).body.assertions, [{ headers: { 'account-id': brand } }]);
  t.match(
    await post(ada, await sign((await ada.post(build, set(store.ids.ada))).body as Headers, 'ada')),
    bad(/is not registered here/),
  );

  const own = (await ada.post(build, set(store.ids.ada))).body as Headers;
  t.match(await post(ada, await sign({ ...own, timestamp: '2026-01-01T00:00:00Z' })), bad(/outside of the time/));
  const text = await sign(own);
  t.match(await post(ada, text.replace('name: set', 'name: sot')), bad(/changed after it was signed/));
  t.match(await post(ada, `${text}\n${text}`), bad(/./));
  t.match(await post(ada, ''), bad(/./));
  const about = { 'snap-id': 'a'.repeat(32), 'snap-sha3-384': keys.device.id, 'snap-size': '1', grade: 'stable' };
  const other = await sign({
    type: 'snap-build',
    'authority-id': store.ids.ada,
    ...about,
    timestamp: '2026-11-20T12:00:00Z',
  });
  t.match(await post(ada, other), bad(/an assertion of type snap-build, not a validation-set/));
  const strange = await sign({ ...own, snaps: [{ name: 'pcx', id: 'x'.repeat(32), components: { one: 'perhaps' } }] });
  t.match(await post(ada, strange), bad(/./), 'components are looked at');
  t.match(await ada.post(at, {}), { status: 415 });
  t.match(await post(ada, 'x'.repeat(1024 * 1024 + 1)), { status: 413 });
  t.match(await post(store.anyone, text), { status: 401 });
  t.match(
    await post(await store.as('ada', { packages: [{ type: 'snap', name: 'pcx' }] }), text),
    refused(403, 'permission-required', /this operation concerns no single package/),
  );
  t.match(
    await post(await store.as('ada', { permissions: ['package-view'] }), text),
    { status: 201 },
    'no permission is asked',
  );

  await (await store.as('bob')).post('/v1/snap', { name: 'hidden', private: true });
  for (const [snap, message] of [
    [{ name: 'hidden' }, /There is no snap 'hidden' in this store\. Write its id/],
    [{ name: 'nowhere' }, /There is no snap 'nowhere' in this store\. Write its id/],
    [{ name: 'pcx', presence: 'invalid', revision: 3 }, /must not be there/],
    [{ name: 'pcx', revision: 0 }, /./],
    [{ name: 'pcx', revision: '3' }, /is not of type integer/],
    [{ name: 'pcx', id: 'short' }, /snap id/],
    [{ name: 'pcx', unexpected: 1 }, /unexpected/],
    [{ name: 'x'.repeat(41) }, /./],
    [{ name: 'pcx', components: { one: 'perhaps' } }, /./],
  ] as const) {
    t.match(await ada.post(build, set(store.ids.ada, { snaps: [snap] })), bad(message), JSON.stringify(snap));
  }
  const twice = { snaps: [{ name: 'pcx' }, { name: 'pcx' }] };
  for (const more of [
    twice,
    { snaps: [] },
    { sequence: 0 },
    { sequence: '1' },
    { name: 'Set' },
    { name: 'a/b' },
    { revision: 1 },
  ]) {
    t.match(await ada.post(build, set(store.ids.ada, more)), bad(/./), JSON.stringify(more));
  }
  const parts = { components: { one: 'required', two: { presence: 'optional', revision: 4 } } };
  t.match(await ada.post(build, set(store.ids.ada, { snaps: [{ name: 'nowhere', id: 'a'.repeat(32), ...parts }] })), {
    status: 200,
    body: {
      snaps: [{ id: 'a'.repeat(32), components: { one: 'required', two: { presence: 'optional', revision: '4' } } }],
    },
  });
});

t.test('a build is signed of a revision that is here', async (t) => {
  const { store, ada, id, register } = await withKey(t);
  const digest = (revision: number): string =>
    Buffer.from(revision.toString(16).padStart(96, '0'), 'hex').toString('base64url');
  const of = (revision: number, more: Headers = {}): Headers => ({
    type: 'snap-build',
    'authority-id': store.ids.ada,
    'snap-id': id,
    'snap-sha3-384': digest(revision),
    'snap-size': String(1000 + revision),
    grade: 'stable',
    timestamp: '2026-11-20T12:00:00Z',
    ...more,
  });
  const path = `/dev/api/snaps/${id}/builds`;
  const send = async (headers: Headers, client = ada, key?: world.KeyName): Promise<Reply> =>
    client.post(path, { assertion: await sign(headers, key) });
  t.match(await send(of(1)), bad(/No revision of 'pcx' has this digest and size\. Upload the file first/));
  await addRevision(store, id, 1);
  const sent = await send(of(1));
  t.same([sent.status, sent.body], [200, of(1)]);
  t.same(await newest(store), {
    action: 'sign_build',
    object: `snap-build/${digest(1)}`,
    outcome: 'done',
    details: { package: id, revision: 1, key: keys.device.id },
  });
  t.match(await larder(`assertion export snap-build ${digest(1)} --data ${store.directory}`), {
    code: 0,
    out: /type: snap-build/,
  });
  t.match(await send(of(1)), { status: 200 }, 'the same again');
  t.match(await send(of(1, { grade: 'devel' })), refused(409, 'conflict', /revision 1 of 'pcx' is signed already/));

  for (const revision of [3, 4]) await addRevision(store, id, revision);
  const same = await Promise.all([send(of(3)), send(of(3))]);
  t.same(
    same.map(({ status }) => status),
    [200, 200],
    'twice at once',
  );
  const { length } = (await store.beside.records.audit.list(0, 1000)).filter(
    ({ action, object }) => action === 'sign_build' && object === `snap-build/${digest(3)}`,
  );
  t.equal(length, 1, 'is signed once');
  const both = await Promise.all([send(of(4)), send(of(4, { grade: 'devel' }))]);
  t.same(both.map(({ status }) => status).sort(), [200, 409], 'of two that say otherwise it is one');

  t.match(await send(of(1, { 'snap-size': '7' })), bad(/this digest and size/));
  t.match(await send(of(1, { 'snap-id': 'a'.repeat(32) })), bad(/about the snap 'a{32}'/));
  t.match(await send(of(1, { 'authority-id': store.ids.bob })), bad(/Sign it with your own account id/));
  await addRevision(store, id, 2);
  t.match(await send(of(2), ada, 'ada'), bad(/is not registered here/));
  t.match(
    await ada.post(path, { assertion: (await sign(of(2))).replace('stable', 'devel') }),
    bad(/changed after it was signed/),
  );
  const set = {
    type: 'validation-set',
    'authority-id': store.ids.ada,
    series: '16',
    'account-id': store.ids.ada,
    name: 'set',
  };
  const snaps = [{ name: 'pcx', id }];
  const other = await sign({ ...set, sequence: '1', snaps, timestamp: '2026-11-20T12:00:00Z' });
  t.match(await ada.post(path, { assertion: other }), bad(/of type validation-set, not a snap-build/));
  for (const body of [
    {},
    { assertion: 7 },
    { assertion: '' },
    { assertion: 'x' },
    { assertion: 'x'.repeat(65_537) },
    [],
  ]) {
    t.match(await ada.post(path, body), bad(/./));
  }
  const bob = await store.as('bob');
  t.match(await send(of(2), bob), refused(404, 'resource-not-found', /There is no snap with the id/));
  const views = await store.as('ada', { permissions: ['package-view'] });
  t.match(await send(of(2), views), refused(403, 'permission-required', /package-manage-revisions/));
  await addCollaborator(store, id, 'bob');
  t.match(await register(bob, store.ids.bob, keys.second.id), { status: 202 });
  t.match(await send(of(2, { 'authority-id': store.ids.bob }), bob, 'second'), { status: 200 });
});
