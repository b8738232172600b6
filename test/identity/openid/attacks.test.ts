// Tokens and responses that do not prove a login: each leaves no account, no session and no row in the audit log.
import { createHmac } from 'node:crypto';

import t from 'tap';

import { base64url, signToken, startIssuer, type Claims, type Lies, type TestIssuer } from './issuer.ts';
import { continuation, person, startOpenidStore, type OpenidStore } from './world.ts';

interface Attack {
  lies?: (issuer: TestIssuer) => Lies;
  /** Changes the address that the browser comes back to. */
  back?: (address: URL) => URL;
  claims?: Claims;
}

const claim = (change: Claims): Attack => ({ lies: () => ({ claims: (claims) => ({ ...claims, ...change }) }) });
const without = (name: string): Attack => ({
  lies: () => ({ claims: (claims) => Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name)) }),
});
const token = (make: (issuer: TestIssuer, header: object, claims: Claims) => string): Attack => ({
  lies: (issuer) => ({ token: (header, claims) => make(issuer, header, claims) }),
});
const response = (change: (response: Record<string, unknown>) => unknown): Attack => ({
  lies: () => ({ response: change }),
});
const parameter = (change: (query: URLSearchParams) => void): Attack => ({
  back(address) {
    change(address.searchParams);
    return address;
  },
});
const discovery = (change: Record<string, unknown>): Attack => ({
  lies: () => ({ discovery: (document) => ({ ...document, ...change }) }),
});

