import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { footprint } from '#test/fixtures/footprint.ts';

const refused = (status: number, code: string, message?: RegExp | string) => ({
  status,
  body: { 'error-list': [{ code, message: message ?? /\.$/ }] },
});

t.test('a name belongs to the account that registers it first', async (t) => {
  const store = await startStore(t);
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  const first = await ada.post('/v1/snap', { name: 'hello' });
  t.match(first, { status: 200, body: { id: /^[a-zA-Z0-9]{32}$/ } });
  t.same(Object.keys(first.body), ['id']);
  t.match(await bob.post('/v1/snap', { name: 'hello' }), refused(409, 'already-registered'));
  t.match(await ada.post('/v1/snap', { name: 'hello' }), refused(409, 'already-owned'));
  t.match(await bob.post('/v1/charm', { name: 'hello' }), { status: 200 }, 'another namespace is another matter');
  t.match(await ada.get('/v1/snap/hello'), { status: 200, body: { metadata: { name: 'hello', id: first.body.id } } });
});

t.test('a name that many request at once goes to one account', async (t) => {
  const store = await startStore(t);
  const people = await Promise.all([...Array(8).keys()].map((at) => store.as(at % 2 === 0 ? 'ada' : 'bob')));
  const replies = await Promise.all(people.map((client) => client.post('/v1/snap', { name: 'wanted' })));
  t.equal(replies.filter(({ status }) => status === 200).length, 1);
  t.equal(replies.filter(({ status }) => status === 409).length, 7);
});

t.test('a name that is registered again says so, and has the track latest', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  t.match((await ada.get('/v1/snap/hello')).body.metadata, {
    id,
    status: 'registered',
    private: false,
    type: 'snap',
    tracks: [{ name: 'latest', 'version-pattern': null, 'automatic-phasing-percentage': null }],
  });
  t.match(await ada.post('/v1/snap', { name: 'secret', private: true, team: null, type: 'snap' }), { status: 200 });
  t.match((await ada.get('/v1/snap/secret')).body.metadata, { private: true });
});

t.test('each namespace has its types', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const types: Record<string, string[]> = {
    bin: ['bin'],
    charm: ['charm', 'bundle'],
    snap: ['snap'],
    rock: ['rock'],
    sdk: ['sdk'],
    source: ['rockcraft', 'snapcraft', 'charmcraft', 'sourcecraft'],
  };
  for (const [namespace, own] of Object.entries(types)) {
    const plain = await ada.post(`/v1/${namespace}`, { name: 'plain' });
    t.equal(plain.status, 200, namespace);
    t.equal((await ada.get(`/v1/${namespace}/plain`)).body.metadata.type, own[0], `${namespace}: the usual type`);
    for (const type of Object.values(types).flat()) {
      const reply = await ada.post(`/v1/${namespace}`, { name: `a-${type}`, type });
      if (own.includes(type)) t.equal(reply.status, 200, `${type} in ${namespace}`);
      else t.match(reply, refused(400, 'api-error', / at \/type$/), `${type} in ${namespace}`);
    }
    t.match(
      await ada.post(`/v1/${namespace}`, { name: 'other', type: 'deb' }),
      refused(400, 'api-error', / at \/type$/),
    );
  }
  t.match(await ada.post('/v1/deb', { name: 'hello' }), refused(404, 'resource-not-found'));
});

t.test('a name that breaks the grammar is refused with the mistake', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  for (const name of [
    'a',
    'A',
    'Hello',
    'he_llo',
    'he.llo',
    '-hello',
    'hello-',
    'he--llo',
    '42',
    '4-2',
    'x'.repeat(41),
    'héllo',
    ' hello',
    'hello\n',
    '..',
  ]) {
    t.match(await ada.post('/v1/snap', { name }), refused(400, 'api-error'), JSON.stringify(name));
  }
  t.match(await ada.post('/v1/snap', { name: '' }), refused(400, 'api-error', / at \/name$/));
  for (const name of ['ab', 'a1', '1a', 'a-b-c', 'x'.repeat(40), '0-0a']) {
    t.match(await ada.post('/v1/snap', { name }), { status: 200 }, name);
  }
});

t.test('a body that is wrong registers nothing', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const before = footprint(store.directory);
  for (const [body, message] of [
    [{}, /^'name' is a required property at \/$/],
    [{ name: 5 }, /^5 is not of type string at \/name$/],
    [{ name: null }, /^null is not of type string at \/name$/],
    [{ name: 'hello', private: 'yes' }, /^This text is not of type boolean at \/private$/],
    [{ name: 'hello', private: null }, /^null is not of type boolean at \/private$/],
    [{ name: 'hello', colour: 'red' }, /^Additional properties are not allowed \('colour' was unexpected\) at \/$/],
    [[{ name: 'hello' }], /^This list is not of type object at \/$/],
  ] as const) {
    t.match(await ada.post('/v1/snap', body), refused(400, 'api-error', message));
  }
  t.match(await ada.post('/v1/snap', { name: 'hello', team: 'us' }), refused(400, 'account-not-found'));
  t.same(footprint(store.directory), before);
});

t.test('a reserved name cannot be registered', async (t) => {
  const store = await startStore(t, (text) => text.replace(/^# reserved = .*$/m, 'reserved = ["linux", "root"]'));
  for (const person of ['ada', 'root']) {
    t.match(await (await store.as(person)).post('/v1/snap', { name: 'linux' }), refused(409, 'reserved-name'));
    t.match(await (await store.as(person)).post('/v1/rock', { name: 'root' }), refused(409, 'reserved-name'));
  }
  t.match(await (await store.as('ada')).post('/v1/snap', { name: 'linux-tools' }), { status: 200 });
});

t.test('a token that names packages registers those alone', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada', { packages: [{ type: 'snap', name: 'hello' }] });
  t.match(
    await ada.post('/v1/snap', { name: 'other' }),
    refused(401, 'permission-required', /^Package access not allowed/),
  );
  t.match(
    await ada.post('/v1/charm', { name: 'hello' }),
    refused(401, 'permission-required', /^Package access not allowed/),
  );
  t.match(await ada.post('/v1/snap', { name: 'hello' }), { status: 200 });
});

t.test('a charm may be registered with the macaroon in the payload', async (t) => {
  const store = await startStore(t);
  const { token } = await store.as('ada');
  t.match(await store.anyone.post('/v1/charm', { name: 'hello', macaroon: token }), {
    status: 200,
    body: { id: String },
  });
  const list = Buffer.from(JSON.stringify([token])).toString('base64');
  t.match(await store.anyone.post('/v1/charm', { name: 'hello2', macaroon: list }), { status: 200 });
  t.match(await store.anyone.post('/v1/charm', { name: 'hello3', macaroon: [token] }), { status: 200 });
  for (const macaroon of ['nonsense', '', null, 5, {}, [], token.slice(0, -2)]) {
    t.match(
      await store.anyone.post('/v1/charm', { name: 'hello4', macaroon }),
      refused(401, 'macaroon-authorization-required', /./),
    );
  }
  t.match(
    await store.anyone.post('/v1/snap', { name: 'hello', macaroon: token }),
    refused(401, 'macaroon-authorization-required', 'discharge required'),
    'only charms do that',
  );
  t.match(
    await (await store.as('ada')).post('/v1/charm', { name: 'hello5', macaroon: token }),
    refused(400, 'api-error', /'macaroon' was unexpected/),
    'a header is enough',
  );
});
