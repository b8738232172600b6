// Issuing a macaroon to log in with, and exchanging it for a token once it has been discharged.
import t from 'tap';

import { days, minutes, seconds } from '#domain/clock.ts';
import { bakeryFromJson } from '#macaroons/codec/bakery.ts';
import { writeBinary } from '#macaroons/codec/binary.ts';
import { toJson1, toJson2 } from '#macaroons/codec/json.ts';
import { newKeyPair } from '#macaroons/codec/keys.ts';
import {
  bindForRequest,
  mint,
  withFirstPartyCaveat,
  withThirdPartyCaveat,
  type DecodedMacaroon,
} from '#macaroons/codec/macaroon.ts';
import { readToken } from '#macaroons/codec/text.ts';
import { encodePayload } from '#macaroons/codec/payload.ts';
import {
  begin,
  dischargeInBrowser,
  exchange,
  logIn,
  macaroonList,
  startIdentity,
  type IdentityStore,
} from '#test/identity/world.ts';

const header = (list: string): string => Buffer.from(list).toString('base64url');
const conditions = (macaroon: DecodedMacaroon | undefined): string[] =>
  (macaroon?.caveats ?? []).map(({ identifier }) => identifier.toString());
const required = {
  status: 401,
  body: { 'error-list': [{ code: 'macaroon-authorization-required' }], Code: 'macaroon discharge required' },
};

t.test('an issued token is a string of JSON with one third-party caveat to the identity provider', async (t) => {
  const store = await startIdentity(t);
  for (const reply of [await store.anyone.get('/v1/tokens'), await store.anyone.post('/v1/tokens', {})]) {
    t.equal(reply.status, 200);
    t.same(Object.keys(reply.body), ['macaroon']);
    const json = JSON.parse(reply.body.macaroon as string) as { c: { l?: string }[] };
    t.same(Object.keys(json), ['c', 'l', 'i', 's64'], 'a raw macaroon of version 2, not wrapped');
    t.match(json.c, [
      { i: /^time-before 2027-03-01T12:00:00.000Z$/ },
      { i: /^time-since 2026-03-01T12:00:00.000Z$/ },
      { i: /^session-id [0-9a-f-]{36}$/ },
      { i64: /^A/, v64: String, l: `${store.url}/identity` },
    ]);
    t.equal(json.c.length, 4);
  }
  t.same(
    await store.beside.records.macaroons.list(store.ids.ada, store.clock.now.toISOString(), true),
    [],
    'nothing is kept of it',
  );
});

t.test('the restrictions are written in the order that clients know', async (t) => {
  const store = await startIdentity(t);
  const { root } = await begin(store, {
    packages: [{ type: 'snap', name: 'hello' }],
    channels: ['*/edge'],
    permissions: ['package-view', 'package-view'],
    description: 'nightly',
    ttl: 10,
  });
  t.match(conditions(root).slice(0, 6), [
    'time-before 2026-03-01T12:00:10.000Z',
    'time-since 2026-03-01T12:00:00.000Z',
    /^session-id /,
    'permissions ["package-view"]',
    'channels ["*/edge"]',
    'packages [{"type":"snap","name":"hello"}]',
  ]);
});

