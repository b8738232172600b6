// The own account in the console: name, password, one-time passwords, tokens and logins.
import { execFileSync } from 'node:child_process';

import t from 'tap';

import { minutes, seconds } from '#domain/clock.ts';
import { codeAt } from '#identity/credentials/totp.ts';
import { password } from '#test/identity/world.ts';
import { fromBase32 } from '#test/fixtures/accounts/base32.ts';
import { startConsole, type Page } from '#test/console/world.ts';

const basePath = '/console/myself';
const better = 'four other words of ada';
const nasty = `<b>x</b>"'javascript:alert(1)`;

const hrefs = ({ html }: Page): string[] => [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);

const store = await startConsole(t);
const { records } = store.beside;
let ada = await store.visit('ada');
const codeOf = (secret: Buffer): string => codeAt(secret, Math.floor(store.clock.now.getTime() / seconds(30)));

t.test('is for every logged-in account, and shows only that account', async (t) => {
  for (const page of [basePath, `${basePath}/password`, `${basePath}/one-time-passwords`, `${basePath}/new-token`]) {
    t.equal((await store.visitor().open(page)).status, 401, page);
    t.equal((await ada.open(page)).status, 200, page);
  }
  const page = await ada.open(basePath);
  t.match(page.text, /You are logged in as ada .* ada@example\.com Roles A publisher .* not asked for/);
  t.match(await ada.send(page, `${basePath}/name`, { 'display-name': ' ' }), {
    status: 400,
    text: /must not be blank/,
  });
  const renamed = await ada.send(page, `${basePath}/name`, { 'display-name': nasty });
  t.match(renamed.text, /Your display name is changed/);
  t.match(renamed.text, nasty);
  t.notMatch(renamed.html, '<b>x');
  t.equal((await records.accounts.find(store.ids.ada))?.displayName, nasty);
  await ada.send(renamed, `${basePath}/name`, { 'display-name': 'Ada' });
});

t.test('a token is made for a purpose, shown once, and ended', async (t) => {
  const client = await store.as('ada');
  for (const name of ['hello', 'other']) await client.post('/v1/snap', { name });
  await (await store.as('bob')).post('/v1/snap', { name: 'bobs' });
  const form = await ada.open(`${basePath}/new-token`);
  const edge = { purpose: 'edge', package: 'snap/hello', days: '1', description: nasty, password };
  t.match(await ada.send(form, `${basePath}/new-token`, { ...edge, password: 'wrong' }), {
    status: 403,
    text: /name or the password is wrong/,
  });
  t.match(await ada.send(form, `${basePath}/new-token`, { ...edge, package: '' }), {
    status: 400,
    text: /Enter the package of the token/,
  });
  t.match(await ada.send(form, `${basePath}/new-token`, { ...edge, package: 'snap/bobs' }), {
    status: 404,
    text: /do not work on a package/,
  });
  t.match(await ada.send(form, `${basePath}/new-token`, { ...edge, purpose: 'all' }), { status: 400 });
  const made = await ada.send(form, `${basePath}/new-token`, edge);
  t.match(made, { status: 200, text: /Push one package, and release it to edge, until 2026-03-02 12:00 UTC/ });
  const [, shown = ''] = /<h2>The token<\/h2>\s*<pre tabindex="0">([\w-]+)<\/pre>/.exec(made.html) ?? [];
  const token = store.with(shown);
  t.match((await token.get('/v1/tokens/whoami')).body, {
    channels: ['*/edge'],
    packages: [{ type: 'snap', name: 'hello' }],
  });
  t.equal((await token.push('snap', 'other', 'x')).status, 401, 'another package is out of its reach');
  t.match(made.text, /export SNAPCRAFT_STORE_AUTH='onprem'.*export CHARMCRAFT_AUTH=/);
  const [lines = ''] =
    /base='http.*?whoami"/s.exec(made.text.replaceAll("' auth", "'\nauth").replaceAll("' curl", "'\ncurl")) ?? [];
  t.match(
    execFileSync('sh', ['-c', `curl() { printf '%s|' "$@"; }\n${lines}`]).toString(),
    `-H|Authorization: Macaroon ${shown}|${store.url}/v1/tokens/whoami|`,
    'the lines do in a shell what they say',
  );

  const listed = await ada.open(basePath);
  t.match(listed.text, nasty);
  t.notMatch(listed.html, '<b>x');
  t.notMatch(listed.html, shown);
  const { sessionId } = (await records.macaroons.list(store.ids.ada, '', true)).find(
    ({ description }) => description === nasty,
  )!;
  const address = `${basePath}/tokens/${sessionId}/end`;
  t.ok(hrefs(listed).includes(address));
  const confirmation = await ada.open(address);
  const bob = await store.visit('bob');
  t.match(await bob.open(address), { status: 404, text: /You have no token/ });
  t.equal((await token.get('/v1/tokens/whoami')).status, 200, 'who only looks has ended nothing');
  t.match((await ada.send(confirmation, address)).text, /The token is revoked/);
  t.equal((await token.get('/v1/tokens/whoami')).status, 401);
});

