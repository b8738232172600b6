// The login pages: their content, their protection, and their use without JavaScript.
import t from 'tap';

import { hours, minutes, seconds } from '#domain/clock.ts';
import { itself } from '#acts/act.ts';
import { disableAccount, enableAccount } from '#acts/accounts/accounts.ts';
import { changeOwnPassword, setPassword } from '#acts/accounts/credentials.ts';
import { codeAt } from '#identity/credentials/totp.ts';
import { until } from '#test/fixtures/until.ts';
import { mayReturnTo } from '#identity/login/login-redirect.ts';
import { begin, discharge, logInAt, password, postForm, startIdentity, waysIn, type IdentityStore } from '../world.ts';

/** The login page of a login that a client has begun. */
async function visit(store: IdentityStore, body: object = {}): Promise<string> {
  const { caveatId } = await begin(store, body);
  return ((await waysIn(store, caveatId)).InteractionMethods['browser-window'] as { VisitURL: string }).VisitURL;
}

const didOf = (url: string): string => url.split('did=')[1] ?? '';
const code = (secret: Buffer, { clock }: IdentityStore): string =>
  codeAt(secret, Math.floor(clock.now.getTime() / seconds(30)));

t.test('the page names the client and its request, and contains nothing that a script could use', async (t) => {
  const store = await startIdentity(t);
  const description = '<script>alert(1)</script> & "quotes" {{did}}';
  const url = await visit(store, {
    description,
    permissions: ['package-manage-releases', 'account-register-package'],
    channels: ['latest/edge'],
    packages: [{ type: 'snap', name: 'hello' }],
    ttl: 3600,
  });
  const reply = await fetch(url);
  const html = await reply.text();
  t.equal(reply.status, 200);
  t.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8');
  t.equal(
    reply.headers.get('content-security-policy'),
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  );
  t.match(Object.fromEntries(reply.headers), {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
  });
  t.match(html, '&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot; {{did}} asks for a token');
  t.match(html, 'release your packages and register and unregister package names');
  t.match(html, 'one package; the channels latest/edge');
  t.match(html, '2026-03-01 13:00 UTC');
  t.notMatch(html, /<script|javascript:|\son\w+=|<style|style=/i);
  t.notMatch(html, /\{\{[#^/]/, 'every section is decided');
  t.match(html, /<html lang="en">/);
  for (const id of ['username', 'password']) {
    t.match(html, new RegExp(`<label for="${id}">`));
    t.match(html, new RegExp(`id="${id}"`));
  }
  const style = await store.anyone.get('/identity/style.css');
  t.match(style, { status: 200, body: /color-scheme: light dark;.*light-dark\(/s });
  t.equal(style.headers.get('content-type'), 'text/css; charset=utf-8');
  t.notMatch(style.body, /url\(|@import/, 'nothing is fetched from anywhere');
});

t.test('a token without limits is shown as one', async (t) => {
  const store = await startIdentity(t);
  const html = await (await fetch(await visit(store))).text();
  t.match(html, 'A program asks for a token');
  t.match(html, 'do everything that you may do');
  t.match(await (await fetch(await visit(store, { permissions: [] }))).text(), 'only confirm who you are');
});

t.test('a login is confirmed on the page, and works by e-mail address too', async (t) => {
  const store = await startIdentity(t);
  for (const username of ['ada', 'ada@example.com', 'ADA@Example.com']) {
    const reply = await logInAt(await visit(store), { username, password });
    t.equal(reply.status, 200, username);
    t.match(reply.body, /You are logged in.*As ada\./s);
    t.notOk(reply.headers.get('set-cookie'), 'nothing is left behind in the browser');
  }
});

t.test('the last page can be loaded again, and sends no password again', async (t) => {
  const store = await startIdentity(t);
  const url = await visit(store);
  const form = { did: didOf(url), username: 'ada', password };
  const action = url.split('?')[0]!;
  const send = () => fetch(action, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
  const answer = await send();
  t.equal(answer.status, 303);
  const last = new URL(answer.headers.get('location')!, url).href;
  for (const nth of ['first', 'second']) {
    const page = await fetch(last);
    t.match(
      { status: page.status, body: await page.text() },
      { status: 200, body: /You are logged in.*As ada\./s },
      nth,
    );
  }
  t.equal((await send()).status, 410, 'the form itself counts once');
  store.clock.advance(minutes(15));
  t.equal((await fetch(last)).status, 410, 'and after a while it is forgotten');
});

t.test('an unknown name, a wrong password and a disabled account get the very same answer', async (t) => {
  const store = await startIdentity(t);
  await store.setPassword('bob');
  await store.disable('bob');
  const answers: string[] = [];
  for (const [username, text] of [
    ['ada', 'a wrong password'],
    ['nobody', password],
    ['bob', password],
    ['root', password], // who has no password at all
    ['', ''],
  ] as const) {
    const url = await visit(store);
    const reply = await logInAt(url, { username, password: text });
    if (username === '') {
      t.match(reply, { status: 400, body: /Enter your user name and your password\./ });
      continue;
    }
    t.equal(reply.status, 401);
    const name = new RegExp(`value="${username}"`);
    t.match(reply.body, name, 'the name need not be typed again');
    answers.push(
      String(reply.body)
        .replace(name, '')
        .replaceAll(didOf(url), '')
        .replace(/\d\d:\d\d UTC|T\d\d:.*?Z/g, ''),
    );
  }
  t.equal(new Set(answers).size, 1);
  t.match(answers[0], /role="alert"[^>]*>The name or the password is wrong\./);
});

t.test('an account with one-time passwords enters one on a second page, and each code is valid once', async (t) => {
  const store = await startIdentity(t);
  const secret = await store.setTotp('ada');
  const first = await visit(store);
  const codePage = await logInAt(first, { username: 'ada', password });
  t.match(codePage, { status: 200, body: /Now enter the six digits that your authenticator shows for ada/ });
  t.notMatch(codePage.body, password);
  const wrong = await postForm(first.split('?')[0]!, { did: didOf(first), code: '000000' });
  t.match(wrong, { status: 401, body: /The one-time password is wrong/ });
  const right = code(secret, store);
  t.match(await postForm(first.split('?')[0]!, { did: didOf(first), code: right }), {
    status: 200,
    body: /You are logged in/,
  });
  const replayed = await logInAt(await visit(store), { username: 'ada', password, code: right });
  t.match(replayed, { status: 401, body: /was used already\. Wait for the next one/ });
  store.clock.advance(seconds(30));
  t.match(await logInAt(await visit(store), { username: 'ada', password, code: code(secret, store) }), {
    status: 200,
  });
});

t.test('guesses of codes on the second page are delayed', async (t) => {
  const store = await startIdentity(t);
  const secret = await store.setTotp('ada');
  const url = await visit(store);
  const page = url.split('?')[0]!;
  t.match(await postForm(page, { did: didOf(url), username: 'ada', password }), { status: 200, body: /name="code"/ });
  const guess = (text: string) => postForm(page, { did: didOf(url), code: text });
  for (let at = 0; at < 10; at++) t.equal((await guess(`${at}`.repeat(6))).status, 401, `guess ${at}`);
  t.match(await guess('000000'), { status: 429, body: /Too many failed logins/ });
  t.equal((await guess(code(secret, store))).status, 429, 'also with the right code, until the wait is over');
  store.clock.advance(seconds(60));
  t.equal((await guess(code(secret, store))).status, 200);
});

t.test('a password change before the code is given invalidates the old password', async (t) => {
  const store = await startIdentity(t);
  const secret = await store.setTotp('ada');
  const url = await visit(store);
  const place = url.split('?')[0]!;
  t.match(await logInAt(url, { username: 'ada', password }), { status: 200, body: /six digits/ });
  store.clock.advance(1000);
  await store.setPassword('ada', 'four other words of ada');
  const reply = await postForm(place, { did: didOf(url), code: code(secret, store) });
  t.match(reply, { status: 401, body: /The name or the password is wrong/ });
  t.match(reply.body, /name="password"/, 'the login begins anew');
  const anew = { did: didOf(url), username: 'ada', password: 'four other words of ada' };
  t.match(await postForm(place, anew), { status: 200, body: /six digits/ });
  t.match(await postForm(place, { did: didOf(url), code: code(secret, store) }), {
    status: 200,
    body: /You are logged in/,
  });
});

t.test('a code without the password before it opens nothing', async (t) => {
  const store = await startIdentity(t);
  const secret = await store.setTotp('ada');
  const url = await visit(store);
  const reply = await postForm(url.split('?')[0]!, { did: didOf(url), code: code(secret, store) });
  t.match(reply, { status: 400, body: /Enter your user name and your password/ });
  const both = await postForm(url.split('?')[0]!, {
    did: didOf(url),
    code: code(secret, store),
    username: 'ada',
    password: 'wrong',
  });
  t.match(both, { status: 401, body: /The name or the password is wrong/ });
});

t.test('a login is finished once, and expires', async (t) => {
  const store = await startIdentity(t);
  const url = await visit(store);
  await logInAt(url, { username: 'ada', password });
  const again = await postForm(url.split('?')[0]!, { did: didOf(url), username: 'ada', password });
  t.match(again, { status: 410, body: /Too late.*has expired or is finished/s });
  t.match(await (await fetch(url)).text(), /You are logged in/, 'the address of the page tells so too');
  const late = await visit(store);
  store.clock.advance(minutes(15));
  t.match(await postForm(late.split('?')[0]!, { did: didOf(late), username: 'ada', password }), { status: 410 });
  for (const query of ['', '?did=', '?did=x', `?did=${'0'.repeat(64)}ID`, `?did=${'0'.repeat(5000)}`]) {
    const reply = await fetch(`${store.url}/identity/login${query}`);
    t.equal(reply.status, 410, query.slice(0, 20));
    t.match(reply.headers.get('content-type'), /^text\/html/);
  }
});

t.test('a form that another site has sent is refused', async (t) => {
  const store = await startIdentity(t);
  const url = await visit(store);
  const send = (headers: Record<string, string>) =>
    postForm(url.split('?')[0]!, { did: didOf(url), username: 'ada', password: 'wrong' }, headers);
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  ]) {
    t.match(await send(headers), { status: 403, body: /sent by a page of another site/ }, JSON.stringify(headers));
  }
  for (const headers of [
    {},
    { origin: store.url },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ]) {
    t.match(await send(headers), { status: 401 }, JSON.stringify(headers));
  }
});

t.test('guesses are delayed, and a new password ends the delay', async (t) => {
  const store = await startIdentity(t);
  const url = await visit(store);
  const attempt = (text: string) => postForm(url.split('?')[0]!, { did: didOf(url), username: 'ada', password: text });
  for (let at = 0; at < 10; at++) t.equal((await attempt(`wrong ${at}`)).status, 401);
  const reply = await attempt(password);
  t.match(reply, { status: 429, body: /Too many failed logins; try again in a second/ });
  t.equal(reply.headers.get('retry-after'), '1');
  store.clock.advance(1);
  await store.setPassword('ada', 'another four words');
  t.equal((await attempt('another four words')).status, 200);
});

t.test('a person sets a password with a link, once', async (t) => {
  const store = await startIdentity(t);
  const key = await store.invite('bob', new Date(store.clock.now.getTime() + hours(72)));
  const url = `${store.url}/identity/set-up`;
  t.match(await store.anyone.get(`/identity/set-up/${key}`), {
    status: 200,
    body: /For the account <strong>bob<\/strong>/,
  });
  const old = await store.anyone.get(`/identity/set-up?key=${key}`);
  t.match(
    old,
    { status: 200, body: /For the account <strong>bob/ },
    'a link of an older release works until it expires',
  );
  const send = (text: string, again = text) => postForm(url, { key, password: text, again });
  t.match(await send('four words of bob', 'four words of bib'), { status: 400, body: /The two passwords differ/ });
  t.match(await send('short'), { status: 400, body: /at least 8 characters/ });
  t.match(await send('password1'), { status: 400, body: /too common/ });
  t.match(
    await postForm(
      url,
      { key, password: 'four words of bob', again: 'four words of bob' },
      { origin: 'https://evil.example' },
    ),
    { status: 403 },
  );
  const body = new URLSearchParams({ key, password: 'four words of bob', again: 'four words of bob' });
  const set = await fetch(url, { method: 'POST', body, redirect: 'manual' });
  t.equal(set.status, 303, 'a page that is loaded again sends no password again');
  const location = set.headers.get('location')!;
  t.notMatch(location, key);
  for (let time = 0; time < 2; time++)
    t.match(await store.anyone.get(location), { status: 200, body: /The password is set.*log in with this/s });
  t.match((await store.anyone.get(location)).body, /<a href="\/console">Log in to the console<\/a>/);
  t.match(await send('four other words'), { status: 410, body: /has expired or was used/ });
  t.match(await store.anyone.get(`/identity/set-up/${key}`), { status: 410 });
  t.match(await logInAt(await visit(store), { username: 'bob', password: 'four words of bob' }), { status: 200 });
  const rows = await store.beside.records.audit.list(0, 1000);
  const bob = store.ids.bob;
  t.match(
    rows.find(({ action }) => action === 'set_password'),
    { actor: bob, object: `account/${bob}` },
  );
});

t.test('after a new password, the page says that tokens stay valid, and can revoke them', async (t) => {
  const store = await startIdentity(t);
  const invite = () => store.invite('bob', new Date(store.clock.now.getTime() + hours(72)));
  const page = async (key: string) => (await store.anyone.get(`/identity/set-up/${key}`)).body as string;
  const send = (key: string, more: Record<string, string> = {}) =>
    postForm(`${store.url}/identity/set-up`, {
      key,
      password: 'four words of bob',
      again: 'four words of bob',
      ...more,
    });
  const good = async (client: { get(path: string): Promise<{ status: number }> }) =>
    (await client.get('/v1/tokens/whoami')).status === 200;
  const first = await invite();
  t.notMatch(await page(first), /tokens/, 'whoever has none is not asked');
  t.match(await send(first), { status: 200 });

  const [bob, ada] = [await store.as('bob'), await store.as('ada')];
  const second = await invite();
  t.match(await page(second), /stay valid after you change the password.*name="end-tokens"/s);
  t.match(await send(second), { status: 200 });
  t.ok(await good(bob));
  const third = await invite();
  t.match(await send(third, { again: 'four words of bib', 'end-tokens': 'yes' }), { status: 400, body: /end-tokens/ });
  t.ok(await good(bob), 'nothing ends when the password is not set');
  t.match(await send(third, { 'end-tokens': 'yes' }), { status: 200 });
  t.same([await good(bob), await good(ada)], [false, true]);
});

t.test('the secret of a set-up link is in no log, also of an address that is nearly right', async (t) => {
  const store = await startIdentity(t);
  const key = await store.invite('bob', new Date(store.clock.now.getTime() + hours(1)));
  for (const address of [
    `set-up/${key}`,
    `set-up/${key}/`,
    `set-up/${key}x`,
    `set-up?key=${key}`,
    `setup/${key}`,
    `set-up/x/${key}`,
  ]) {
    await store.anyone.get(`/identity/${address}`);
    await store.anyone.get(`/publishergw/identity/${address}`);
    await store.anyone.post(`/identity/${address}`, {});
  }
  await postForm(`${store.url}/identity/set-up`, { key, password: 'x', again: 'y' });
  await until(() => Promise.resolve(store.log.join('').includes('submit_set_up')));
  t.notMatch(store.log.join(''), key);
});

t.test('a set-up link is void once the password of its account was changed in another way', async (t) => {
  const store = await startIdentity(t);
  const { acts, records } = store.beside;
  const { bob } = store.ids;
  const ways: Record<string, () => Promise<unknown>> = {
    'by an administrator': () => acts.do(setPassword, itself, { id: bob, hash: 'x', endTokensAt: null }),
    'by its owner': async () => {
      const provenAt = (await records.passwords.find(bob))?.changedAt ?? '';
      await acts.do(changeOwnPassword, { actor: bob }, { id: bob, provenAt, hash: 'y', endTokensAt: null });
    },
    'with a later link': () => store.invite('bob', new Date(store.clock.now.getTime() + hours(2))),
    'or its account was disabled and enabled again': async () => {
      const moment = store.clock.now.toISOString();
      await acts.do(disableAccount, itself, { id: bob, moment, endTokens: false });
      await acts.do(enableAccount, itself, { id: bob });
    },
  };
  for (const [way, change] of Object.entries(ways)) {
    const key = await store.invite('bob', new Date(store.clock.now.getTime() + hours(1)));
    t.equal((await store.anyone.get(`/identity/set-up/${key}`)).status, 200);
    await change();
    t.equal((await store.anyone.get(`/identity/set-up/${key}`)).status, 410, way);
    const form = { key, password: 'four words of bob', again: 'four words of bob' };
    t.equal((await postForm(`${store.url}/identity/set-up`, form)).status, 410, way);
  }
});

t.test('a link that has expired, or of an account that is disabled, opens nothing', async (t) => {
  const store = await startIdentity(t);
  const late = await store.invite('bob', new Date(store.clock.now.getTime() + hours(1)));
  store.clock.advance(hours(1));
  t.match(await store.anyone.get(`/identity/set-up?key=${late}`), { status: 410 });
  t.match(
    await postForm(`${store.url}/identity/set-up`, {
      key: late,
      password: 'four words of bob',
      again: 'four words of bob',
    }),
    { status: 410 },
  );
  const disabled = await store.invite('bob', new Date(store.clock.now.getTime() + hours(1)));
  await store.disable('bob');
  t.match(await store.anyone.get(`/identity/set-up/${disabled}`), { status: 410 });
  t.equal((await store.anyone.get('/identity/set-up/%2e%2e')).status, 404);
  for (const key of ['x', `${'x'.repeat(42)}-`, 'x'.repeat(3000)])
    t.equal((await store.anyone.get(`/identity/set-up/${key}`)).status, 410, key);
  t.equal((await store.anyone.get('/identity/set-up?key=')).status, 410);
});

t.test('a browser is redirected only to the configured addresses', async (t) => {
  const back = 'https://builds.example.org/+callback/';
  const store = await startIdentity(t, (text) =>
    text.replace(/^#? ?redirect_urls = .*$/m, `redirect_urls = ["${back}", "http://one.example/exactly"]`),
  );
  const { caveatId } = await begin(store);
  const info = await waysIn(store, caveatId);
  const { LoginURL, DischargeTokenURL } = info.InteractionMethods['browser-redirect'] as Record<string, string>;
  const login = `${LoginURL}?${new URLSearchParams({ return_to: `${back}x?a=b`, state: 'st&te' }).toString()}`;
  const shown = await fetch(login);
  t.match(shown.headers.get('content-security-policy'), "form-action 'self' https://builds.example.org;");
  const done = await logInAt(login, { username: 'ada', password });
  t.equal(done.status, 303);
  const location = new URL(done.headers.get('location') ?? '');
  t.equal(location.origin + location.pathname, `${back}x`);
  t.equal(location.searchParams.get('a'), 'b');
  t.equal(location.searchParams.get('state'), 'st&te');
  const code = location.searchParams.get('code') ?? '';
  const ask = (text: string) => store.anyone.post(new URL(DischargeTokenURL!).pathname, { code: text });
  const proofReply = await ask(code);
  t.match(proofReply, { status: 200, body: { token: { kind: String, value: String } } });
  t.match(await ask(code), { status: 410, body: { Code: 'login expired' } }, 'a code is good once');
  const { kind, value } = proofReply.body.token as { kind: string; value: string };
  const members = { id64: caveatId.toString('base64'), token64: value, 'token-kind': kind };
  t.equal((await discharge(store, members)).status, 200);
  t.equal((await discharge(store, members)).status, 401, 'and so is its token');
  const late =
    new URL((await logInAt(login, { username: 'ada', password })).headers.get('location') ?? '').searchParams.get(
      'code',
    ) ?? '';
  store.clock.advance(minutes(1));
  t.match(await ask(late), { status: 410 });
  for (const to of [
    'https://evil.example/',
    'javascript:alert(1)',
    '',
    '//builds.example.org/+callback/',
    `${back}#x`,
    'https://builds.example.org/+callback',
  ]) {
    const reply = await fetch(`${LoginURL}?${new URLSearchParams({ return_to: to, state: 's' }).toString()}`);
    t.equal(reply.status, 400, to);
    t.match(await reply.text(), /return address of this login is not allowed/);
  }
});

t.test('a return address is matched as a whole, not by its beginning', (t) => {
  const returnUrls = ['https://one.example/back', 'https://two.example/folder/'];
  for (const good of [
    'https://one.example/back',
    'https://one.example/back?x=1',
    'https://two.example/folder/',
    'https://two.example/folder/a/b?c',
    'https://ONE.example/back',
    'https://one.example:443/back',
  ]) {
    t.equal(mayReturnTo(good, returnUrls), true, good);
  }
  for (const bad of [
    'https://one.example/backwards',
    'https://one.example/back/',
    'https://one.example.evil.example/back',
    'https://evil.example/https://one.example/back',
    'https://user@one.example/back',
    'https://one.example@evil.example/back',
    'http://one.example/back',
    'https://one.example:444/back',
    'https://two.example/folder',
    'https://two.example/folder/../other',
    'https://two.example/folder/%2e%2e/other',
    'https://one.example/back#fragment',
    `https://one.example/back?${'x'.repeat(2000)}`,
    'not an address',
  ]) {
    t.equal(mayReturnTo(bad, returnUrls), false, bad);
  }
  t.equal(mayReturnTo('https://one.example/back', []), false);
  t.end();
});