t.test('a malformed request is refused with the place of the mistake', async (t) => {
  const store = await startIdentity(t);
  for (const [body, expected] of [
    [{ snaps: [] }, "Additional properties are not allowed ('snaps' was unexpected) at /"],
    [{ ttl: 9 }, /at \/ttl$/],
    [{ ttl: '10' }, /at \/ttl$/],
    [{ ttl: 10.5 }, /at \/ttl$/],
    [
      { ttl: 63_072_000 },
      'A token of this store lasts at most 31536000 seconds, which is 365 days, not 63072000 at /ttl',
    ],
    [{ ttl: 1e15 }, /at \/ttl$/],
    [{ channels: [] }, /at \/channels$/],
    [{ channels: ['edge', 'edge'] }, 'The list has non-unique elements at /channels'],
    [{ channels: ['not a channel'] }, "'not a channel' is not a valid channel name at /channels"],
    [{ channels: ['a/b/c/d'] }, /not a valid channel name/],
    [{ packages: [] }, /at \/packages$/],
    [{ packages: [{ type: 'snap' }] }, /at \/packages\/0$/],
    [{ packages: [{ type: 'deb', name: 'x' }] }, /at \/packages\/0\/type$/],
    [
      {
        packages: [
          { type: 'snap', name: 'x' },
          { type: 'snap', name: 'x' },
        ],
      },
      'The list has non-unique elements at /packages',
    ],
    [
      {
        packages: [
          { type: 'snap', name: 'x', valueOf: 1 },
          { type: 'snap', name: 'x' },
        ],
      },
      /valueOf/,
    ],
    [
      { packages: Array.from({ length: 500 }, (_, at) => ({ type: 'snap', name: `name-${at}`.padEnd(40, 'x') })) },
      /too long for a token/,
    ],
    [{ permissions: ['package-push'] }, /at \/permissions\/0$/],
    [{ description: 'x'.repeat(1025) }, /at \/description$/],
    [{ description: null }, /at \/description$/],
    [[], /at \/$/],
  ] as const) {
    const reply = await store.anyone.post('/v1/tokens', body);
    t.equal(reply.status, 400, JSON.stringify(body).slice(0, 80));
    t.match(reply.body['error-list'], [{ code: 'api-error', message: expected }]);
    t.equal((await store.anyone.post('/v1/tokens/usso', body)).status, 400);
  }
  t.equal((await store.anyone.post('/v1/tokens', { ttl: 10 })).status, 200);
  t.equal((await store.anyone.post('/v1/tokens', { ttl: 365 * 24 * 3600 })).status, 200);
  t.equal(
    (await store.anyone.post('/v1/tokens', {}, { authorization: 'Macaroon nonsense' })).status,
    200,
    'a token is ignored',
  );
  t.equal(
    (await store.anyone.get('/v1/tokens', { authorization: 'Macaroon nonsense' })).status,
    401,
    'but not by the listing',
  );
});

t.test('a discharged macaroon is exchanged for a token with every restriction of it', async (t) => {
  const store = await startIdentity(t);
  const body = {
    permissions: ['package-view'],
    channels: ['latest/*'],
    packages: [{ type: 'snap', name: 'hello' }],
    description: 'ada@laptop',
    ttl: 3600,
  };
  const { root, caveatId } = await begin(store, body);
  const list = macaroonList(root, await dischargeInBrowser(store, caveatId));
  const reply = await exchange(store, header(list));
  t.equal(reply.status, 200);
  t.same(Object.keys(reply.body), ['macaroon']);
  const token = reply.body.macaroon as string;
  t.match(token, /^[A-Za-z0-9_-]+$/);
  t.equal(Buffer.from(token, 'base64url')[0], 2, 'binary, version 2');
  t.same(conditions(readToken(token)), conditions(root).slice(0, -1), 'copied word by word');
  const ada = store.with(token);
  t.match(await ada.get('/v1/tokens/whoami'), {
    body: {
      account: { id: store.ids.ada },
      permissions: ['package-view'],
      channels: ['latest/*'],
      packages: body.packages,
    },
  });
  t.match((await ada.get('/v1/tokens')).body.macaroons, [
    { description: 'ada@laptop', 'valid-since': '2026-03-01T12:00:00.000Z', 'valid-until': '2026-03-01T13:00:00.000Z' },
  ]);
  store.clock.advance(seconds(3600));
  t.match(await ada.get('/v1/tokens/whoami'), required);
});

