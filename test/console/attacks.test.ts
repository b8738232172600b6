// Attacks on people who are logged in to the console.
import { request } from 'node:https';

import t from 'tap';

import { consoleOperations } from '#console/index.ts';
import { schemaOf } from '#test/fixtures/contract/shapes.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { password } from '#test/identity/world.ts';
import { pathOf } from '#test/fixtures/contract/requests.ts';
import { receiving } from './transfers/carrying.ts';
import { startConsole } from './world.ts';

const screens = consoleOperations.filter(
  ({ name }) => !['console_log_in', 'console_submit_log_in', 'console_asset'].includes(name),
);
const some = {
  namespace: 'snap',
  name: 'hello',
  revision: '1',
  upload_id: 'none',
  number: '1',
  account_id: 'none',
  id: 'none',
};

t.test('without a login, no page is shown and no form works', async (t) => {
  const store = await startConsole(t);
  for (const op of screens) {
    const address = pathOf(op, some);
    const init = op.method === 'GET' ? {} : { method: op.method, body: new URLSearchParams({ 'form-token': 'x' }) };
    const reply = await fetch(store.url + address, { ...init, redirect: 'manual' });
    t.equal(reply.status, 401, `${op.method} ${op.path}`);
    t.match(reply.headers.get('content-type'), 'text/html');
    t.match(await reply.text(), 'action="/console/log-in"');
  }
});

t.test('no page is framed, kept, or lets anything run that is not ours', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  const { headers, html } = await root.open('/console');
  const policy = headers.get('content-security-policy') ?? '';
  t.match(policy, /default-src 'none'/);
  t.match(policy, /frame-ancestors 'none'/);
  t.notMatch(policy, /unsafe|\*|data:|https?:/);
  t.match(headers.get('x-frame-options'), 'DENY');
  t.match(headers.get('cache-control'), 'no-store');
  t.notMatch(
    html,
    /<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=|javascript:/i,
    'nothing stands in the page that could run',
  );
});

t.test('every form asks for the token of its page', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  const before = await store.beside.records.audit.head();
  for (const op of screens.filter(({ method }) => method === 'POST')) {
    for (const token of ['', 'x'.repeat(43), root.cookie.slice(-43)]) {
      const reply = await fetch(store.url + pathOf(op, some), {
        method: 'POST',
        headers: { cookie: root.cookie, 'sec-fetch-site': 'same-origin' },
        body: new URLSearchParams({ 'form-token': token }),
        redirect: 'manual',
      });
      t.ok(reply.status >= 400 && reply.status < 500, `${op.path} says ${String(reply.status)}`);
    }
  }
  t.same(await store.beside.records.audit.head(), before, 'and nothing was done');
});

t.test('a token of one form is none for another', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  const page = await root.open('/console');
  const [, token = ''] = /name="form-token"\s+value="([^"]+)"/.exec(page.html) ?? [];
  const other = screens.find(({ method, path }) => method === 'POST' && path !== '/console/log-out');
  if (other === undefined) return;
  const reply = await fetch(store.url + pathOf(other, some), {
    method: 'POST',
    headers: { cookie: root.cookie },
    body: new URLSearchParams({ 'form-token': token }),
    redirect: 'manual',
  });
  t.ok([400, 403, 404].includes(reply.status), String(reply.status));
});

largeTest('each of many sessions is its own', async (t) => {
  const store = await startConsole(t);
  const many = process.env['LARDER_LONG'] === '1' ? 1000 : 60;
  const { browsers } = store.beside.authority;
  const sessions: string[] = [];
  for (let at = 0; at < many; at++)
    sessions.push(await browsers.begin(store.ids.ada, { address: '::1', requestId: 'test' }));
  const visitors = sessions.map((session) => Object.assign(store.visitor(), { cookie: `larder-session=${session}` }));
  const [first, second, ...others] = visitors;
  if (first === undefined || second === undefined) throw new Error('there are none');
  const page = await first.open('/console');
  t.match(
    await second.send(page, '/console/log-out'),
    { status: 403 },
    'a form of one session is none of another, of the same person',
  );
  await first.send(page, '/console/log-out');
  t.equal((await first.open('/console')).status, 401);
  for (const other of [second, ...others]) t.equal((await other.open('/console')).status, 200);
});

t.test('without TLS the console is for the host itself alone', async (t) => {
  const store = await startConsole(t, (text) =>
    text.replace('# trusted_proxies = []', 'trusted_proxies = ["127.0.0.1"]'),
  );
  const far = { 'x-forwarded-for': '10.0.0.9' };
  const ada = await store.visit('ada');
  t.match(await ada.open('/console', far), { status: 403, text: /Without TLS, only browsers on the host itself/ });
  const reply = await fetch(`${store.url}/console/log-in`, {
    method: 'POST',
    headers: far,
    body: new URLSearchParams({ username: 'ada', password }),
    redirect: 'manual',
  });
  t.equal(reply.status, 403);
  t.equal(reply.headers.get('set-cookie'), null);
  t.equal((await ada.open('/console')).status, 200);
});

