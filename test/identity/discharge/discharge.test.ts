// The discharger: its responses, how it reads requests, and its refusals.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

import t from 'tap';

import { minutes } from '#domain/clock.ts';
import { bakeryFromJson } from '#macaroons/codec/bakery.ts';
import { keyText, newKeyPair, readKeyText } from '#macaroons/codec/keys.ts';
import { mint, verify, withThirdPartyCaveat } from '#macaroons/codec/macaroon.ts';
import { encodePayload, type BakeryVersion } from '#macaroons/codec/payload.ts';
import type { TestAppliance } from '#test/fixtures/appliance.ts';
import { begin, discharge, logInAt, password, postForm, startIdentity, waysIn, type Posted } from '../world.ts';

const firstParty = newKeyPair();

/** A caveat that some service has encrypted to the store's identity provider. */
async function caveat(
  store: TestAppliance,
  condition: string,
  version: BakeryVersion = 2,
  thirdPartyKey?: Buffer,
): Promise<{ payload: Buffer; rootKey: Buffer }> {
  const { PublicKey } = (await store.anyone.get('/identity/discharge/info')).body as { PublicKey: string };
  const rootKey = Buffer.from('the root key of this one');
  const key = thirdPartyKey ?? readKeyText(PublicKey)!;
  const namespace = new Map([['std', '']]);
  return {
    payload: encodePayload({ version, condition, rootKey, thirdPartyKey: key, firstParty, namespace }),
    rootKey,
  };
}

/** Logs ada in for a caveat, and gives what proves it. */
async function proof(store: TestAppliance, members: Record<string, string>): Promise<Record<string, string>> {
  const { InteractionMethods } = (await discharge(store, members)).body.Info;
  const { url } = InteractionMethods.form as { url: string };
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ form: { username: 'ada', password } }),
  });
  const { token } = (await reply.json()) as { token: { kind: string; value: string } };
  return { token64: token.value, 'token-kind': token.kind };
}

/** The conditions of a discharge, after its signatures have been proven. */
function conditionsOf({ body }: Posted, identifier: Buffer, rootKey: Buffer): string[] {
  const { macaroon } = bakeryFromJson(body.Macaroon)!;
  const key = Buffer.from('root of the service');
  const root = withThirdPartyCaveat(mint(key, 'service', ''), { caveatRootKey: rootKey, identifier, location: 'x' });
  const seen: string[] = [];
  // The discharge itself holds no caveats of third parties, so that it stands for itself when it is bound by hand.
  const bound = { ...macaroon, signature: bind(root.signature, macaroon.signature) };
  const result = verify({
    macaroon: root,
    rootKey: key,
    discharges: [bound],
    check: (condition) => (seen.push(condition), { met: true }),
  });
  if (!result.verified) throw new Error(result.reason);
  return seen;
}

async function oldPost(
  url: string,
  body: string,
  version: string,
): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...(version !== '' && { 'bakery-protocol-version': version }),
  };
  const clientRequest = request(url, { method: 'POST', headers }).end(body);
  const [reply] = (await once(clientRequest, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of reply) text += String(chunk);
  return { status: reply.statusCode ?? 0, headers: reply.headers, text };
}

function bind(root: Buffer, signature: Buffer): Buffer {
  const zero = Buffer.alloc(32);
  const each = [root, signature].map((part) => createHmac('sha256', zero).update(part).digest());
  return createHmac('sha256', zero).update(Buffer.concat(each)).digest();
}

t.test('the public key and the newest version are published', async (t) => {
  const store = await startIdentity(t);
  const info = await store.anyone.get('/identity/discharge/info');
  t.match(info, { status: 200, body: { PublicKey: /^[\w+/]{43}=$/, Version: 3 } });
  t.equal(info.headers.get('content-type'), 'application/json');
  t.same((await store.anyone.get('/identity/publickey')).body, { PublicKey: info.body.PublicKey });
  await store.restart();
  t.same((await store.anyone.get('/identity/discharge/info')).body, info.body, 'it outlives a restart');
  t.equal((await store.anyone.get('/publishergw/identity/publickey')).status, 404);
});

