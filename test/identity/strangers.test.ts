// What somebody without an account finds out at the identity provider, and whom he keeps from logging in: nothing, nobody.
import t from 'tap';

import { seconds } from '#domain/clock.ts';
import { newKeyPair, readKeyText } from '#macaroons/codec/keys.ts';
import { mint, withFirstPartyCaveat } from '#macaroons/codec/macaroon.ts';
import { standardNamespace } from '#macaroons/codec/namespace.ts';
import { encodePayload } from '#macaroons/codec/payload.ts';
import { readToken, writeToken } from '#macaroons/codec/text.ts';
import { password, startIdentity, type IdentityStore } from './world.ts';

/** A caveat that a stranger made for this identity provider; he knows the key that proves its discharge. */
async function forged(store: IdentityStore, condition = 'is-authenticated-user') {
  const { body } = await store.anyone.get('/identity/publickey');
  const publicKey = readKeyText((body as { PublicKey: string }).PublicKey)!;
  const rootKey = Buffer.alloc(32, 7);
  const firstParty = newKeyPair();
  const about = { version: 1, condition, rootKey, namespace: standardNamespace } as const;
  const identifier = encodePayload({ ...about, thirdPartyKey: publicKey, firstParty });
  return { identifier, rootKey };
}

t.test('a discharge that a stranger made himself is not renewed, whomever it names', async (t) => {
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
  const given = await store.anyone.post('/api/v2/tokens/discharge', { email: 'ada@example.com', password, caveat_id });
  t.equal(given.status, 200);
  t.match(await store.anyone.post('/api/v2/tokens/refresh', given.body), { status: 200 });
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