const hour = 3600;
const now = Date.parse('2026-03-01T12:00:00Z') / 1000;
const pem = ({ keys }: TestIssuer): string => keys.rsa.publicKey.export({ type: 'spki', format: 'pem' }) as string;
const hmac = (key: string, header: object, claims: Claims): string => {
  const input = `${base64url({ ...header, alg: 'HS256' })}.${base64url(claims)}`;
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`;
};

const attacks: Record<string, Attack> = {
  'alg none without a signature': token(
    (_, header, claims) => `${base64url({ ...header, alg: 'none' })}.${base64url(claims)}.`,
  ),
  'alg none with a signature': token(({ keys }, header, claims) =>
    signToken(keys.rsa.privateKey, { ...header, alg: 'none' }, claims),
  ),
  'alg None in another case': token(
    (_, header, claims) => `${base64url({ ...header, alg: 'nOnE' })}.${base64url(claims)}.`,
  ),
  'HS256 with the public key': token((issuer, header, claims) => hmac(pem(issuer), header, claims)),
  'HS256 with the client secret': token((_, header, claims) => hmac('a secret of the client', header, claims)),
  'an empty signature': token((_, header, claims) => `${base64url(header)}.${base64url(claims)}.`),
  'the signature of another token': token(({ keys }, header, claims) => {
    const [, , signature = ''] = signToken(keys.rsa.privateKey, header, { ...claims, sub: 'another' }).split('.');
    return `${base64url(header)}.${base64url(claims)}.${signature}`;
  }),
  'a key of a stranger': token(({ keys }, header, claims) => signToken(keys.stranger.privateKey, header, claims)),
  'a key of a stranger inside the token': token(({ keys }, header, claims) =>
    signToken(keys.stranger.privateKey, { ...header, jwk: keys.stranger.publicKey.export({ format: 'jwk' }) }, claims),
  ),
  'a key id that is not published': { lies: () => ({ header: { kid: 'other' } }) },
  'RS256 named over an ES256 key': { lies: () => ({ header: { kid: 'ec' } }) },
  'a critical header': { lies: () => ({ header: { crit: ['b64'], b64: false } }) },
  'another issuer': claim({ iss: 'https://other.example' }),
  'an issuer with a slash more': claim({ iss: 'https://127.0.0.1/' }),
  'no issuer': without('iss'),
  'another audience': claim({ aud: 'another client' }),
  'no audience': without('aud'),
  'several audiences without the store': claim({ aud: ['a', 'b'] }),
  'several audiences and another authorized party': claim({ aud: ['larder', 'b'], azp: 'b' }),
  'several audiences and no authorized party': claim({ aud: ['larder', 'b'] }),
  'another authorized party': claim({ azp: 'b' }),
  'another nonce': claim({ nonce: 'another' }),
  'no nonce': without('nonce'),
  expired: claim({ exp: now - hour }),
  'no expiry': without('exp'),
  'expiry as a text': claim({ exp: '9999999999' }),
  'issued in the future': claim({ iat: now + hour, exp: now + 2 * hour }),
  'no time of issue': without('iat'),
  'not valid before the future': claim({ nbf: now + hour }),
  'no subject': without('sub'),
  'an empty subject': claim({ sub: '' }),
  'a subject that is a number': claim({ sub: 7 }),
  'a subject of 256 characters': claim({ sub: 'a'.repeat(256) }),
  'a subject with a line end': claim({ sub: 'a\nb' }),
  'no user name': { claims: { preferred_username: undefined } },
  'a user name without a letter': { claims: { preferred_username: '...' } },
  'no e-mail address': { claims: { email: undefined } },
  'an e-mail address that is not verified': { claims: { email_verified: false } },
  'groups that are no list': { claims: { groups: { admin: true } } },
  'groups with a number': { claims: { groups: ['a', 7] } },
  'claims of 2 MB': { claims: { groups: Array.from({ length: 200_000 }, (_, at) => `group-${String(at)}`) } },
  'a token of two parts': token((_, header, claims) => `${base64url(header)}.${base64url(claims)}`),
  'a token that is no text': response((body) => ({ ...body, id_token: 7 })),
  'no token': response((body) => ({ ...body, id_token: undefined })),
  'a token that is encrypted': token(() => 'a.b.c.d.e'),
  'claims that are no JSON': token(({ keys }, header) => signToken(keys.rsa.privateKey, header, 'garbage')),
  'a response that is no JSON': response(() => 'garbage'),
  'a redirect of the token endpoint': { lies: () => ({ status: 302 }) },
  'an error of the token endpoint': { lies: () => ({ status: 400, response: () => ({ error: 'invalid_grant' }) }) },
  'a failing token endpoint': { lies: () => ({ status: 500 }) },
  'keys that are no JSON': { lies: () => ({ keys: 'garbage' }) },
  'keys that are no list': { lies: () => ({ keys: { keys: 'none' } }) },
  'no keys': { lies: () => ({ keys: { keys: [] } }) },
  'a discovery document of another issuer': discovery({ issuer: 'https://other.example' }),
  'a token endpoint on another host': discovery({ token_endpoint: 'https://other.example/token' }),
  'keys on another host': discovery({ jwks_uri: 'https://other.example/keys' }),
  'keys without TLS': discovery({ jwks_uri: 'http://127.0.0.1/keys' }),
  'a discovery document that is no JSON': { lies: () => ({ discovery: () => 'garbage' }) },
  'another code': parameter((query) => {
    query.set('code', 'another');
  }),
  'no code': parameter((query) => {
    query.delete('code');
  }),
  'two codes': parameter((query) => {
    query.append('code', 'another');
  }),
  'another state': parameter((query) => {
    query.set('state', 'another');
  }),
  'no state': parameter((query) => {
    query.delete('state');
  }),
  'two states': parameter((query) => {
    query.append('state', 'another');
  }),
  'the issuer of a mix-up': parameter((query) => {
    query.set('iss', 'https://other.example');
  }),
  'no issuer in the address': parameter((query) => {
    query.delete('iss');
  }),
  'an error of the provider': parameter((query) => {
    query.delete('code');
    query.set('error', 'access_denied');
  }),
  'a code and an error': parameter((query) => {
    query.set('error', 'access_denied');
  }),
  'a token in the address': parameter((query) => {
    query.set('id_token', 'a.b.c');
    query.delete('code');
  }),
};

/** Everything that a login leaves. */
async function traces({ beside: { records } }: OpenidStore): Promise<unknown> {
  const page = { accountId: null, includeInactive: true, now: '', before: undefined };
  return {
    accounts: await records.accounts.list(),
    audit: await records.audit.head(),
    sessions: await records.macaroons.page(page, 10),
  };
}

t.test('a response that does not prove a login begins no session and leaves no trace', async (t) => {
  const store = await startOpenidStore(t);
  const before = await traces(store);
  for (const [name, { lies, back, claims = {} }] of Object.entries(attacks)) {
    // The documents of the provider are read again after a minute.
    store.clock.advance(61_000);
    store.issuer.lies = {};
    const { browser, address } = await store.begin();
    store.clock.advance(61_000);
    store.issuer.lies = lies?.(store.issuer) ?? {};
    const callback = store.issuer.logIn(address, person('mallory', claims));
    const { pathname, search } = back?.(callback) ?? callback;
    const page = await browser.open(pathname + search);
    t.ok(page.status >= 400 && page.status < 504, `${name}: ${String(page.status)} ${page.text.slice(0, 160)}`);
    t.equal((await browser.open('/console')).status, 401, name);
  }
  t.ok(Object.keys(attacks).length >= 40);
  const log = store.log.join('');
  t.match(log, /unexpected JWT \\"aud\\" \(audience\) claim value/, 'the log has the reason');
  t.notMatch(log, /eyJ|a secret of the client/, 'and no token and no secret');
  t.strictSame(await traces(store), before);
  store.clock.advance(61_000);
  store.issuer.lies = {};
  const { page } = await store.logIn(person('carol'));
  t.equal(continuation(page), '/console', 'the same way without a lie');
});

t.test('a login is finished once, and only by the browser that began it', async (t) => {
  const store = await startOpenidStore(t);
  const { browser, address } = await store.begin();
  const { pathname, search } = store.issuer.logIn(address, person('carol'));
  const pending = browser.cookie;
  t.equal((await store.visitor().open(pathname + search)).status, 410, 'another browser');
  const requests = store.issuer.requests.length;
  t.equal((await browser.open(pathname + search)).status, 200);
  const sent = store.issuer.requests.length;
  t.ok(sent > requests);
  const before = await traces(store);
  const thief = store.visitor();
  thief.cookie = pending;
  t.equal((await thief.open(pathname + search)).status, 410, 'the same code and state');
  const again = store.issuer.logIn(address, person('carol'));
  thief.cookie = pending;
  t.equal((await thief.open(again.pathname + again.search)).status, 410, 'a new code with the same state');
  t.equal(store.issuer.requests.length, sent, 'no code is sent to the provider again');
  const { browser: late, address: lateAddress } = await store.begin();
  store.clock.advance(16 * 60_000);
  const lateBack = store.issuer.logIn(lateAddress, person('carol'));
  t.equal((await late.open(lateBack.pathname + lateBack.search)).status, 410, 'after 15 minutes');
  t.strictSame(await traces(store), before);
});

t.test('requests go to the host of the issuer, and to the hosts of the configuration only', async (t) => {
  const other = await startIssuer(t, () => new Date('2026-03-01T12:00:00Z'));
  const lies: Lies = { discovery: (document) => ({ ...document, token_endpoint: `${other.issuer}/token` }) };
  const store = await startOpenidStore(t);
  store.issuer.lies = lies;
  t.equal((await store.logIn(person('carol'))).page.status, 503);
  t.strictSame(other.requests, [], 'the code and the secret are not sent');
  const listing = await startOpenidStore(t, `accounts = "create"\nhosts = ["${new URL(other.issuer).host}"]\n`);
  listing.issuer.lies = lies;
  await listing.logIn(person('carol'));
  t.strictSame(other.requests, ['POST /token']);
});