t.test('without a proof of a login the response says how to log in, in the words of clients', async (t) => {
  const store = await startIdentity(t);
  const { payload } = await caveat(store, 'is-authenticated-user');
  for (const version of ['1', '2', '3', '4', '17']) {
    const reply = await discharge(store, { id64: payload.toString('base64') }, version);
    t.equal(reply.status, 401, version);
    t.equal(reply.headers.get('www-authenticate'), 'Macaroon');
    t.equal(reply.headers.get('content-type'), 'application/json');
    t.match(reply.body, { Code: 'interaction required', Message: /.{10,}/ });
  }
  for (const version of ['', '0', 'x', '-1', '1.5']) {
    // fetch takes 407 for a reply of a proxy and hides the response.
    const reply = await oldPost(`${store.url}/identity/discharge`, `id64=${payload.toString('base64url')}`, version);
    t.equal(reply.status, 407, version);
    t.notOk(reply.headers['www-authenticate']);
    t.match(JSON.parse(reply.text), { Code: 'interaction required' });
  }
  const did = /^http:\/\/127\.0\.0\.1:\d+\/identity\/[\w/-]+\?did=[0-9a-f]{64}ID$/;
  const info = await waysIn(store, payload);
  t.match(info, {
    InteractionMethods: {
      agent: { 'login-url': did },
      form: { url: did },
      'browser-window': { VisitURL: did, WaitTokenURL: did },
      'browser-redirect': {
        LoginURL: /\/identity\/login-redirect$/,
        DischargeTokenURL: /\/identity\/discharge-token$/,
      },
    },
    VisitURL: did,
    WaitURL: did,
  });
  const { VisitURL, WaitTokenURL } = info.InteractionMethods['browser-window'] as Record<string, string>;
  t.not(
    VisitURL?.split('did=')[1],
    WaitTokenURL?.split('did=')[1],
    'whoever sees the address in the browser cannot wait for the token',
  );
});

t.test('every spelling of a caveat is read that some client uses', async (t) => {
  const store = await startIdentity(t);
  for (const version of [1, 2, 3] as const) {
    const { payload, rootKey } = await caveat(store, 'is-authenticated-user', version);
    const std = payload.toString('base64');
    const url = payload.toString('base64url');
    const id = Buffer.from([3, 0]); // control characters, which happen to be text
    const bare = (text: string): string => text.replaceAll('=', '');
    const outside: Record<string, string>[] = [
      { id: id.toString(), caveat64: url },
      { id: id.toString(), caveat64: std },
      { id64: id.toString('base64'), caveat64: url },
      { id64: bare(id.toString('base64')), caveat64: bare(std) },
    ];
    const inside: Record<string, string>[] = [
      { id64: std },
      { id64: bare(std) },
      { id64: url },
      ...(version === 1 ? [{ id: payload.toString() }] : []),
    ];
    for (const members of version === 3 ? outside : inside) {
      const proven = await proof(store, members);
      const reply = await discharge(store, { ...members, ...proven });
      t.equal(reply.status, 200, JSON.stringify(Object.keys(members)));
      const identifier = version === 3 ? id : payload;
      t.match(conditionsOf(reply, identifier, rootKey), [
        'declared username ada',
        'time-before 2026-03-01T12:10:00.000Z',
      ]);
      if (version === 1) t.match(reply.body.Macaroon, { identifier: String, signature: /^[0-9a-f]{64}$/ });
      if (version === 2) t.match(reply.body.Macaroon, { i64: String, s64: String, c: Array });
      if (version === 3) t.match(reply.body.Macaroon, { v: 3, ns: 'std:', m: { i: '\u0003\u0000', s64: String } });
    }
  }
});