t.test('over TLS the cookie is of this host alone, and no script sees it', async (t) => {
  const store = await startConsole(t, (text) => text.replace('"http://127.0.0.1', '"https://127.0.0.1'));
  const url = new URL(store.url); // by the still clock of the store its certificate is good, by that of the test it is over
  const cookies = await new Promise<string[]>((resolve, reject) => {
    const sent = request(
      {
        host: url.hostname,
        port: url.port,
        path: '/console/log-in',
        method: 'POST',
        rejectUnauthorized: false,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
      (reply) => {
        reply.resume();
        resolve(reply.headers['set-cookie'] ?? []);
      },
    );
    sent.on('error', reject).end(new URLSearchParams({ username: 'ada', password }).toString());
  });
  t.equal(cookies.length, 1);
  t.match(cookies[0], /^__Host-larder-session=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
});

t.test('looking changes nothing', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  const before = await store.beside.records.audit.head();
  for (const op of screens.filter(({ method }) => method === 'GET')) await root.open(pathOf(op, some));
  t.same(await store.beside.records.audit.head(), before);
});

t.test('a refused form keeps the typed values', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  const page = await root.open('/console/people');
  const typed = { username: 'carol', 'display-name': 'Carol & <Co>', email: 'carol@example.com', password: '-' };
  const refused = await root.send(page, '/console/people', { ...typed, 'form-token': 'x' });
  t.equal(refused.status, 403);
  t.match(refused.html, /value="Carol &amp; &lt;Co&gt;"/);
  t.match(refused.text, /What this form does: Create an account and show, once, the link to set its password/);
  const again = await root.send(refused, '/console/people', { password });
  t.match(again, { status: 200, text: /A link for Carol & <Co>/ }, 'and is sent from there');
});

t.test('a form from another site is never shown again, before or after a login', async (t) => {
  const store = await startConsole(t);
  await store.setPassword('root');
  const root = await store.visit('root');
  const page = await root.open('/console/people');
  const typed = { username: 'mallory', 'display-name': 'Mallory', email: 'mallory@example.com', password: '-' };
  const foreign: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site', origin: 'https://other.example' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'none', origin: 'null' },
  ];
  for (const headers of foreign) {
    const stranger = store.visitor();
    const loginPage = await stranger.send(page, '/console/people', typed, { origin: '', ...headers });
    t.match(loginPage, { status: 401, text: /Log in/ });
    t.notMatch(loginPage.html, /mallory/i, 'nothing is kept for after the login');
    const refusedPage = await root.send(
      page,
      '/console/people',
      { ...typed, 'form-token': 'x' },
      { origin: '', ...headers },
    );
    t.match(refusedPage, { status: 403 });
    t.notMatch(refusedPage.html, /mallory|<button>Send again/i);
  }
  // The same, hidden in a form to the login page.
  const visitor = store.visitor();
  const hidden = { to: '/console/people', typed: JSON.stringify(typed), username: 'root', password, code: '' };
  const body = new URLSearchParams(hidden);
  const headers = { accept: 'text/html', 'sec-fetch-site': 'none' };
  const response = await fetch(`${store.url}/console/log-in`, { method: 'POST', body, headers, redirect: 'manual' });
  t.equal(response.status, 303);
  t.notMatch(await response.text(), /mallory/i);
  t.match(await visitor.logIn('root', hidden), { status: 200, text: /Send again/ }, 'our own page brings it along');
});

t.test('a new login ends the earlier session of the browser, of any account', async (t) => {
  const store = await startConsole(t);
  for (const who of ['ada', 'root']) await store.setPassword(who);
  const browser = await store.visit('ada');
  const first = browser.cookie;
  await browser.logIn('ada');
  const second = browser.cookie;
  t.not(first, second);
  const old = store.visitor();
  old.cookie = first;
  t.equal((await old.open('/console')).status, 401, 'the cookie from before opens nothing');
  t.equal((await browser.open('/console')).status, 200);
  t.equal((await browser.logIn('ada', { password: 'a wrong one' })).status, 401);
  t.equal((await browser.open('/console')).status, 200, 'a login that fails ends nothing');
  await browser.logIn('root');
  old.cookie = second;
  t.equal((await old.open('/console')).status, 401);
  const other = await store.visit('root');
  t.equal((await browser.open('/console')).status, 200, 'a login in another browser ends nothing');
  t.equal((await other.open('/console')).status, 200);
});

