// A store that asks its administrators for one-time passwords asks at every door that a password opens, and a code opens one of them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { changeRole } from '#acts/accounts/accounts.ts';
import { itself } from '#acts/act.ts';
import { setTotpSecret } from '#acts/accounts/credentials.ts';
import { minutes, seconds } from '#domain/clock.ts';
import { codeAt } from '#identity/credentials/totp.ts';
import { until } from '#test/fixtures/until.ts';
import { startConsole } from '../console/world.ts';
import { ways } from './ways.ts';

t.test('an administrator of a store with required one-time passwords has to give one on every path', async (t) => {
  const store = await startConsole(t, (text) => text.replace(/^.*require_totp = false$/m, 'require_totp = true'));
  await store.setPassword('root');
  const codeNow = (secret: Buffer): string => codeAt(secret, Math.floor(store.clock.now.getTime() / seconds(30)));

  for (const [way, tried] of Object.entries(ways)) {
    await t.test(way, async (t) => {
      t.equal((await tried(store, 'ada', '')).status, 200, 'who only publishes needs none');
      const without = await tried(store, 'root', '');
      t.ok(without.status >= 400 && without.status < 500, `${String(without.status)}: root has none`);
      t.match(without.said, /requires a one-time password for administrators, but your account does not use them/);
    });
  }

  const secret = await store.setTotp('root');
  for (const [at, [way, tried]] of Object.entries(ways).entries()) {
    await t.test(`${way}, with a one-time password`, async (t) => {
      const missing = await tried(store, 'root', '');
      t.ok(missing.status >= 400 && missing.status < 500);
      t.match(missing.said, /one-time password|otp/i, 'it says what is missing');
      const wrong = await tried(store, 'root', '000000');
      t.ok(wrong.status >= 400 && wrong.status < 500, 'a wrong one opens nothing');
      store.clock.advance(minutes(1));
      const code = codeNow(secret);
      t.equal((await tried(store, 'root', code)).status, 200);
      const other = Object.values(ways)[(at + 1) % Object.keys(ways).length]!;
      const replayed = await other(store, 'root', code);
      t.ok(replayed.status >= 400 && replayed.status < 500, 'and each is good once, at whichever door');
    });
  }
});

t.test('a notice that must be acknowledged closes every path that does not acknowledge it', async (t) => {
  const rules = '[sessions]\nbanner = "Use is monitored."\nacknowledge_banner = true\n';
  const store = await startConsole(t, (text) => text.replace('[sessions]\n', rules));
  for (const [way, tried] of Object.entries(ways)) {
    const { status, said: message } = await tried(store, 'ada', '');
    t.equal(status, 403, way);
    t.match(message, /must be acknowledged before each login/, way);
  }
});

const required = (text: string): string => text.replace(/^.*require_totp = false$/m, 'require_totp = true');
const hasNone = /asks its administrators for a one-time password, and the account root has none\. Set one with/;

t.test('a setting, or a role, that is newer than a token and a session counts for them too', async (t) => {
  const store = await startConsole(t);
  for (const who of ['root', 'bob']) await store.setPassword(who);
  const [token, session] = [await store.as('root'), await store.visit('root')];
  const [bobsToken, bobsSession] = [await store.as('bob'), await store.visit('bob')];
  const whoami = '/v1/tokens/whoami';
  t.equal((await token.get(whoami)).status, 200);
  t.equal((await session.open('/console')).status, 200);

  const file = join(store.directory, 'larder.toml');
  writeFileSync(file, required(readFileSync(file, 'utf8')));
  store.appliance.reload();
  await until(async () => (await token.get(whoami)).status === 401);
  const refused = await token.get(whoami);
  t.match(refused.body['error-list'], [{ code: 'macaroon-authorization-required', message: hasNone }]);
  t.match(await token.get('/internal/v1/accounts'), { status: 401 });
  t.match(await session.open('/console'), { status: 401, text: hasNone });
  t.equal((await bobsToken.get(whoami)).status, 200, 'who only publishes needs none');
  t.equal((await bobsSession.open('/console')).status, 200);

  const { acts } = store.beside;
  const { bob, root } = store.ids;
  await acts.do(changeRole, itself, { id: bob, role: 'store-admin', remove: false });
  t.equal((await bobsToken.get(whoami)).status, 401, 'until they administer the store');
  t.equal((await bobsSession.open('/console')).status, 401);
  await acts.do(changeRole, itself, { id: bob, role: 'store-admin', remove: true });
  t.equal((await bobsToken.get(whoami)).status, 200);

  await acts.do(setTotpSecret, itself, { id: root, secret: 'sealed', replace: false });
  t.equal((await token.get(whoami)).status, 200, 'a one-time password makes both valid again, with the next request');
  t.equal((await session.open('/console')).status, 200);
  await acts.do(setTotpSecret, itself, { id: root, secret: null, replace: false });
  t.equal((await token.get(whoami)).status, 401);
  t.equal((await session.open('/console')).status, 401);
});