t.test('the token comes as text or as base64, in the form or in the query', async (t) => {
  const store = await startIdentity(t);
  const { payload } = await caveat(store, 'is-authenticated-user');
  const members = { id64: payload.toString('base64') };
  const text = async (): Promise<string> => Buffer.from((await proof(store, members))['token64']!, 'base64').toString();
  t.equal((await discharge(store, { ...members, token: await text(), 'token-kind': 'login' })).status, 200);
  const bare = Buffer.from(await text()).toString('base64url');
  t.equal((await discharge(store, { ...members, token64: bare, 'token-kind': 'login' })).status, 200);
  const query = new URLSearchParams({ ...members, token: await text() });
  t.equal((await fetch(`${store.url}/identity/discharge?${query.toString()}`, { method: 'POST' })).status, 200);
  t.match(await discharge(store, { ...members, token: 'x', token64: 'eA==' }), {
    status: 400,
    body: { Code: 'bad request' },
  });
});

t.test('a caveat that cannot be read is refused in a sentence', async (t) => {
  const store = await startIdentity(t);
  const { payload } = await caveat(store, 'is-authenticated-user');
  const foreign = await caveat(store, 'is-authenticated-user', 2, newKeyPair().publicKey);
  const damaged = Buffer.from(payload);
  damaged[damaged.length - 1]! ^= 1;
  const cases: [Record<string, string>, RegExp][] = [
    [{}, /the caveat is missing/i],
    [{ id: '' }, /the caveat is missing/i],
    [{ id: 'nonsense' }, /no caveat that the identity provider can read/],
    [{ id64: '***' }, /id64 is not base64/],
    [{ id64: payload.toString('base64'), caveat64: '***' }, /caveat64 is not base64/],
    [{ id: 'x', id64: 'eA==' }, /not both/],
    [{ id64: damaged.toString('base64') }, /no caveat that the identity provider can read/],
    [{ id64: foreign.payload.toString('base64') }, /encrypted to another key/],
    [{ id: '\u0003\u0000' }, /came without its payload/],
    [{ id64: Buffer.alloc(20_000, 2).toString('base64') }, /encrypted to another key/],
    [{ id64: Buffer.alloc(33_000, 2).toString('base64') }, /id64/],
  ];
  for (const [members, pattern] of cases) {
    const reply = await discharge(store, members);
    t.equal(reply.status, 400, String(pattern));
    t.match(reply.body, { Code: 'bad request', Message: pattern });
    t.same(Object.keys(reply.body), ['Code', 'Message']);
  }
  const twice = await fetch(`${store.url}/identity/discharge`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'id=a&id=b',
  });
  t.match(await twice.json(), { Code: 'bad request', Message: /names 'id' twice/ });
  const json = await store.anyone.post('/identity/discharge', { id64: 'x' });
  t.match(json, { status: 415, body: { Code: 'unsupported media type' } });
  t.match(await store.anyone.get('/identity/discharge'), { status: 405 });
});

t.test('unknown conditions are refused before a password is requested', async (t) => {
  const store = await startIdentity(t);
  for (const condition of [
    'is-authenticated',
    'is-authenticated-user ada',
    'is-authenticated-user @',
    'is-authenticated-userid ada',
    'is-member-of',
    'is-member-of ',
    ' is-authenticated-user',
    'IS-AUTHENTICATED-USER',
    'need-declared',
    'need-declared username',
    'need-declared , is-authenticated-user',
    'need-declared a,,b is-authenticated-user',
    'need-declared a need-declared b is-authenticated-user',
    'declared username ada',
    'true',
    '',
    'time-before 2030-01-01T00:00:00Z',
  ].filter((text) => text !== '')) {
    const { payload } = await caveat(store, condition);
    const reply = await discharge(store, { id64: payload.toString('base64') });
    t.equal(reply.status, 400, condition);
    t.match(reply.body, { Code: 'bad request', Message: /does not understand/ });
    t.notMatch(reply.body.Message, condition, 'and not repeated');
  }
});

