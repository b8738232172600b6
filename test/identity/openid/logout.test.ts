// Back-channel logout: the provider announces that a login has ended, and its sessions end here.
import t from 'tap';

import { base64url, signToken, type Claims } from './issuer.ts';
import { person, startOpenidStore, type OpenidStore } from './world.ts';

const event = 'http://schemas.openid.net/event/backchannel-logout';
let tokens = 0;

/** The claims of a logout token. */
const logoutOf = ({ issuer, clock }: OpenidStore, more: Claims = {}): Claims => {
  const at = Math.floor(clock.now.getTime() / 1000);
  const id = `token ${String(++tokens)}`;
  return { iss: issuer.issuer, aud: 'larder', iat: at, exp: at + 120, jti: id, events: { [event]: {} }, ...more };
};

const signed = ({ issuer }: OpenidStore, claims: Claims, header: object = {}): string =>
  signToken(issuer.keys.rsa.privateKey, { alg: 'RS256', kid: 'rsa', typ: 'logout+jwt', ...header }, claims);

const announce = async ({ url }: OpenidStore, token: string): Promise<number> => {
  const body = new URLSearchParams({ logout_token: token });
  return (await fetch(`${url}/identity/openid/logout`, { method: 'POST', body })).status;
};

const roles = 'accounts = "create"\n[identity.oidc.roles]\nofficers = ["auditor"]\n';

t.test('a logout ends the sessions of that login, or all of the person', async (t) => {
  const store = await startOpenidStore(t, roles);
  const groups = ['officers'];
  const laptop = await store.logIn(person('carol', { sid: 'laptop', groups }));
  const phone = await store.logIn(person('carol', { sid: 'phone', groups }));
  const dave = await store.logIn(person('dave', { sid: 'laptop of dave' }));
  const isIn = async ({ browser }: typeof laptop) => (await browser.open('/console')).status === 200;
  const states = async () => [await isIn(laptop), await isIn(phone), await isIn(dave)];
  const token = signed(store, logoutOf(store, { sid: 'laptop' }));
  t.equal(await announce(store, token), 200);
  t.strictSame(await states(), [false, true, true]);
  t.equal(await announce(store, token), 410, 'a token counts once');
  t.equal(await announce(store, signed(store, logoutOf(store, { sid: 'phone', sub: 'subject of dave' }))), 200);
  t.strictSame(await states(), [false, true, true], 'the login of another person');
  const { id } = (await store.beside.records.accounts.findByName('carol'))!;
  t.strictSame(await store.beside.records.accounts.rolesOf(id), ['auditor']);
  t.equal(await announce(store, signed(store, logoutOf(store, { sub: 'subject of carol' }))), 200);
  t.strictSame(await states(), [false, false, true]);
  t.strictSame(await store.beside.records.accounts.rolesOf(id), []);
  t.equal(await announce(store, signed(store, logoutOf(store, { sub: 'subject of a stranger' }))), 200);
  const rows = await store.beside.records.audit.newest(Number.MAX_SAFE_INTEGER, 3);
  t.strictSame(
    rows.map(({ action, actor, object }) => [action, actor, object]),
    [
      ['expire_group_roles', 'larder', `account/${id}`],
      ['end_openid_sessions', 'larder', `account/${id}`],
      ['end_openid_sessions', 'larder', `account/${id}`],
    ],
  );
});

t.test('a token that is no logout token of the provider ends nothing', async (t) => {
  const store = await startOpenidStore(t);
  const { browser } = await store.logIn(person('carol', { sid: 'laptop' }));
  const { keys } = store.issuer;
  const hour = 3600;
  const at = store.clock.now.getTime() / 1000;
  const claims = (more: Claims = {}) => logoutOf(store, { sid: 'laptop', sub: 'subject of carol', ...more });
  const without = (name: string) => Object.fromEntries(Object.entries(claims()).filter(([key]) => key !== name));
  const bad: Record<string, string> = {
    'alg none': `${base64url({ alg: 'none' })}.${base64url(claims())}.`,
    'a key of a stranger': signToken(keys.stranger.privateKey, { alg: 'RS256', kid: 'rsa' }, claims()),
    'an ID token': signed(store, { ...without('events'), nonce: 'a' }, { typ: 'JWT' }),
    'a type of another token': signed(store, claims(), { typ: 'at+jwt' }),
    'another issuer': signed(store, claims({ iss: 'https://other.example' })),
    'another audience': signed(store, claims({ aud: 'another' })),
    'a nonce': signed(store, claims({ nonce: 'a' })),
    'no events': signed(store, without('events')),
    'another event': signed(store, claims({ events: { other: {} } })),
    'events as a list': signed(store, claims({ events: [event] })),
    'an event that is no object': signed(store, claims({ events: { [event]: true } })),
    'no id': signed(store, without('jti')),
    'an id that is a number': signed(store, claims({ jti: 7 })),
    'no time': signed(store, without('iat')),
    'an hour old': signed(store, claims({ iat: at - hour, exp: at + hour })),
    'from the future': signed(store, claims({ iat: at + hour, exp: at + 2 * hour })),
    expired: signed(store, claims({ exp: at - hour })),
    'neither a person nor a login': signed(store, { ...without('sub'), sid: undefined }),
    'a login that is a list': signed(store, claims({ sid: ['laptop'] })),
    garbage: 'garbage',
  };
  const before = await store.beside.records.audit.head();
  for (const [name, token] of Object.entries(bad)) t.equal(await announce(store, token), 400, name);
  t.equal((await browser.open('/console')).status, 200);
  t.strictSame(await store.beside.records.audit.head(), before);
  t.equal(await announce(store, signed(store, claims())), 200, 'the same without a lie');
  t.equal((await browser.open('/console')).status, 401);
});
