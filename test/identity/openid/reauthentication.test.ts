// Accounts without a password of the store prove themselves again at the OpenID provider, before acts that the configuration names and
// before changes of accounts.
import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { minutes, seconds } from '#domain/clock.ts';
import type { Page, Visitor } from '#test/console/world.ts';
import { commandsOn } from '#test/cli/process.ts';
import { continuation, person, startOpenidStore, type OpenidStore } from './world.ts';

/** The claim about the last login at the provider. */
const loggedIn = (store: OpenidStore, before = 0): { auth_time: number } => ({
  auth_time: Math.floor((store.clock.now.getTime() - before) / seconds(1)),
});

/** Presses the button of a page that asks for a proof. The browser keeps the cookie of its session beside that of the login. */
async function press(browser: Visitor, prompt: Page): Promise<{ address: string; pending: string }> {
  const { cookie } = browser;
  const address = continuation(await browser.send(prompt, '/identity/openid/login'));
  const pending = browser.cookie;
  browser.cookie = cookie;
  return { address, pending };
}

/** Follows the button; returns the page that the provider sends the browser to, where it sends no cookie of a session. */
async function prove(
  store: OpenidStore,
  browser: Visitor,
  prompt: Page,
  claims: Record<string, unknown>,
): Promise<Page> {
  const { address, pending } = await press(browser, prompt);
  const { pathname, search } = store.issuer.logIn(address, claims);
  const back = store.visitor();
  back.cookie = pending;
  return back.open(pathname + search);
}

async function administratorOf(store: OpenidStore): Promise<{ browser: Visitor; carol: Record<string, unknown> }> {
  const carol = person('carol');
  const { browser } = await store.logIn(carol);
  const { larder } = commandsOn(store.directory);
  const accounts = await store.beside.records.accounts.list();
  const id = accounts.find(({ username }) => username === 'carol')?.id ?? '';
  t.equal((await larder(`account role ${id} store-admin`)).code, 0);
  return { browser, carol };
}

t.test('an act of the list needs a new login at the provider, and goes on with the input from before', async (t) => {
  const store = await startOpenidStore(t);
  const { browser, carol } = await administratorOf(store);
  changeConfig(`${store.directory}/larder.toml`, {
    'sessions.reauthenticate': ['set_quota'],
    'sessions.reauthenticate_minutes': 5,
  });
  store.appliance.reload();
  store.clock.advance(minutes(10));
  const path = `/console/people/${store.ids.bob}`;
  const quotas = async () =>
    (await store.beside.records.audit.newest(Number.MAX_SAFE_INTEGER, 50)).filter(
      ({ action }) => action === 'set_quota',
    );
  const ask = async (): Promise<Page> =>
    browser.send(await browser.open(path), `${path}/quota`, { bytes: '2 GiB', packages: '7' });

  const prompt = await ask();
  t.match(prompt, { status: 403, text: /needs a login with EXAMPLE within the last 5 minutes/ });
  t.notMatch(prompt.html, /name="password"/);
  t.match(prompt.html, /target="_blank"/, 'the input stays in this window');
  const address = new URL((await press(browser, prompt)).address);
  t.match(Object.fromEntries(address.searchParams), { prompt: 'login', max_age: '0' });

  const refused = { status: 401, text: /The login with EXAMPLE was not confirmed/ };
  for (const [claims, reason] of [
    [carol, 'a provider that does not say when'],
    [{ ...carol, ...loggedIn(store, minutes(1)) }, 'a login from before the question'],
    [{ ...carol, auth_time: String(loggedIn(store).auth_time) }, 'a text'],
    [{ ...carol, ...loggedIn(store, -minutes(2)) }, 'a login in the future'],
  ] as const)
    t.match(await prove(store, browser, prompt, claims), refused, reason);
  const stranger = { ...person('dave'), ...loggedIn(store) };
  const other = await prove(store, browser, prompt, stranger);
  t.match(other, { status: 401, text: /the login of another person/ });
  t.notOk(
    (await store.beside.records.accounts.list()).some(({ username }) => username === 'dave'),
    'and makes no account',
  );
  store.issuer.lies.userinfo = { ...carol, ...loggedIn(store) };
  const sparse = { sub: carol['sub'] };
  t.match(await prove(store, browser, prompt, sparse), refused, 'the time of the user info endpoint is not signed');
  store.issuer.lies.userinfo = undefined;
  t.match(await ask(), { status: 403 }, 'no such login has proven the session');
  t.strictSame(await quotas(), []);

  const proven = await prove(store, browser, prompt, { ...carol, ...loggedIn(store) });
  t.match(proven, { status: 200, text: /Your login is confirmed/ });
  t.match(await browser.send(prompt, `${path}/quota`), { status: 200, text: /quota is changed/ });
  t.match((await quotas())[0], { details: /"bytes":2147483648/ }, 'with the input from before');
  const { browser: elsewhere } = await store.logIn(carol);
  store.clock.advance(minutes(6));
  t.match(await ask(), { status: 403 }, 'the proof ends');
  t.match((await elsewhere.open('/console')).status, 200);
});

t.test('an administrator without a password changes roles after a new login at the provider', async (t) => {
  const store = await startOpenidStore(t);
  const { browser, carol } = await administratorOf(store);
  const path = `/console/people/${store.ids.bob}/role`;
  const page = await browser.open(`${path}?role=auditor`);
  t.notMatch(page.html, /name="password"/);
  const prompt = await browser.send(page, path);
  t.match(
    prompt,
    { status: 403, text: /needs a login with EXAMPLE within the last 15 minutes/ },
    'the login is no proof',
  );
  t.match(await browser.send(prompt, path, { password: 'any' }), { status: 403 });
  await prove(store, browser, prompt, { ...carol, ...loggedIn(store) });
  t.match(await browser.send(prompt, path), { status: 200, text: /role is given/ });
  t.strictSame((await store.beside.records.accounts.rolesOf(store.ids.bob)).includes('auditor'), true);

  await store.setPassword('root');
  const root = await store.visit('root');
  const own = await root.open(`${path}?role=auditor&remove=yes`);
  t.match(await root.send(own, path, { password: 'wrong' }), { status: 403 }, 'an account with a password gives it');
  const begun = await store.visitor().send(prompt, '/identity/openid/login');
  t.match(begun, { status: 403, text: /Your session has ended/ }, 'without a session nothing is proven');
});
