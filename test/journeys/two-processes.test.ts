// Two processes serve one store: whatever takes several requests succeeds when each of them comes to the other one, and
// what is good once is good once in all.
import { once } from 'node:events';
import { readdirSync, statfsSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t from 'tap';

import { minutes, seconds } from '#domain/clock.ts';
import { codeAt } from '#identity/totp.ts';
import { bakeryFromJson, dischargeFor } from '#macaroons/codec/bakery.ts';
import { writeBinary } from '#macaroons/codec/binary.ts';
import { keyText, newKeyPair } from '#macaroons/codec/keys.ts';
import { bindForRequest } from '#macaroons/codec/macaroon.ts';
import { decodePayload } from '#macaroons/codec/payload.ts';
import { readToken } from '#macaroons/codec/text.ts';
import { declare, digestOf, logIn as logInToRegistry, uploadLogin } from '#test/fixtures/images.ts';
import { snapFixture } from '#test/fixtures/appliance.ts';
import { startTwoProcesses } from '#test/fixtures/two-processes.ts';
import { until } from '#test/fixtures/until.ts';
import {
  begin,
  discharge,
  exchange,
  logIn,
  logInAt,
  macaroonList,
  password,
  postForm,
  waysIn,
} from '#test/identity/world.ts';

const site = 'https://builds.example/callback';
const { store, urls, given, turnTo, advance, kill, again } = await startTwoProcesses(t, (text) =>
  text
    .replace(/^# redirect_urls = .*$/m, `redirect_urls = ["${site}"]`)
    .replace(/^# max_size = .*$/m, 'max_size = "900 TiB"'),
);
const { records } = store.beside;
const front = store.url;
const at = store.clock.now.toISOString();
const codeOf = (secret: Buffer): string => codeAt(secret, Math.floor(store.clock.now.getTime() / seconds(30)));
const directly = async (url: string, path: string, body: object) => {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
};

/** Begins to send a file of so many bytes to one of the processes, from an address; whether it is refused shows at once. */
function beginUpload(url: string, size: number, localAddress = '127.0.0.1') {
  const form = '--form\r\ncontent-disposition: form-data; name="binary"; filename="a.snap"\r\n\r\nbegun';
  const sending = request(`${url}/unscanned-upload/`, {
    method: 'POST',
    localAddress,
    headers: { 'content-type': 'multipart/form-data; boundary=form', 'content-length': String(size) },
  });
  sending.write(form);
  sending.on('error', () => undefined);
  const answered = once(sending, 'response').then(([reply]: IncomingMessage[]) => {
    reply!.resume();
    return { status: reply!.statusCode, retryAfter: reply!.headers['retry-after'] };
  });
  answered.catch(() => undefined);
  return { answered, stop: () => sending.destroy() };
}

/** A journey twice: begun at the one process, and begun at the other. */
async function fromBoth(journey: (first: number) => Promise<void>): Promise<void> {
  for (const first of [0, 1]) {
    turnTo(first);
    const from = given.length;
    await journey(first);
    const inTurn = given.slice(from).map((_, at) => (first + at) % 2);
    t.same(given.slice(from), inTurn, 'the processes take turns');
  }
}

t.test('a login in a browser, and the wait for it', () =>
  fromBoth(async () => {
    const token = await logIn(store);
    t.match(await store.with(token).get('/v1/tokens/whoami'), { status: 200 });
  }),
);

t.test('a login with a one-time password, which is used up at both', async (t) => {
  await store.setPassword('bob');
  const secret = await store.setTotp('bob');
  const code = codeOf(secret);
  const { root, caveatId } = await begin(store);
  const { VisitURL, WaitTokenURL } = (await waysIn(store, caveatId)).InteractionMethods['browser-window'];
  const waiting = fetch(WaitTokenURL);
  t.match(await logInAt(VisitURL, { username: 'bob', password, code }), { status: 200, body: /You are logged in/ });
  const { token64 } = (await (await waiting).json()) as { token64: string };
  const proof = { id64: caveatId.toString('base64'), token64, 'token-kind': 'login' };
  const first = await discharge(store, proof);
  t.equal(first.status, 200);
  for (const again of [1, 2]) t.match(await discharge(store, proof), { status: 401 }, `the token again, ${again}`);
  const bound = macaroonList(root, bakeryFromJson(first.body.Macaroon)!.macaroon);
  t.match(await exchange(store, Buffer.from(bound).toString('base64url')), { status: 200 });

  for (const url of urls) {
    const { macaroon } = (await directly(url, '/v1/tokens/usso', {})).body as { macaroon: string };
    const caveat_id = readToken(macaroon)!
      .caveats.find(({ verificationId }) => verificationId)!
      .identifier.toString();
    const credentials = { email: 'bob@example.com', password, otp: code, caveat_id };
    t.match(await directly(url, '/api/v2/tokens/discharge', credentials), { status: 401 }, 'the code again');
  }
});

t.test('a login by a program that fills in the form, and by an agent', async (t) => {
  const { caveatId } = await begin(store);
  const id64 = caveatId.toString('base64');
  const { form } = (await waysIn(store, caveatId)).InteractionMethods;
  const did = new URL(form.url as string).searchParams.get('did')!;
  t.match(await store.anyone.get(`/identity/form?did=${did}`), { status: 200 });
  const filled = await store.anyone.post(`/identity/form?did=${did}`, { form: { username: 'ada', password } });
  t.match(filled, { status: 200 });
  t.match(await discharge(store, { id64, token64: filled.body.token.value, 'token-kind': 'login' }), { status: 200 });

  const pair = newKeyPair();
  const agent = { username: 'builder', accountId: store.ids.ada, publicKey: keyText(pair.publicKey), createdAt: at };
  await records.change({ at, actor: 'test', action: 'agent', object: 'agent' }, (tx) => tx.agents.claim(agent));
  const url = (await waysIn(store, caveatId)).InteractionMethods.agent['login-url'] as string;
  const query = `&username=builder&public-key=${encodeURIComponent(agent.publicKey)}`;
  const asked = await fetch(url + query, { headers: { 'bakery-protocol-version': '2' } });
  const { macaroon } = bakeryFromJson(((await asked.json()) as { macaroon: object }).macaroon)!;
  const { identifier } = macaroon.caveats.find(({ verificationId }) => verificationId)!;
  const decoded = decodePayload(identifier, pair);
  if (!decoded.decoded) throw new Error(decoded.reason);
  const proven = bindForRequest(macaroon, dischargeFor(decoded.payload, identifier).macaroon);
  const token64 = Buffer.concat([writeBinary(macaroon), writeBinary(proven)]).toString('base64');
  t.match(await discharge(store, { id64, token64, 'token-kind': 'agent' }), { status: 200 });
  for (const again of [1, 2]) {
    t.match(await discharge(store, { id64, token64, 'token-kind': 'agent' }), { status: 410 }, `again, ${again}`);
  }
});

t.test('a login that a web application of the site began', async (t) => {
  const page = await (await fetch(`${store.url}/identity/login-redirect?return_to=${encodeURIComponent(site)}`)).text();
  const did = /name="did" value="([^"]+)"/.exec(page)![1]!;
  const back = await postForm(`${store.url}/identity/login`, { did, username: 'ada', password });
  const code = new URL(back.headers.get('location')!).searchParams.get('code')!;
  t.match(await store.anyone.post('/identity/discharge-token', { code }), { status: 200 });
  for (const again of [1, 2]) {
    t.match(await store.anyone.post('/identity/discharge-token', { code }), { status: 410 }, `again, ${again}`);
  }
});

t.test('an upload, its push and its review', async (t) => {
  const ada = await store.as('ada');
  t.match(await ada.post('/v1/snap', { name: 'tiny-app' }), { status: 200 });
  const seen: unknown[] = [];
  await fromBoth(async (first) => {
    const upload = await ada.upload(await snapFixture(['app-xz', 'app-gzip'][first]!));
    const { status, body } = await ada.post('/v1/snap/tiny-app/revisions', { 'upload-id': upload });
    t.equal(status, 200);
    for (;;) {
      const [found] = (await ada.get(body['status-url'] as string)).body.revisions as [{ status: string }];
      if (found.status === 'new') continue;
      seen.push(found);
      return;
    }
  });
  t.match(seen, [
    { status: 'approved', revision: 1 },
    { status: 'approved', revision: 2 },
  ]);
});

t.test('a push of an image: each chunk to the other process', async (t) => {
  await declare(store, 'ada', 'image');
  const client = await logInToRegistry(store, await uploadLogin(await store.as('ada'), 'image'));
  const chunks = ['first ', 'second '.repeat(20_000), 'third ', 'fourth '.repeat(50_000), 'last'];
  await fromBoth(async (round) => {
    const parts = [...chunks, String(round)];
    const content = parts.join('');
    let { headers } = await client.call('POST', 'blobs/uploads/');
    let size = 0;
    for (const part of parts.slice(0, -1)) {
      const sent = await client.call('PATCH', headers.get('location')!, part);
      size += part.length;
      t.match(sent, { status: 202 });
      t.equal(sent.headers.get('range'), `0-${size - 1}`);
      ({ headers } = sent);
    }
    t.equal((await client.call('GET', headers.get('location')!)).headers.get('range'), `0-${size - 1}`);
    const place = `${headers.get('location')!}&digest=${digestOf(content)}`;
    t.match(await client.call('PUT', place, parts.at(-1)), { status: 201 });
    for (const again of [1, 2]) t.match(await client.call('PUT', place), { status: 404 }, `it has ended, ${again}`);
    for (const look of [1, 2]) {
      const path = `blobs/${digestOf(content)}`;
      t.match(await client.call('HEAD', path), { status: 200 }, `${look}`);
      t.equal((await client.call('GET', path)).text, content);
    }
  });
  const { headers } = await client.call('POST', 'blobs/uploads/');
  t.match(await client.call('PATCH', headers.get('location')!, 'begun'), { status: 202 });
  t.match(await client.call('PATCH', headers.get('location')!, ' and gone on with'), { status: 202 });
  t.match(await client.call('DELETE', headers.get('location')!.split('?')[0]!), { status: 204 });
  for (const again of [1, 2])
    t.match(await client.call('PATCH', headers.get('location')!, 'x'), { status: 404 }, `${again}`);
});

t.test('guesses count over both, and put off at both', async (t) => {
  const { caveatId } = await begin(store);
  const { VisitURL } = (await waysIn(store, caveatId)).InteractionMethods['browser-window'];
  for (let guess = 0; guess < 10; guess++) {
    t.match(await logInAt(VisitURL, { username: 'nobody', password: `guess ${guess}` }), { status: 401 });
  }
  for (const again of [1, 2]) {
    t.match(await logInAt(VisitURL, { username: 'nobody', password: 'guess' }), { status: 429 }, `${again}`);
  }
});

t.test('an upload goes on at one process: the other one lets its credentials last', async (t) => {
  await declare(store, 'ada', 'slow');
  turnTo(0);
  const login = await uploadLogin(await store.as('ada'), 'slow');
  const at = (process: number) => logInToRegistry({ ...store, url: urls[process]! }, login);
  let client = await at(1);
  const { pathname, search } = new URL((await client.call('POST', 'blobs/uploads/')).headers.get('location')!);
  for (const chunk of ['a', 'b', 'c']) {
    await advance(minutes(9));
    client = await at(1);
    t.match(await client.call('PATCH', urls[1]! + pathname + search, chunk), { status: 202 });
  }
  const noted = async () => (await records.notes.find('image-upload', login.username))?.lastAt;
  await until(async () => (await noted()) === store.clock.now.toISOString());
  t.match(await (await at(0)).call('GET', 'tags/list'), { status: 200 }, 'the credentials are good');
  await advance(minutes(10));
  for (const process of [0, 1]) await t.rejects(at(process), { message: /401/ }, 'nothing moved any more');
});

t.test(
  'two processes promise no more of the disk than there is, and what one promised that died is free',
  async (t) => {
    const { bavail, bsize } = statfsSync(store.directory);
    const most = Math.floor(bavail * bsize * 0.6);
    const first = beginUpload(urls[1]!, most);
    const promised = async () => (await records.shares.of('space')).reduce((sum, { amount }) => sum + amount, 0);
    await until(async () => (await promised()) >= most);
    t.match(await beginUpload(urls[0]!, most).answered, { status: 507, retryAfter: '300' });
    const small = beginUpload(urls[0]!, 1000);
    await until(async () => (await records.shares.of('space')).length === 2);

    await kill();
    await t.rejects(first.answered);
    const second = beginUpload(urls[0]!, most);
    await until(async () => (await promised()) >= most && (await records.shares.of('space')).length === 1);
    for (const upload of [second, small]) upload.stop();
    await again();
  },
);

t.test('the places of a sender are those at both processes, and one that died has none', async (t) => {
  const begin = (process: number) => beginUpload(urls[process]!, 1000, '127.0.0.9');
  const uploads = Array.from({ length: 32 }, () => begin(1));
  const taken = async () => (await records.shares.of('uploads of 127.0.0.9')).map(({ amount }) => amount);
  await until(async () => (await taken()).join() === '32');
  t.match(await begin(0).answered, { status: 429, retryAfter: '10' });
  await kill();
  await t.rejects(uploads[0]!.answered);
  const one = begin(0);
  await until(async () => (await taken()).join() === '1');
  one.stop();
  await again();
});

t.test('the process that holds the store starts again: what the other one has under way goes on', async (t) => {
  await declare(store, 'ada', 'kept');
  const client = await logInToRegistry(store, await uploadLogin(await store.as('ada'), 'kept'));
  const other = async (...call: Parameters<typeof client.call>) => {
    turnTo(1);
    return client.call(...call);
  };
  const begun = await other('POST', 'blobs/uploads/');
  const sent = await other('PATCH', begun.headers.get('location')!, 'begun before, ');
  t.match(sent, { status: 202 });

  const temporary = (): string[] => readdirSync(join(store.directory, 'blobs/tmp'));
  const there = temporary().length;
  const rest = Promise.withResolvers<undefined>();
  const form = ['--form\r\n', 'content-disposition: form-data; name="binary"; filename="a.snap"\r\n\r\n', 'half'];
  async function* halves() {
    yield Buffer.from(form.join(''));
    await rest.promise;
    yield Buffer.from(' and half\r\n--form--\r\n');
  }
  const headers = { 'content-type': 'multipart/form-data; boundary=form' };
  const uploading = fetch(`${urls[1]!}/unscanned-upload/`, {
    ...{ method: 'POST', headers, duplex: 'half' },
    body: Readable.from(halves()),
  } as unknown as RequestInit);
  while (temporary().length === there) await new Promise(setImmediate);

  const process = (await records.leases.holders()).find((holder) => !holder.includes(' '))!;
  const ends = { now: '', endsAt: '9999', tooLate: '9999' };
  await records.passing(async ({ leases }) => {
    await leases.take('of the other one', `${process} 1`, ends);
    await leases.take('of one that died', '4194305.1 1', ends);
  });
  await store.restart();
  store.url = front;

  t.match(await records.leases.find('of the other one'), { holder: `${process} 1` });
  t.equal(await records.leases.find('of one that died'), undefined);
  rest.resolve(undefined);
  t.equal((await uploading).status, 200);
  const place = `${sent.headers.get('location')!}&digest=${digestOf('begun before, and after')}`;
  t.match(await other('PUT', place, 'and after'), { status: 201 });
});