t.test('another login is ended from this one', async (t) => {
  const other = await store.visit('ada');
  const page = await ada.open(basePath);
  t.equal(page.text.match(/this login/g)?.length, 1);
  const sessions = (await records.macaroons.list(store.ids.ada, store.clock.now.toISOString(), false)).filter(
    ({ kind }) => kind === 'console',
  );
  t.equal(sessions.length, 2);
  for (const { sessionId } of sessions) {
    const address = `${basePath}/tokens/${sessionId}/end`;
    const confirmation = await ada.open(address);
    if (confirmation.text.includes('using this login now')) continue;
    await ada.send(confirmation, address);
  }
  t.equal((await other.open('/console')).status, 401);
  t.equal((await ada.open('/console')).status, 200);
});

const codesIn = (html: string): string[] => html.match(/\b[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}\b/g) ?? [];

t.test('one-time passwords are in force once a first code has come', async (t) => {
  const address = `${basePath}/one-time-passwords`;
  const begin = await ada.open(address);
  t.match(await ada.send(begin, `${address}/begin`, { password: 'wrong' }), { status: 403 });
  const shown = await ada.send(begin, `${address}/begin`, { password });
  t.match(shown, { status: 200, html: /<svg\s+class="qr"/, text: /Or type this secret/ });
  t.notMatch(shown.html, / style=/);
  const [, text = ''] = /<code>([A-Z2-7 ]+)<\/code>/.exec(shown.html) ?? [];
  const secret = fromBase32(text.replaceAll(' ', ''));
  t.equal(secret.length, 20);
  t.match((await ada.open(basePath)).text, /not asked for/, 'what is only shown is not in force');
  const wrong = await ada.send(shown, `${address}/switch-on`, { code: '000000' });
  t.match(wrong, { status: 403, html: /<svg\s+class="qr"/, text: /wrong or was used already/ });
  t.match(wrong.text, text, 'the same secret is shown again');
  const stranger = await store.visit('bob');
  const bobs = await stranger.send(await stranger.open(address), `${address}/begin`, { password });
  const [, theirs = ''] = /name="proposal" value="([^"]+)"/.exec(shown.html) ?? [];
  t.match(await stranger.send(bobs, `${address}/switch-on`, { proposal: theirs, code: codeOf(secret) }), {
    status: 409,
    text: /belongs to a login that has ended/,
  });
  const code = codeOf(secret);
  const on = await ada.send(wrong, `${address}/switch-on`, { code });
  t.match(on, { status: 200, text: /asked for a one-time password at each login/ });
  const codes = codesIn(on.html);
  t.equal(new Set(codes).size, 10, 'recovery codes are shown, this once');
  t.match(
    await store.visitor().logIn('ada', { code }),
    { status: 401, text: /was used already/ },
    'the first code is used up',
  );
  t.match(await ada.send(wrong, `${address}/switch-on`, { code }), {
    status: 409,
    text: /use one-time passwords already/,
  });
  store.clock.advance(minutes(1));
  t.match(await store.visitor().logIn('ada'), { status: 401, text: /also asks for a one-time password/ });
  t.equal((await store.visitor().logIn('ada', { code: codeOf(secret) })).status, 200);
  t.match(
    await records.accounts.touched(store.ids.ada),
    { what: 'switch_on_totp', by: 'a login of its own' },
    'what she approves of waits',
  );

  const [paper = '', other = ''] = codes;
  t.match(await store.visitor().logIn('ada', { code: 'aaaa-aaaa-aaaa' }), { status: 401, text: /is wrong/ });
  t.equal((await store.visitor().logIn('ada', { code: paper.toUpperCase() })).status, 200, 'one of them lets her in');
  t.match(await store.visitor().logIn('ada', { code: paper }), { status: 401, text: /was used already/ }, 'once');
  const storedCodes = (await records.totpSecrets.find(store.ids.ada))?.recovery ?? '';
  t.equal((JSON.parse(storedCodes) as string[]).length, 9);
  t.notMatch(storedCodes, other.replaceAll('-', ''), 'nothing that is kept lets anybody in');
  t.match((await ada.open(address)).text, /You have 9 recovery codes left/);
  const renewed = await ada.send(await ada.open(address), `${address}/recovery-codes`, { password, code: other });
  t.match(renewed, { status: 200, text: /Your old recovery codes are no longer valid/ });
  t.match(await store.visitor().logIn('ada', { code: codes[2] ?? '' }), { status: 401 });
  t.equal((await store.visitor().logIn('ada', { code: codesIn(renewed.html)[0] ?? '' })).status, 200);

  const off = await ada.open(address);
  t.match(await ada.send(off, `${address}/switch-off`, { password, code: '000000' }), { status: 403 });
  t.match((await ada.open(basePath)).text, /asked for Recovery codes, or turn off/);
  store.clock.advance(minutes(1));
  t.match(
    (await ada.send(off, `${address}/switch-off`, { password, code: codeOf(secret) })).text,
    /with your password only/,
  );
  t.equal((await store.visitor().logIn('ada')).status, 200);
});

