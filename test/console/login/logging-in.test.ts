// Logging in to the console, staying in, and being out again.
import t from 'tap';

import { hours, minutes, seconds } from '#domain/clock.ts';
import { codeAt } from '#identity/credentials/totp.ts';
import { password } from '#test/identity/world.ts';
import { startConsole } from '#test/console/world.ts';

t.test('a person logs in, looks around and logs out', async (t) => {
  const store = await startConsole(t);
  const ada = store.visitor();
  const door = await ada.open('/console');
  t.match(door, { status: 401, text: /Log in/ });
  t.equal(ada.cookie, '', 'nothing is kept of somebody who only looks');

  t.match(await ada.logIn('ada', { password: 'wrong' }), { status: 401, text: /name or the password is wrong/ });
  t.equal(ada.cookie, '');
  const front = await ada.logIn('ada');
  t.match(front, { status: 200, address: '/console', text: /Ada/ });
  t.match(front.headers.get('content-security-policy'), /^default-src 'none';/);
  t.match(front.headers.get('cache-control'), 'no-store');
  for (const [, address = ''] of front.html.matchAll(/(?:href|src)="(\/console\/assets\/[^"]+)"/g)) {
    const file = await ada.open(address);
    t.match(file, { status: 200, html: /\w/ }, address);
    t.match(file.headers.get('cache-control'), /immutable/);
    const [path = ''] = address.split('?');
    for (const other of [path, `${path}?digest=${'0'.repeat(64)}`]) {
      const { status, headers } = await ada.open(other);
      if (status === 200)
        t.equal(headers.get('cache-control'), 'public, max-age=60', 'no file of another release is kept');
    }
    t.match(await ada.open(path), { status: 200 });
  }
  t.match(await ada.open('/console/assets/other.js'), { status: 404 });

  const bye = await ada.send(front, '/console/log-out');
  t.match(bye, { status: 200, text: /You have logged out/ });
  t.equal(ada.cookie, '');
});

t.test('an ended session stays ended, for any holder of its cookie', async (t) => {
  const store = await startConsole(t);
  const ada = await store.visit('ada');
  const { cookie } = ada;
  const again = store.visitor();
  again.cookie = cookie;
  await ada.send(await ada.open('/console'), '/console/log-out');
  t.match(await again.open('/console'), { status: 401, text: /ended/ }, 'after logging out');

  const root = await store.as('root');
  const before = await store.visit('ada');
  await store.disable('ada');
  t.match(await before.open('/console'), { status: 401 }, 'after the account was shut out');
  t.equal((await root.get('/v1/tokens/whoami')).status, 200);
});

t.test('a session ends without requests, and after twelve hours with them', async (t) => {
  const store = await startConsole(t);
  const ada = await store.visit('ada');
  for (let at = 0; at < 3; at++) {
    store.clock.advance(minutes(29));
    t.equal((await ada.open('/console')).status, 200, 'whoever goes on stays in');
  }
  const { cookie } = ada;
  store.clock.advance(minutes(31));
  t.match(await ada.open('/console'), { status: 401, text: /session has expired/ });

  // Used every 29 minutes, so that it does not end for want of requests.
  const bob = await store.visit('bob');
  const end = store.clock.now.getTime() + hours(12);
  while (end - store.clock.now.getTime() > minutes(29)) {
    store.clock.advance(minutes(29));
    t.equal((await bob.open('/console')).status, 200);
  }
  store.clock.advance(end - store.clock.now.getTime() - 1);
  t.equal((await bob.open('/console')).status, 200, 'until the last millisecond');
  store.clock.advance(1);
  t.match(await bob.open('/console'), { status: 401 }, 'twelve hours are over');
  ada.cookie = cookie;
  t.match(await ada.open('/console'), { status: 401 });
});