t.test('the requests match the declared ones', async (t) => {
  const store = await startIdentity(t);
  const declared = async (condition: string): Promise<string[] | number> => {
    const { payload, rootKey } = await caveat(store, condition);
    const members = { id64: payload.toString('base64') };
    const reply = await discharge(store, { ...members, ...(await proof(store, members)) });
    if (reply.status !== 200) return reply.status;
    return conditionsOf(reply, payload, rootKey).filter((text) => !text.startsWith('time-before '));
  };
  t.same(await declared('is-authenticated-user'), ['declared username ada']);
  t.same(await declared('is-authenticated-user @example'), 403);
  t.same(await declared('is-authenticated-userid'), [`declared userid ${store.ids.ada}`]);
  t.same(await declared('is-member-of ada'), []);
  t.same(await declared('is-member-of bob store-admin'), 403);
  t.same(await declared('need-declared username is-authenticated-user'), ['declared username ada']);
  t.same(await declared('need-declared username,userid is-authenticated-user'), [
    'declared username ada',
    'declared userid ',
  ]);
  t.same(await declared('need-declared username is-member-of ada'), ['declared username ']);
  const entry = { at: store.clock.now.toISOString(), actor: 'test', action: 'role', object: 'account' };
  await store.beside.records.change(entry, (tx) => tx.accounts.makeStoreAdministrator(store.ids.ada, entry.at));
  t.same(await declared('is-member-of bob store-admin'), []);
});

t.test('a proof is good for its own caveat, once, and for ten minutes', async (t) => {
  const store = await startIdentity(t);
  const first = { id64: (await caveat(store, 'is-authenticated-user')).payload.toString('base64') };
  const other = { id64: (await caveat(store, 'is-authenticated-user')).payload.toString('base64') };
  const denied = { status: 401, body: { Code: 'permission denied' } };
  const proven = await proof(store, first);
  t.match(await discharge(store, { ...other, ...proven }), denied, 'not for another');
  t.equal((await discharge(store, { ...first, ...proven })).status, 200);
  const again = await discharge(store, { ...first, ...proven });
  t.match(again, denied, 'not twice');
  t.notOk(again.headers.get('www-authenticate'), 'and that asks for nothing');
  const late = await proof(store, first);
  store.clock.advance(minutes(10));
  t.match(await discharge(store, { ...first, ...late }), denied, 'not after ten minutes');
  for (const token of ['', 'x', 'x'.repeat(60_000)].slice(1)) {
    t.match(await discharge(store, { ...first, token, 'token-kind': 'login' }), denied);
    t.match(await discharge(store, { ...first, token, 'token-kind': 'agent' }), denied);
  }
});

t.test('a disabled account gets no discharge, even when it has logged in before', async (t) => {
  const store = await startIdentity(t);
  const members = { id64: (await caveat(store, 'is-authenticated-user')).payload.toString('base64') };
  const proven = await proof(store, members);
  await store.disable('ada');
  t.match(await discharge(store, { ...members, ...proven }), { status: 401, body: { Code: 'permission denied' } });
});

t.test('a login under way outlives a new key of the identity provider', async (t) => {
  const store = await startIdentity(t);
  const { caveatId } = await begin(store);
  const members = { id64: caveatId.toString('base64') };
  const before = (await store.anyone.get('/identity/publickey')).body.PublicKey as string;
  await store.beside.dischargerKeys.rotate({ actor: 'test' });
  t.not((await store.anyone.get('/identity/publickey')).body.PublicKey, before);
  t.equal((await discharge(store, { ...members, ...(await proof(store, members)) })).status, 200);
  store.clock.advance(minutes(25 * 60));
  t.match(await discharge(store, members), { status: 400, body: { Message: /encrypted to another key/ } });
});

t.test('a waiting client gets the token after the login, as often as it asks', async (t) => {
  const store = await startIdentity(t);
  const { caveatId } = await begin(store);
  const info = await waysIn(store, caveatId);
  const { VisitURL, WaitTokenURL } = info.InteractionMethods['browser-window'] as Record<string, string>;
  const early = fetch(WaitTokenURL!);
  await logInAt(VisitURL!, { username: 'ada', password });
  const reply = await early;
  t.equal(reply.status, 200);
  const body = (await reply.json()) as { kind: string; token64: string };
  t.match(body, { kind: /^\w+$/ });
  t.equal(Buffer.from(body.token64, 'base64').toString('base64'), body.token64, 'standard base64 with padding');
  t.notOk('token' in body);
  t.same(await (await fetch(WaitTokenURL!)).json(), body, 'a client whose connection broke asks again');
});