t.test('the list is accepted in either alphabet, padded or not, in the header or in the body', async (t) => {
  const store = await startIdentity(t);
  const { root, caveatId } = await begin(store, { description: '??>>~~' });
  const dm = await dischargeInBrowser(store, caveatId);
  const bound = bindForRequest(root, dm);
  const list = macaroonList(root, dm);
  const padded = (text: string): string => text.padEnd(Math.ceil(text.length / 4) * 4, '=');
  const std = Buffer.from(list).toString('base64');
  const url = Buffer.from(list).toString('base64url');
  for (const text of [std, std.replace(/=+$/, ''), url, padded(url)])
    t.equal((await exchange(store, text)).status, 200);
  const spellings = [
    JSON.stringify([root, bound].map((macaroon) => ({ ...toJson2(macaroon), v: 2 }))),
    JSON.stringify([toJson2(root), { m: toJson2(bound), v: 3, ns: 'std:', cdata: {} }]),
    JSON.stringify([root, bound].map((macaroon) => writeBinary(macaroon, 1).toString('base64'))),
    JSON.stringify([root, bound].map((macaroon) => writeBinary(macaroon, 2).toString('base64url'))),
    list.replaceAll(',', ' ,\n '),
  ];
  for (const text of spellings) t.equal((await exchange(store, header(text))).status, 200, text.slice(0, 40));
  const post = (body: unknown) => store.anyone.post('/v1/tokens/exchange', body);
  for (const macaroon of [std, url, list, JSON.parse(list) as unknown]) t.equal((await post({ macaroon })).status, 200);
  for (const scheme of ['Macaroon', 'macaroon', 'Bearer', 'BEARER']) {
    const pair = [root, bound].map((macaroon) => writeBinary(macaroon, 1).toString('base64url'));
    const quoted = `${scheme} root="${pair[0]}", discharge="${pair[1]}"`;
    t.equal((await store.anyone.post('/v1/tokens/exchange', {}, { authorization: quoted })).status, 200, scheme);
  }
  t.match(await post({}), required, 'nothing at all');
  t.match(await store.anyone.post('/v1/tokens/exchange'), required);
  // A root with a version 1 JSON form, as an old client would write it, when its ids are text.
  const usso = (await store.anyone.post('/v1/tokens/usso', {})).body.macaroon as string;
  t.doesNotThrow(() => toJson1(readToken(usso)!));
});

t.test('exchanging again gives the same session, and none after it was revoked', async (t) => {
  const store = await startIdentity(t);
  const { root, caveatId } = await begin(store);
  const list = header(macaroonList(root, await dischargeInBrowser(store, caveatId)));
  const first = store.with((await exchange(store, list)).body.macaroon as string);
  const second = store.with((await exchange(store, list)).body.macaroon as string);
  const { macaroons } = (await first.get('/v1/tokens')).body as { macaroons: { 'session-id': string }[] };
  t.equal(macaroons.length, 1);
  t.equal((await second.get('/v1/tokens')).body.macaroons.length, 1);
  await second.post('/v1/tokens/revoke', { 'session-id': macaroons[0]?.['session-id'] });
  t.match(await first.get('/v1/tokens/whoami'), required);
  t.match(await exchange(store, list), required);
});

t.test('the exchange comes within ten minutes of the discharge', async (t) => {
  const store = await startIdentity(t);
  const { root, caveatId } = await begin(store);
  store.clock.advance(days(3));
  const list = header(macaroonList(root, await dischargeInBrowser(store, caveatId)));
  store.clock.advance(minutes(10) - 1);
  t.equal((await exchange(store, list)).status, 200);
  store.clock.advance(1);
  const late = await exchange(store, list);
  t.match(late, {
    status: 401,
    body: { 'error-list': [{ code: 'exchange-window-expired', message: 'Exchange window expired' }] },
  });
  store.clock.advance(-minutes(5));
  t.equal((await exchange(store, list)).status, 401, 'a clock set back opens it no more');
});

t.test('a client narrows its token, and the token stays narrow', async (t) => {
  const store = await startIdentity(t);
  const { root, caveatId } = await begin(store, { permissions: ['package-manage'] });
  const dm = await dischargeInBrowser(store, caveatId);
  const narrow = [
    'permissions ["package-manage-releases"]',
    'channels ["latest/edge"]',
    'time-before 2026-03-01T12:05:00Z',
  ].reduce(withFirstPartyCaveat, root);
  const { status, body } = await exchange(store, header(macaroonList(narrow, dm)));
  t.equal(status, 200);
  const ada = store.with(body.macaroon as string);
  t.match((await ada.get('/v1/tokens/whoami')).body, {
    permissions: ['package-manage-releases'],
    channels: ['latest/edge'],
    packages: null,
  });
  store.clock.advance(minutes(5));
  t.match(await ada.get('/v1/tokens/whoami'), required);
});

