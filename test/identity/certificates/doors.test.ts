// An account with a role that requires a certificate: each door that a password or the OpenID provider opens is closed, for old sessions too.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { changeRole } from '#acts/accounts/accounts.ts';
import { itself } from '#acts/act.ts';
import { minutes } from '#domain/clock.ts';
import { bakeryFromJson } from '#macaroons/codec/bakery.ts';
import { certificateCondition, readDischarge } from '#macaroons/login.ts';
import { readToken } from '#macaroons/codec/text.ts';
import { commandsOn } from '#test/cli/process.ts';
import { plainDoor } from '#test/faults/rows.ts';
import { person, startOpenidStore } from '#test/identity/openid/world.ts';
import { reach, ways } from '#test/identity/ways.ts';
import { begin, discharge, exchange, macaroonList, password, waysIn } from '#test/identity/world.ts';
import { startCertificateStore, type CertificateStore } from './world.ts';

const rule = 'require_certificate = ["store-admin"]\n';
const requires = /requires a login with a client certificate/;

function addRule({ directory, appliance }: Pick<CertificateStore, 'directory' | 'appliance'>): void {
  const file = join(directory, 'larder.toml');
  writeFileSync(file, readFileSync(file, 'utf8') + rule);
  appliance.reload();
}

/** The token of a tool, after a login with a certificate in the browser that it opened. */
async function tokenOfTool(store: CertificateStore, who: string): Promise<string> {
  const { root, caveatId } = await begin(store, {});
  const { VisitURL, WaitTokenURL } = (await waysIn(store, caveatId)).InteractionMethods['browser-window'] as Record<
    string,
    string
  >;
  const { presented, browser } = await store.logIn(
    store.certificateFor(who),
    reach(store, VisitURL ?? '').slice(store.url.length),
  );
  if (presented.location === undefined) throw new Error(`not logged in: ${presented.text}`);
  const last = await browser.open(reach(store, presented.location).slice(store.url.length));
  if (!last.text.includes(`As ${who}.`)) throw new Error(last.text);
  const { kind, token64 } = (await (await fetch(reach(store, WaitTokenURL ?? ''))).json()) as Record<string, string>;
  const members = { id64: caveatId.toString('base64'), token64: token64 ?? '', 'token-kind': kind ?? '' };
  const { body } = await discharge(store, members);
  const bound = macaroonList(root, bakeryFromJson(body.Macaroon)!.macaroon);
  return (await exchange(store, Buffer.from(bound).toString('base64url'))).body.macaroon as string;
}

const whoami = (store: CertificateStore, token: string): Promise<{ status: number; body: unknown }> =>
  store.anyone.get('/v1/tokens/whoami', { authorization: `Macaroon ${token}` });

t.test('no password logs an administrator in if the role requires a certificate, at any door', async (t) => {
  const store = await startCertificateStore(t, rule);
  await store.setPassword('root');
  for (const [way, tried] of Object.entries(ways)) {
    t.equal((await tried(store, 'ada', '')).status, 200, `${way}: a publisher needs none`);
    t.match(await tried(store, 'root', ''), { status: 403, said: requires }, way);
  }
  const wrong = await store.visitor().logIn('root', { password: 'not the password' });
  t.match(wrong, { status: 401, text: /The name or the password is wrong/ }, 'a wrong password learns nothing');
  const { browser, presented } = await store.logIn(store.certificateFor('root'));
  t.equal(presented.status, 200);
  t.equal((await browser.open('/console/people')).status, 200);
  t.match((await browser.open(`/console/people/${store.ids.root}`)).text, /Logs in with Client certificate only/);
});