t.test('a wait without a login is refused, and an unfinished login ends with a 4xx', async (t) => {
  const store = await startIdentity(t);
  const unknown = `${'0'.repeat(64)}ID`;
  t.match(await store.anyone.get(`/identity/wait-token?did=${unknown}`), {
    status: 410,
    body: { Code: 'login expired' },
  });
  t.match(await store.anyone.get('/identity/wait-token'), { status: 400, body: { Code: 'bad request' } });
  t.match(await store.anyone.get('/identity/wait-token?did=x'), { status: 400 });
  const { caveatId } = await begin(store);
  const { WaitTokenURL } = (await waysIn(store, caveatId)).InteractionMethods['browser-window'] as Record<
    string,
    string
  >;
  store.clock.advance(minutes(15) - 50);
  const waiting = await fetch(WaitTokenURL!);
  t.equal(waiting.status, 410);
  store.clock.advance(50);
  t.equal((await fetch(WaitTokenURL!)).status, 410);
});

t.test('a store that stops releases waiting clients at once', async (t) => {
  const store = await startIdentity(t);
  const { caveatId } = await begin(store);
  const { WaitTokenURL } = (await waysIn(store, caveatId)).InteractionMethods['browser-window'] as Record<
    string,
    string
  >;
  const waiting = fetch(WaitTokenURL!);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await store.restart();
  t.equal((await waiting).status, 410);
});

t.test('agents prove their key for the login that they began, and within a minute', async (t) => {
  const store = await startIdentity(t);
  const { publicKey } = newKeyPair();
  const at = store.clock.now.toISOString();
  const agent = { username: 'builder', accountId: store.ids.ada, publicKey: keyText(publicKey), createdAt: at };
  await store.beside.records.change({ at, actor: 'test', action: 'agent', object: 'agent' }, (tx) =>
    tx.agents.claim(agent),
  );
  const { caveatId } = await begin(store);
  const url = (await waysIn(store, caveatId)).InteractionMethods.agent['login-url'] as string;
  const ask = async (username: string, key: string, version = '3') => {
    const query = `&username=${encodeURIComponent(username)}&public-key=${encodeURIComponent(key)}`;
    const reply = await fetch(url + query, { headers: { 'bakery-protocol-version': version } });
    return { status: reply.status, body: (await reply.json()) as { macaroon: { m?: { c: object[] } } } };
  };
  const response = await ask('builder', keyText(publicKey));
  t.match(response, { status: 200, body: { macaroon: { v: 3, ns: 'std:', cdata: Object } } });
  t.match(response.body.macaroon.m?.c, [
    { i: 'time-before 2026-03-01T12:01:00.000Z' },
    { i: 'declared username builder' },
    { l: 'local', v64: String },
  ]);
  t.match(await ask('builder', keyText(publicKey), '2'), { body: { macaroon: { c: Array, s64: String } } });
  const denied = { status: 401, body: { Code: 'permission denied' } };
  t.match(await ask('builder', keyText(newKeyPair().publicKey)), denied);
  t.match(await ask('nobody', keyText(publicKey)), denied);
  t.match(await ask('builder', 'x'), denied);
  // The macaroon alone, without the discharge that only the key's holder can make, proves nothing.
  const { macaroon } = bakeryFromJson(response.body.macaroon)!;
  const { writeBinary } = await import('#macaroons/codec/binary.ts');
  const token64 = writeBinary(macaroon).toString('base64');
  t.match(await discharge(store, { id64: caveatId.toString('base64'), token64, 'token-kind': 'agent' }), denied);
});

t.test('posting a form to an address of pages gets a page, not an error for programs', async (t) => {
  const store = await startIdentity(t);
  const reply = await postForm(`${store.url}/identity/login`, { did: 'x', username: 'ada', password });
  t.equal(reply.status, 410);
  t.match(reply.headers.get('content-type'), /^text\/html/);
});