t.test('additions to a macaroon or a discharge never change the identity of a client', async (t) => {
  const store = await startIdentity(t);
  await store.setPassword('bob');
  const { root, caveatId } = await begin(store);
  const dm = await dischargeInBrowser(store, caveatId, { username: 'bob', password: 'four words of ada' });
  const declared = (macaroon: DecodedMacaroon, text: string): DecodedMacaroon => withFirstPartyCaveat(macaroon, text);
  const own = { caveatRootKey: Buffer.from('known to bob'), identifier: 'own', location: `${store.url}/identity` };
  const withOwn = withThirdPartyCaveat(root, own);
  const ownDischarge = (text: string): DecodedMacaroon => declared(mint(own.caveatRootKey, 'own', ''), text);
  const cases: [string, DecodedMacaroon, DecodedMacaroon[]][] = [
    ['a name declared in the macaroon itself', declared(root, 'declared username ada'), [dm]],
    ['another name declared in the discharge', root, [declared(dm, 'declared username ada')]],
    ['a user id declared in the discharge', root, [declared(dm, `declared userid ${store.ids.ada}`)]],
    ['a renewable discharge made of one that is not', root, [declared(dm, 'logged-in 2026-03-01T12:00:00Z')]],
    ['an unknown condition in the macaroon', declared(root, 'is-admin'), [dm]],
    ['an unknown condition in the discharge', root, [declared(dm, 'is-admin true')]],
    ['a condition with the prefix of another schema', declared(root, 'std:time-before 2030-01-01T00:00:00Z'), [dm]],
    ['a condition without an argument', declared(root, 'permissions'), [dm]],
    ['a condition in capitals', declared(root, 'Permissions []'), [dm]],
    ['another session', declared(root, 'session-id 00000000-0000-4000-8000-000000000000'), [dm]],
    ['a third party of his own that declares a name', withOwn, [dm, ownDischarge('declared username ada')]],
    ['a discharge of his own alone', withOwn, [ownDischarge('declared username ada')]],
    ['no discharge', root, []],
    ['the discharge twice', root, [dm, dm]],
    ['a discharge too many', root, [dm, mint(own.caveatRootKey, 'own', '')]],
    [
      'a discharge minted without the key',
      root,
      [declared(mint(Buffer.alloc(24), caveatId, ''), 'declared username ada')],
    ],
  ];
  for (const [label, macaroon, discharges] of cases) {
    const list = header(macaroonList(macaroon, ...discharges));
    t.match(await exchange(store, list), required, label);
    t.match(await store.anyone.get('/v1/tokens/whoami', { macaroons: list }), required, `${label}, used directly`);
  }
  const guarded = header(macaroonList(withOwn, dm, mint(own.caveatRootKey, 'own', '')));
  t.match(await exchange(store, guarded), required, 'a token could not carry his own third party');
  t.match(
    await store.anyone.get('/v1/tokens/whoami', { macaroons: guarded }),
    { status: 200, body: { account: { username: 'bob' } } },
    'but he may narrow what he holds by one',
  );
  const again = header(macaroonList(root, declared(dm, 'declared username bob')));
  const { body } = await exchange(store, again);
  t.match(
    await store.with(body.macaroon as string).get('/v1/tokens/whoami'),
    { body: { account: { username: 'bob' } } },
    'the same name twice is the same name',
  );
});

