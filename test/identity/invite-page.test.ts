// The page to answer an invite to collaborate, without a script.
import t from 'tap';

import { days, seconds } from '#domain/clock.ts';
import { codeAt } from '#identity/credentials/totp.ts';
import { password, startIdentity, type IdentityStore } from './world.ts';

/** bob publishes bin/hello and invites ada, who has a password; returns the token. */
async function invited(store: IdentityStore): Promise<string> {
  const bob = await store.as('bob');
  await bob.post('/v1/bin', { name: 'hello' });
  const { body } = await bob.post('/v1/bin/hello/collaborators/invites', { invites: [{ email: 'ada@example.com' }] });
  return (body.tokens as { token: string }[])[0]?.token ?? '';
}

const get = (url: string, cookie = '') => fetch(url, { headers: { cookie }, redirect: 'manual' });
const post = (store: IdentityStore, cookie: string, form: Record<string, string>, headers: object = {}) =>
  fetch(`${store.url}/identity/invite`, {
    method: 'POST',
    headers: { cookie, ...headers },
    body: new URLSearchParams(form),
    redirect: 'manual',
  });

/** Opens the link: the cookie that the browser then has. */
async function open(store: IdentityStore, token: string): Promise<string> {
  const { headers } = await get(`${store.url}/identity/invite?token=${token}`);
  return (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

const collaborates = (store: IdentityStore) => async (): Promise<boolean> => {
  const { packages, collaborators } = store.beside.records;
  return collaborators.has((await packages.find('bin', 'hello'))?.id ?? '', store.ids.ada);
};
const ada = { username: 'ada', password };

t.test('the token leaves the address, and the page shows publisher, invited account and package', async (t) => {
  const store = await startIdentity(t);
  const token = await invited(store);
  const link = await get(`${store.url}/identity/invite?token=${token}`);
  t.equal(link.status, 303);
  t.equal(link.headers.get('location'), '/identity/invite');
  t.equal(link.headers.get('referrer-policy'), 'no-referrer');
  t.match(link.headers.get('set-cookie'), /; Path=\/identity\/invite; Max-Age=900; HttpOnly; SameSite=Lax$/);
  const shown = await get(`${store.url}/identity/invite`, await open(store, token));
  const html = await shown.text();
  t.equal(shown.status, 200);
  t.match(html, /Bob \(bob\) asks you to work on bin\/hello/);
  t.match(html, /ada, by ada@example\.com/);
  t.notMatch(html, token);
  t.notMatch(html, /<script|\son\w+=/i);
  t.match(shown.headers.get('content-security-policy'), /default-src 'none'/);
  for (const wrong of ['', '?token=', `?token=${token}x`, '?token=%3Cb%3E', '?other']) {
    t.equal((await get(`${store.url}/identity/invite${wrong}`)).status < 500, true, wrong);
  }
  t.equal((await get(`${store.url}/identity/invite`)).status, 410);
  t.equal((await get(`${store.url}/identity/invite`, 'larder-invite=never')).status, 410);
});

t.test('the invited account accepts after a login, once', async (t) => {
  const store = await startIdentity(t);
  const cookie = await open(store, await invited(store));
  const isIn = collaborates(store);
  const wrong = await post(store, cookie, { ...ada, password: 'wrong', answer: 'accept' });
  t.equal(wrong.status, 401);
  t.match(await wrong.text(), /role="alert"[^>]*>The name or the password is wrong\./);
  await store.setPassword('root');
  const root = (await store.beside.records.accounts.find('root'))?.username ?? '';
  const other = await post(store, cookie, { ...ada, username: root, answer: 'accept' });
  t.equal(other.status, 400);
  t.match(await other.text(), /The invite is for ada; log in as that account\./);
  t.notOk(await isIn());
  const foreign = await post(store, cookie, { ...ada, answer: 'accept' }, { origin: 'https://elsewhere.example' });
  t.equal(foreign.status, 403, 'another site answers for nobody');
  t.equal((await post(store, '', { ...ada, answer: 'accept' })).status, 410);
  t.equal((await post(store, cookie, { ...ada, answer: 'perhaps' })).status, 400);
  t.notOk(await isIn());

  const two = await Promise.all([
    post(store, cookie, { ...ada, answer: 'accept' }),
    post(store, cookie, { ...ada, answer: 'accept' }),
  ]);
  t.ok(two.some(({ status }) => status === 303));
  t.ok(await isIn());
  const done = two.find(({ status }) => status === 303);
  t.equal(done?.headers.get('location'), '/identity/invite?accepted');
  t.match(done?.headers.get('set-cookie'), /^larder-invite=; .*Max-Age=0/);
  t.match(await (await get(`${store.url}/identity/invite?accepted`)).text(), /You collaborate on the package now/);
  t.equal((await get(`${store.url}/identity/invite`, cookie)).status, 410, 'it is answered');
  const rows = (await store.beside.records.audit.list(0, 1000)).filter(({ action }) => action === 'accept_invite');
  t.match(rows, [{ actor: store.ids.ada, object: 'bin/hello' }]);
  t.equal(rows.length, 1);
});

t.test('it is declined, needs a one-time password, and expires', async (t) => {
  const store = await startIdentity(t);
  const cookie = await open(store, await invited(store));
  const secret = await store.setTotp('ada');
  t.equal((await post(store, cookie, { ...ada, answer: 'reject', code: '' })).status, 401);
  const code = codeAt(secret, Math.floor(store.clock.now.getTime() / seconds(30)));
  const declined = await post(store, cookie, { ...ada, answer: 'reject', code });
  t.equal(declined.headers.get('location'), '/identity/invite?rejected');
  t.notOk(await collaborates(store)());
  t.equal((await get(`${store.url}/identity/invite`, cookie)).status, 410);
  const again = await open(store, await invited(store));
  t.equal((await get(`${store.url}/identity/invite`, again)).status, 200);
  store.clock.advance(days(7));
  t.equal((await get(`${store.url}/identity/invite`, again)).status, 410);
});
