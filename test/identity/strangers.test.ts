// Strangers at the identity provider: they learn nothing, and keep no account from logging in.
import t from 'tap';

import { seconds } from '#domain/clock.ts';
import { sitePasswords } from '#identity/identity.ts';
import { createLogins } from '#identity/login/logins.ts';
import { newKeyPair, readKeyText } from '#macaroons/codec/keys.ts';
import { mint, withFirstPartyCaveat } from '#macaroons/codec/macaroon.ts';
import { standardNamespace } from '#macaroons/codec/namespace.ts';
import { encodePayload } from '#macaroons/codec/payload.ts';
import { readToken, writeToken } from '#macaroons/codec/text.ts';
import { withPurpose } from '#macaroons/login-purpose.ts';
import { begin, discharge, password, startIdentity, waysIn, type IdentityStore } from './world.ts';

/** A caveat of a stranger for this identity provider; the stranger knows the key that proves its discharge. */
async function forged(store: IdentityStore, condition = 'is-authenticated-user') {
  const { body } = await store.anyone.get('/identity/publickey');
  const publicKey = readKeyText((body as { PublicKey: string }).PublicKey)!;
  const rootKey = Buffer.alloc(32, 7);
  const firstParty = newKeyPair();
  const about = { version: 1, condition, rootKey, namespace: standardNamespace } as const;
  const identifier = encodePayload({ ...about, thirdPartyKey: publicKey, firstParty });
  return { identifier, rootKey };
}

t.test('a discharge that a stranger made is not renewed, for any account', async (t) => {
  const store = await startIdentity(t);
  const answers = new Set<string>();
  for (const name of ['ada', 'bob', 'nobody-here']) {
    for (const loggedIn of ['2026-02-01T00:00:00.000Z', '2026-04-01T00:00:00.000Z']) {
      const { identifier, rootKey } = await forged(store);
      const discharge = [
        `logged-in ${loggedIn}`,
        `declared username ${name}`,
        'time-before 2026-05-01T00:00:00.000Z',
      ].reduce(withFirstPartyCaveat, mint(rootKey, identifier, 'identity'));
      const reply = await store.anyone.post('/api/v2/tokens/refresh', { discharge_macaroon: writeToken(discharge, 1) });
      t.equal(reply.status, 400);
      answers.add(JSON.stringify(reply.body));
    }
  }
  t.equal(answers.size, 1, 'and the answer is the same whether there is such an account and when its password was set');
});

t.test('the discharge of a login to this store is renewed', async (t) => {
  const store = await startIdentity(t);
  const { macaroon } = (await store.anyone.post('/v1/tokens/usso', {})).body as { macaroon: string };
  const caveat = readToken(macaroon)!.caveats.find(({ verificationId }) => verificationId !== undefined)!;
  const caveat_id = caveat.identifier.toString();
  const reply = await store.anyone.post('/api/v2/tokens/discharge', { email: 'ada@example.com', password, caveat_id });
  t.equal(reply.status, 200);
  t.match(await store.anyone.post('/api/v2/tokens/refresh', reply.body), { status: 200 });
});

t.test('an account has ten guesses in all, not ten for each of its names', async (t) => {
  const store = await startIdentity(t);
  const attempt = async (email: string, text: string) => {
    const { macaroon } = (await store.anyone.post('/v1/tokens/usso', {})).body as { macaroon: string };
    const caveat = readToken(macaroon)!.caveats.find(({ verificationId }) => verificationId !== undefined)!;
    const caveat_id = caveat.identifier.toString();
    return store.anyone.post('/api/v2/tokens/discharge', { email, password: text, caveat_id });
  };
  for (let at = 0; at < 10; at++) t.equal((await attempt(at % 2 ? 'ada' : 'Ada@example.com', 'wrong')).status, 401);
  for (const name of ['ada', 'ada@example.com', 'ADA@EXAMPLE.COM']) t.equal((await attempt(name, 'wrong')).status, 429);
  store.clock.advance(seconds(1));
  t.equal((await attempt('ada', password)).status, 200);
});