t.test('a session is no token, and a token no session', async (t) => {
  const store = await startConsole(t);
  const ada = await store.visit('ada');
  const [, session = ''] = ada.cookie.split('=');
  t.match(await store.with(session).get('/v1/tokens/whoami'), { status: 401 });
  const { token } = await store.as('ada');
  ada.cookie = `larder-session=${token}`;
  t.equal((await ada.open('/console')).status, 401);
  const both = store.visitor();
  both.cookie = `larder-session=${session}; larder-session=${session}`;
  t.equal((await both.open('/console')).status, 401, 'of two cookies one is somebody else’s');
  const listed = (await (await store.as('ada')).get('/v1/tokens')).body.macaroons as { description: string }[];
  t.ok(
    listed.some(({ description }) => description === 'Console'),
    'it is listed like one',
  );
});

t.test('a token that is called Console is a token all the same', async (t) => {
  const store = await startConsole(t);
  const { ada: accountId } = store.ids;
  await store.beside.authority.issue({ accountId, description: 'Console', ttl: 86_400 }, { actor: 'test' });
  const ada = await store.visit('ada');
  t.match((await ada.open('/console')).text, /A token ends soon/, 'she is told of its end');
  const root = await store.as('root');
  const { tokens } = (await root.get('/internal/v1/tokens')).body as { tokens: Record<string, string>[] };
  const called = tokens.filter(({ description }) => description === 'Console');
  t.same(called.map(({ kind }) => kind).sort(), ['console', 'token']);
});

t.test('an account with one-time passwords has to give one, and each is valid once', async (t) => {
  const store = await startConsole(t);
  const secret = await store.setTotp('ada');
  const ada = store.visitor();
  t.match(await ada.logIn('ada'), { status: 401, text: /one-time password/ });
  const code = codeAt(secret, Math.floor(store.clock.now.getTime() / seconds(30)));
  t.equal((await ada.logIn('ada', { code })).status, 200);
  t.match(await store.visitor().logIn('ada', { code }), { status: 401, text: /was used already/ });
});

t.test('a form is taken from our own page alone', async (t) => {
  const store = await startConsole(t);
  const [ada, bob] = [await store.visit('ada'), await store.visit('bob')];
  const [page, other] = [await ada.open('/console'), await bob.open('/console')];
  const stranger = { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' };
  t.match(await ada.send(page, '/console/log-out', {}, stranger), { status: 403, text: /page of another site/ });
  t.match(
    await ada.send(other, '/console/log-out'),
    { status: 403, text: /a login that has ended/ },
    'the page of somebody else',
  );
  t.match(await ada.send(page, '/console/log-out', { 'form-token': '' }), { status: 403 });
  t.match(await ada.send(page, '/console/log-out', { more: 'x' }), { status: 400 });
  t.equal((await ada.open('/console')).status, 200, 'and nothing of it was done');
  const foreign = store.visitor();
  const login = { username: 'ada', password, to: '/console' };
  const reply = await fetch(`${store.url}/console/log-in`, {
    method: 'POST',
    headers: stranger,
    body: new URLSearchParams(login),
  });
  t.equal(reply.status, 403);
  t.equal(reply.headers.get('set-cookie'), null);
  t.equal(foreign.cookie, '');
});

t.test('a form typed before the end of a session returns after the login', async (t) => {
  const store = await startConsole(t);
  const ada = await store.visit('ada');
  const page = await ada.open('/console');
  store.clock.advance(minutes(31));
  const door = await ada.send(page, '/console/log-out');
  t.match(door, { status: 401, text: /The text that you typed is kept/ });
  const back = await ada.send(door, '/console/log-in', { username: 'ada', password });
  t.match(back, { status: 200, text: /It has not been carried out yet/ });
  t.match(await ada.send(back, '/console/log-out'), { status: 200, text: /You have logged out/ });
});

t.test('the login never leads out of the store', async (t) => {
  const store = await startConsole(t);
  for (const to of [
    'https://elsewhere.example/',
    '//elsewhere.example',
    '/consoles',
    '/console/..//x',
    '/console\\@x',
    'javascript:alert(1)',
  ]) {
    const page = await store.visitor().logIn('ada', { to });
    t.match(page.address, /^\/console/, to);
  }
});