t.test('a password is changed with the old one', async (t) => {
  const address = `${basePath}/password`;
  const page = await ada.open(address);
  const typed = { password, 'new-password': better, again: better };
  t.match(await ada.send(page, address, { ...typed, again: 'x' }), { status: 400, text: /two new passwords differ/ });
  t.match(await ada.send(page, address, { ...typed, password: 'wrong' }), { status: 403 });
  t.match(await ada.send(page, address, { ...typed, 'new-password': 'password', again: 'password' }), {
    status: 400,
    text: /too common/,
  });
  const done = await ada.send(page, address, typed);
  t.match(done, { status: 200, address: /^\/console\/myself\?/, text: /Your password is changed/ });
  t.notMatch(done.html, better);
  t.match(await store.visitor().logIn('ada'), { status: 401 });
  t.match(await records.accounts.touched(store.ids.ada), { what: 'change_own_password' });

  const other = store.visitor();
  t.equal((await other.logIn('ada', { password: better })).status, 200);
  const again = { password: better, 'new-password': password, again: password, 'end-tokens': 'yes' };
  t.match(await ada.send(await ada.open(address), address, again), { status: 401, text: /Log in/ });
  for (const visitor of [ada, other]) t.equal((await visitor.open('/console')).status, 401, 'all logins have ended');
  ada = await store.visit('ada');
});

t.test('wrong guesses of the old password are delayed like guesses at the login', async (t) => {
  const address = `${basePath}/password`;
  const page = await ada.open(address);
  const typed = { password: 'wrong', 'new-password': better, again: better };
  for (let at = 0; at < 10; at++) t.equal((await ada.send(page, address, typed)).status, 403);
  t.match(await ada.send(page, address, { ...typed, password }), { status: 429, text: /Too many failed logins/ });
  t.equal(store.log.join('').includes(better), false);
});

t.test('a store may ask its administrators for one-time passwords', async (t) => {
  const store = await startConsole(t, (text) => text.replace(/^.*require_totp = false$/m, 'require_totp = true'));
  await store.setPassword('root');
  t.match(await store.visitor().logIn('root'), {
    status: 401,
    text: /your account does not use them\. Set them up with 'larder account totp root' on the host/,
  });
  t.equal((await store.visitor().logIn('ada')).status, 200, 'who only publishes needs none');
  const secret = await store.setTotp('root');
  const root = store.visitor();
  const code = codeAt(secret, Math.floor(store.clock.now.getTime() / seconds(30)));
  t.equal((await root.logIn('root', { code })).status, 200);
  store.clock.advance(minutes(1));
  const later = codeAt(secret, Math.floor(store.clock.now.getTime() / seconds(30)));
  const page = await root.open(`${basePath}/one-time-passwords`);
  const refusal = await root.send(page, `${basePath}/one-time-passwords/switch-off`, { password, code: later });
  t.match(refusal, { status: 409, text: /so you cannot turn them off/ });
});