t.test('a discharge is good for its own session alone, and only bound to it', async (t) => {
  const store = await startIdentity(t);
  const first = await begin(store);
  const other = await begin(store);
  const dm = await dischargeInBrowser(store, first.caveatId);
  t.match(await exchange(store, header(macaroonList(other.root, dm))), required, 'in another session');
  t.match(await exchange(store, header(JSON.stringify([first.root, dm].map(toJson2)))), required, 'unbound');
  const boundElsewhere = bindForRequest(other.root, dm);
  t.match(
    await exchange(store, header(JSON.stringify([first.root, boundElsewhere].map(toJson2)))),
    required,
    'bound to another',
  );
  const narrowed = withFirstPartyCaveat(first.root, 'permissions []');
  const boundBefore = bindForRequest(first.root, dm);
  t.match(
    await exchange(store, header(JSON.stringify([narrowed, boundBefore].map(toJson2)))),
    required,
    'bound before the macaroon was narrowed',
  );
  t.equal((await exchange(store, header(macaroonList(first.root, dm)))).status, 200);
});

t.test('a session that ada has begun is not continued by bob', async (t) => {
  const store = await startIdentity(t);
  await store.setPassword('bob');
  const { root, caveatId } = await begin(store);
  const ada = header(macaroonList(root, await dischargeInBrowser(store, caveatId)));
  const bob = header(
    macaroonList(root, await dischargeInBrowser(store, caveatId, { username: 'bob', password: 'four words of ada' })),
  );
  t.equal((await exchange(store, ada)).status, 200);
  t.match(await exchange(store, bob), required);
  t.match(await store.anyone.get('/v1/tokens/whoami', { macaroons: bob }), required);
  t.match(await store.anyone.get('/v1/tokens/whoami', { macaroons: ada }), {
    status: 200,
    body: { account: { username: 'ada' } },
  });
});

t.test('a token is not exchanged again, nor does text that is no macaroon get anything', async (t) => {
  const store = await startIdentity(t);
  const token = await logIn(store);
  t.match(await store.with(token).post('/v1/tokens/exchange', {}), required);
  for (const text of [
    '',
    'x',
    'W10=',
    Buffer.from('{}').toString('base64'),
    Buffer.from('[{}]').toString('base64'),
    'A'.repeat(60_000),
  ]) {
    const reply = await store.anyone.post('/v1/tokens/exchange', { macaroon: text });
    t.match(
      reply,
      { status: 400, body: { 'error-list': [{ code: 'api-error', message: 'Invalid macaroon' }] } },
      text.slice(0, 20),
    );
  }
});

t.test('a discharge for another service opens nothing here', async (t) => {
  const store = await startIdentity(t);
  const { PublicKey } = (await store.anyone.get('/identity/publickey')).body as { PublicKey: string };
  const rootKey = Buffer.from('of the service');
  const payload = encodePayload({
    version: 2,
    condition: 'is-authenticated-user',
    rootKey,
    thirdPartyKey: Buffer.from(PublicKey, 'base64'),
    firstParty: newKeyPair(),
    namespace: new Map([['std', '']]),
  });
  const { root } = await begin(store);
  const dm = await dischargeInBrowser(store, payload);
  t.match(await exchange(store, header(macaroonList(root, dm))), required);
  t.match(bakeryFromJson(toJson2(dm))?.macaroon.caveats.length, 2);
});

t.test('a disabled account exchanges nothing, and its tokens open nothing until it is enabled', async (t) => {
  const store: IdentityStore = await startIdentity(t);
  const token = await logIn(store);
  const { root, caveatId } = await begin(store);
  const list = header(macaroonList(root, await dischargeInBrowser(store, caveatId)));
  await store.disable('ada');
  t.match(await exchange(store, list), required);
  t.match(await store.with(token).get('/v1/tokens/whoami'), required);
  const entry = { at: store.clock.now.toISOString(), actor: 'test', action: 'enable', object: 'account' };
  await store.beside.records.change(entry, (tx) => tx.accounts.enable(store.ids.ada));
  t.equal((await store.with(token).get('/v1/tokens/whoami')).status, 200);
});

t.test('a sealed store still lets people log in and checks their tokens', async (t) => {
  const store = await startIdentity(t);
  const { rmSync } = await import('node:fs');
  rmSync(`${store.directory}/master.key`);
  await store.restart();
  t.match((await store.anyone.get('/readyz')).body.problems, [/sealed/]);
  t.match(await store.with(await logIn(store)).get('/v1/tokens/whoami'), { status: 200 });
});
