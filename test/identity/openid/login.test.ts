// People log in to the console with the OpenID provider of the site.
import t from 'tap';

import { commandsOn } from '#test/cli/process.ts';
import { startConsole } from '#test/console/world.ts';
import { continuation, person, startOpenidStore } from './world.ts';

t.test('the first login makes an account, and the next one finds it by its subject', async (t) => {
  const store = await startOpenidStore(t);
  const { browser, page } = await store.logIn(person('Carol.Jones'));
  t.equal(page.status, 200, page.text);
  t.equal(continuation(page), '/console');
  t.match((await browser.open('/console/myself')).text, /carol\.jones/);
  const { browser: again } = await store.logIn(person('another name', { email: 'other@site.example' }));
  t.not(again.cookie, '');
  const both = await store.logIn({
    ...person('Carol.Jones'),
    preferred_username: 'renamed',
    email: 'new@site.example',
  });
  t.match(
    (await both.browser.open('/console/myself')).text,
    /carol\.jones/,
    'a name that changed makes no other account',
  );
  const accounts = await store.beside.records.accounts.list();
  t.strictSame(accounts.map(({ username }) => username).sort(), ['ada', 'another-name', 'bob', 'carol.jones', 'root']);
  const rows = await store.beside.records.audit.newest(Number.MAX_SAFE_INTEGER, 20);
  const id = accounts.find(({ username }) => username === 'carol.jones')?.id ?? '';
  t.strictSame(
    rows.filter(({ object, actor }) => object === `account/${id}` && actor === id).map(({ action }) => action),
    ['accept_openid_login', 'accept_openid_login', 'create_openid_account'],
  );
});

t.test('a name of a local account is refused until an administrator links it', async (t) => {
  const store = await startOpenidStore(t);
  const refused = await store.logIn(person('ada'));
  t.equal(refused.page.status, 409);
  t.match(refused.page.text, /ask an administrator to link it, with 'larder account link ID subject of ada'/);
  const sameAddress = await store.logIn(person('mallory', { email: 'ADA@example.com' }));
  t.equal(sameAddress.page.status, 409, 'the e-mail address alone is no proof');
  const { larder } = commandsOn(store.directory);
  t.match((await larder(`account link ${store.ids.ada} 'subject of ada'`)).out, /logs in as the account A+ \(ada\)/);
  t.match(await store.beside.records.accounts.touched(store.ids.ada), { what: 'add_openid_identity' });
  const { browser, page } = await store.logIn(person('ada', { email: 'elsewhere@site.example' }));
  t.equal(page.status, 200, page.text);
  t.match((await browser.open('/console/myself')).text, /ada@example\.com/, 'the account keeps its own data');
  t.match(await larder(`account link ${store.ids.ada} another`), { code: 1, err: /is linked to another subject/ });
  t.match(await larder(`account link ${store.ids.bob} 'subject of ada'`), { code: 1, err: /larder account unlink A+/ });
  t.equal((await larder(`account unlink ${store.ids.ada}`)).code, 0);
  t.equal((await store.logIn(person('ada'))).page.status, 409);
  t.equal((await store.visit('ada')).cookie === '', false, 'the password stays valid');
});

t.test('without accounts = "create" only a linked account logs in, and a disabled one does not', async (t) => {
  const store = await startOpenidStore(t, '');
  const refused = await store.logIn(person('carol'));
  t.equal(refused.page.status, 401);
  t.match(refused.page.text, /larder account link ID subject of carol/);
  const { larder } = commandsOn(store.directory);
  await larder(`account link ${store.ids.bob} 'subject of carol'`);
  t.equal((await store.logIn(person('carol'))).page.status, 200);
  await larder(`account disable ${store.ids.bob} --yes`);
  const disabled = await store.logIn(person('carol'));
  t.match(disabled.page, { status: 401, text: /is disabled/ });
});

t.test('while the provider is away, its logins say so, and local accounts and sessions go on', async (t) => {
  const store = await startOpenidStore(t);
  const { browser } = await store.logIn(person('carol'));
  await store.issuer.setAway(true);
  t.equal((await browser.open('/console')).status, 200, 'a session that has begun');
  t.equal((await (await store.visit('root')).open('/console')).status, 200, 'the local administrator');
  store.clock.advance(61_000);
  t.match((await store.begin()).address, store.issuer.issuer, 'the documents of the provider are cached');
  const failed = await store.logIn(person('carol'));
  t.match(failed.page, { status: 503, text: /Logins with EXAMPLE are not possible at the moment/ });
  await store.issuer.setAway(false);
  t.equal((await store.logIn(person('carol'))).page.status, 200);
});

t.test('a store without a provider has no button, and refuses its form', async (t) => {
  const store = await startConsole(t);
  const visitor = store.visitor();
  const page = await visitor.open('/console/log-in');
  t.notMatch(page.html, /openid/);
  const response = await fetch(`${store.url}/identity/openid/login`, {
    method: 'POST',
    body: new URLSearchParams({ to: '/console' }),
  });
  t.equal(response.status, 404);
  t.equal((await visitor.open('/identity/openid/callback?code=a&state=b')).status, 410);
});

t.test('a page of another site can begin no login, and a login leads to no other site', async (t) => {
  const store = await startOpenidStore(t);
  const visitor = store.visitor();
  const page = await visitor.open('/console/log-in');
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  t.equal((await visitor.send(page, '/identity/openid/login', {}, foreign)).status, 403);
  for (const to of ['https://evil.example/', '//evil.example', '/console;url=https://evil.example', '/consoles'])
    t.equal((await visitor.send(page, '/identity/openid/login', { to })).status, 400, to);
});

t.test(
  'the notice of the store is acknowledged before a login with the provider, and the previous login is shown',
  async (t) => {
    const rules =
      '[sessions]\nbanner = "For authorized use only."\nacknowledge_banner = true\nshow_last_login = true\n';
    const store = await startOpenidStore(t, `accounts = "create"\n`, (text) => text.replace('[sessions]\n', rules));
    const visitor = store.visitor();
    const page = await visitor.open('/console/log-in');
    t.match(await visitor.send(page, '/identity/openid/login'), { status: 403, text: /must be acknowledged/ });
    const acknowledged = { acknowledged: 'yes' };
    for (const expected of [
      /This is your first login/,
      /Your previous login was at 2026-03-01 12:00 UTC from 127\.0\.0\.1/,
    ]) {
      const begun = await visitor.send(page, '/identity/openid/login', acknowledged);
      const back = store.issuer.logIn(continuation(begun), person('carol'));
      await visitor.open(back.pathname + back.search);
      t.match((await visitor.open('/console')).text, expected);
    }
  },
);