t.test('no secret that was typed into a form is in the page that refuses it', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  const isSecret = (name: string): boolean => /pass|code|again|secret|fingerprint|form-token/.test(name);
  let secrets = 0;
  for (const { method, path, body, name: operation } of consoleOperations) {
    if (method !== 'POST' || body === undefined) continue;
    const fields = Object.keys(schemaOf(body).schema.properties ?? {});
    const typed = Object.fromEntries(fields.map((field) => [field, `typed-${field}-`]));
    const address = path.replaceAll(/:\w+/g, 'x');
    const headers = { accept: 'text/html', origin: store.url, 'sec-fetch-site': 'same-origin', cookie: root.cookie };
    for (const cookie of [root.cookie, '']) {
      const init = { method: 'POST', body: new URLSearchParams(typed), redirect: 'manual' as const };
      const html = await (await fetch(store.url + address, { ...init, headers: { ...headers, cookie } })).text();
      for (const field of fields.filter(isSecret)) {
        secrets++;
        t.notMatch(html, `typed-${field}-`, `${operation}: ${field}`);
      }
    }
  }
  t.ok(secrets > 50);
});

t.test('a hostile choice of packages to leave out of a transfer is refused, and accepts nothing', async (t) => {
  const { store, bring } = await receiving(t);
  const address = `/console/carry/transfers/${await bring(12, ['hello-on', 'other-on'])}`;
  const root = await store.visit('root');
  const page = await root.open(address);
  const before = await store.beside.records.audit.head();
  const many = Array.from({ length: 10_000 }, (_, at) => `snap/p${String(at)}`).join(',');
  const choices: [text: string, status: number, says: RegExp][] = [
    ['snap/unknown', 404, /Nothing in this transfer matches 'snap\/unknown'/],
    ['snap/hello-on snap/unknown', 404, /Nothing in this transfer matches 'snap\/unknown'/],
    ['snap/hello-on, snap/other-on', 409, /All packages of this transfer are left out/],
    ['*/*', 409, /All packages of this transfer are left out/],
    ['snap/*', 409, /All packages of this transfer are left out/],
    ['hello-on', 400, /'hello-on' is not the name of a package/],
    ['snap/<b>hello</b>', 400, /'snap\/<b>hello<\/b>' is not the name of a package/],
    ["snap/hello-on' OR 1=1 --", 400, /is not the name of a package/],
    ['snap/../../etc', 400, /is not the name of a package/],
    ['snap/\u0000', 400, /./],
    [`snap/${'*'.repeat(100)}x`, 404, /Nothing in this transfer matches/],
    [many, 413, /./],
    [many.slice(0, 4001), 400, /./],
  ];
  for (const [without, status, says] of choices) {
    const label = without.slice(0, 40);
    const reply = await root.send(page, `${address}/accept`, { without });
    t.match(reply, { status, text: says }, `accept without ${label}`);
    t.notMatch(reply.html, '<b>hello');
    // The address of 10,000 names is longer than the server reads.
    if (without === many) continue;
    const preview = await root.open(`${address}?${new URLSearchParams({ without }).toString()}`);
    if (status === 400 && preview.status === 400) continue;
    t.match(preview, { status: 200, text: says }, `preview without ${label}`);
    t.notMatch(preview.html, `action="${address}/accept"`, 'nothing to accept');
    t.notMatch(preview.html, '<b>hello');
  }
  for (const query of ['cursor=a&cursor=b', `without=${'x'.repeat(4001)}`])
    t.equal((await root.open(`${address}?${query}`)).status, 400, query.slice(0, 40));
  const [, token = ''] = /action="[^"]*\/accept">\s*<input[^>]*name="form-token" value="([^"]+)"/.exec(page.html) ?? [];
  const [, seen = ''] = /name="seen" value="([^"]+)"/.exec(page.html) ?? [];
  const twice = await fetch(`${store.url}${address}/accept`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: root.cookie, origin: store.url, 'content-type': 'application/x-www-form-urlencoded' },
    body: `form-token=${token}&seen=${seen}&without=&without=snap%2Fother-on`,
  });
  t.equal(twice.status, 400, 'a choice that is sent twice');
  t.same(await store.beside.records.audit.head(), before, 'nothing was accepted');

  const same = await root.open(`${address}?without=snap/other-on+snap/other-on,snap/other-on`);
  t.match(same.text, /These packages are left out: snap\/other-on\. /, 'the same package three times is one');
  t.match((await root.send(same, `${address}/accept`)).text, /The transfer is accepted\./);
  t.match(
    await root.send(page, `${address}/accept`, { without: 'snap/unknown' }),
    { status: 200, text: /The transfer is accepted/ },
    'an accepted transfer stays accepted as it is',
  );
});