t.test('sessions and tokens from before the rule, or before the role, are refused at their next use', async (t) => {
  const store = await startCertificateStore(t);
  const { larder } = commandsOn(store.directory);
  for (const who of ['root', 'bob']) await store.setPassword(who);
  const [session, token] = [await store.visit('root'), await store.as('root')];
  const [bobsSession, bobsToken] = [await store.visit('bob'), await store.as('bob')];
  addRule(store);
  t.match(await session.open('/console'), { status: 401, text: requires });
  t.equal((await token.get('/v1/tokens/whoami')).status, 401);
  t.equal((await bobsToken.get('/v1/tokens/whoami')).status, 200);
  t.equal((await bobsSession.open('/console')).status, 200);
  const { acts } = store.beside;
  await acts.do(changeRole, itself, { id: store.ids.bob, role: 'store-admin', remove: false });
  t.equal((await bobsToken.get('/v1/tokens/whoami')).status, 401);
  t.equal((await bobsSession.open('/console')).status, 401);

  const issued = await larder(`token issue --account ${store.ids.root}`);
  // The command begins the token by the clock of the host.
  store.clock.advance(minutes(5));
  t.equal((await whoami(store, issued.out.trim())).status, 200, 'a token that the host issued');
  t.match((await larder(`account show ${store.ids.root}`)).out, /Certificate +required for each login/);
  const ofCertificate = await tokenOfTool(store, 'root');
  t.equal((await whoami(store, ofCertificate)).status, 200, 'a token of a login with a certificate');
});

t.test(
  'a session of a certificate asks for the password too, and its new token is as good as the session',
  async (t) => {
    const store = await startCertificateStore(t, rule);
    await store.setPassword('root');
    const { browser } = await store.logIn(store.certificateFor('root'));
    const formPath = '/console/myself/new-token';
    const form = await browser.open(formPath);
    const fields = { purpose: 'read', package: '', days: '1', description: 'a test' };
    const refused = await browser.send(form, formPath, { ...fields, password: 'wrong' });
    t.match(
      refused,
      { status: 403, text: /name or the password is wrong/ },
      'the certificate does not replace the proof',
    );
    const made = await browser.send(form, formPath, { ...fields, password });
    t.equal(made.status, 200, made.text);
    const [, token = ''] = /<h2>The token<\/h2>\s*<pre tabindex="0">([\w-]+)<\/pre>/.exec(made.html) ?? [];
    t.equal((await whoami(store, token)).status, 200);
  },
);

t.test(
  'a discharge from before the rule is not renewed, and its holder cannot mark it as one of a certificate',
  async (t) => {
    const store = await startCertificateStore(t);
    await store.setPassword('root');
    const { macaroon } = (await store.anyone.post('/v1/tokens/usso', {})).body as { macaroon: string };
    const caveat = readToken(macaroon)?.caveats.find(({ verificationId }) => verificationId !== undefined);
    const credentials = { email: 'root@example.com', password, caveat_id: caveat?.identifier.toString() };
    const { body } = await store.anyone.post('/api/v2/tokens/discharge', credentials);
    const renew = () => store.anyone.post('/api/v2/tokens/refresh', body);
    t.equal((await renew()).status, 200);
    addRule(store);
    t.match(await renew(), { status: 403, body: { message: requires } });
    const conditions = ['declared username root', 'time-before 2099-01-01T00:00:00.000Z'];
    t.match(readDischarge([certificateCondition, ...conditions]), { username: 'root', byCertificate: true });
    t.match(readDischarge(conditions), { byCertificate: false });
    t.equal(readDischarge([...conditions, certificateCondition]), undefined, 'a condition that a holder has added');
  },
);

t.test('a login with the OpenID provider does not replace the certificate', async (t) => {
  const store = await startCertificateStore(t);
  const section = readFileSync(join(store.directory, 'larder.toml'), 'utf8')
    .split('\n[identity.certificates]\n')
    .at(-1)!;
  const openid = await startOpenidStore(
    t,
    'accounts = "create"\n[identity.oidc.roles]\nadmins = ["store-admin"]\n' +
      `[identity.certificates]\n${section}${rule}`,
    (text) =>
      text
        .replace(/^base_url = .*$/m, 'base_url = "https://store.example.internal"')
        .replace('[identity.certificates]', '#'),
  );
  openid.url = await plainDoor(t, openid.url);
  const publisher = await openid.logIn(person('carol'));
  t.equal(publisher.page.status, 200, publisher.page.text);
  const administrator = await openid.logIn(person('dora', { groups: ['admins'] }));
  t.match(administrator.page, { status: 403, text: requires });
  t.equal(await openid.beside.records.accounts.findByName('dora'), undefined, 'no account was made');
  const promoted = await openid.logIn(person('carol', { groups: ['admins'] }));
  t.match(promoted.page, { status: 403, text: requires });
});