t.test('the page names the client and its request, even after other requests', async (t) => {
  const store = await startIdentity(t);
  const channels = Array.from({ length: 12 }, (_, at) => `${at + 1}.0/edge`);
  const { caveatId } = await begin(store, {
    description: 'x'.repeat(300),
    permissions: ['store-manage'],
    channels,
    ttl: 3600,
    packages: [{ type: 'snap', name: 'hello' }],
  });
  // Nothing is stored for a requested login.
  await store.restart();
  const { VisitURL } = (await waysIn(store, caveatId)).InteractionMethods['browser-window'] as { VisitURL: string };
  const html = await (await fetch(VisitURL)).text();
  t.match(html, `${'x'.repeat(200)}… asks for a token`);
  t.match(html, 'administer the store');
  t.match(html, 'one package; the channels 1.0/edge, ');
  t.match(html, '10.0/edge and 2 more');
  t.match(html, '2026-03-01 13:00 UTC');
  t.notMatch(html, 'purpose of this login is not known');
});

t.test('for a login that another party requests, the page warns that nothing is known', async (t) => {
  const store = await startIdentity(t);
  const { identifier } = await forged(store);
  const { VisitURL } = (await waysIn(store, identifier)).InteractionMethods['browser-window'] as { VisitURL: string };
  const html = await (await fetch(VisitURL)).text();
  t.match(html, /<section class="purpose unknown" role="alert".*The purpose of this login is not known/s);
  t.match(html, /This login was started from 127\.0\.0\.1\./);
  t.match(html, /close this page and log in again/);
  t.notMatch(html, 'asks for a token');
  t.match((await store.anyone.get('/identity/style.css')).body, /\.unknown \{\s*color: var\(--warn\)/, 'in red');
});

t.test('no other party controls the text of the page', async (t) => {
  const store = await startIdentity(t);
  const details = { description: 'The store', permissions: [], channels: null, packages: null, until: new Date() };
  const { identifier } = await forged(store, withPurpose('is-authenticated-user', details));
  const reply = await discharge(store, { id64: identifier.toString('base64') });
  t.match(reply, { status: 400, body: { Message: /does not understand the condition/ } });
});

t.test('a login that a site of the configuration began names that site', async (t) => {
  const site = 'https://builds.example/callback';
  const store = await startIdentity(t, (text) =>
    text.replace(/^# redirect_urls = .*$/m, `redirect_urls = ["${site}"]`),
  );
  const html = await (await fetch(`${store.url}/identity/login-redirect?return_to=${encodeURIComponent(site)}`)).text();
  t.match(html, 'https://builds.example asks you to log in');
  t.notMatch(html, 'purpose of this login is not known');
});

t.test('a crowd of guessing strangers does not keep an account out that has logged in from there before', async (t) => {
  const store = await startIdentity(t);
  const { records, acts, siteKey } = store.beside;
  const now = () => store.clock.now;
  const logins = createLogins({
    records,
    acts,
    passwords: sitePasswords(siteKey),
    siteKey,
    now,
    host: () => 'store.test',
  });
  const attempt = (name: string, text: string, address: string) =>
    logins.logIn({ name, password: text, address, requestId: 'r1' }).then(
      ({ username }) => username,
      (error: unknown) => (error as { code: string }).code,
    );
  t.equal(await attempt('ada', password, '10.0.0.7'), 'ada');
  const crowd = Array.from({ length: 50 }, (_, at) => attempt(`name ${at}`, 'a guess', `10.1.${at}.1`));
  while ((await Promise.race([...crowd, Promise.resolve('')])) !== 'too-many-requests') await new Promise(setImmediate);
  t.equal(await attempt('ada', password, '10.0.0.7'), 'ada');
  t.ok((await Promise.all(crowd)).filter((code) => code === 'too-many-requests').length >= 16);
});
