// A certified OpenID provider (npm's oidc-provider) and Chromium: a person logs in to the console, and is logged out by the provider.
import { spawn } from 'node:child_process';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { Provider } from 'oidc-provider';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';

import { freePort } from '#test/fixtures/free-port.ts';
import { withoutPythonPackages } from '#test/fixtures/programs.ts';
import { needsBrowser, openBrowser } from '#test/fixtures/clients/browser.ts';
import { startConsole } from '#test/console/world.ts';
import { begin, waysIn } from '../world.ts';
import { makeKeys } from './issuer.ts';
import { withoutOidc } from './world.ts';

const secret = 'a-secret-of-the-client-of-32-signs';

/** A provider with people who are in the group of the first letter of their name. */
async function startProvider(t: { teardown(work: () => unknown): void }, client: { redirect: string; logout: string }) {
  const { server: certificate } = await makeKeys();
  const port = await freePort();
  const issuer = `https://127.0.0.1:${String(port)}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'larder',
        client_secret: secret,
        redirect_uris: [client.redirect],
        grant_types: ['authorization_code', 'refresh_token'],
        backchannel_logout_uri: client.logout,
        backchannel_logout_session_required: true,
      },
    ],
    pkce: { required: () => true },
    scopes: ['openid', 'profile', 'email', 'offline_access'],
    claims: { openid: ['sub'], profile: ['name', 'preferred_username', 'groups'], email: ['email', 'email_verified'] },
    cookies: { keys: ['a key of the cookies'] },
    issueRefreshToken: () => true,
    // Its own function sends nothing to this machine.
    fetch: (url, { method, headers, body }: RequestInit = {}) => fetch(url, { method, headers, body } as RequestInit),
    features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: true } },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        preferred_username: id,
        name: `${id} of the site`,
        email: `${id}@site.example`,
        email_verified: true,
        groups: ['officers'],
      }),
    }),
  });
  const server = createServer({ key: certificate.key, cert: certificate.certificate }, provider.callback());
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return issuer;
}

/** A store with the provider, at an address that the provider knows before the store is started. */
async function startWithProvider(t: Test, roles: string) {
  const port = await freePort();
  const base = `http://127.0.0.1:${String(port)}`;
  const issuer = await startProvider(t, {
    redirect: `${base}/identity/openid/callback`,
    logout: `${base}/identity/openid/logout`,
  });
  const folder = t.testdir({ secret, 'ca.pem': (await makeKeys()).authority.certificate });
  const section =
    `\n[identity.oidc]\nissuer = "${issuer}"\nclient_id = "larder"\nclient_secret_file = "${join(folder, 'secret')}"\n` +
    `authority_file = "${join(folder, 'ca.pem')}"\nname = "EXAMPLE"\naccounts = "create"\n` +
    `[identity.oidc.roles]\nofficers = ${roles}\n`;
  const store = await startConsole(
    t,
    (text) => withoutOidc(text).replaceAll(/127\.0\.0\.1:[1-9][0-9]*/g, `127.0.0.1:${String(port)}`) + section,
    new Date(),
  );
  const context = await (await openBrowser(t)).newContext({ ignoreHTTPSErrors: true });
  return { store, base, issuer, context, page: await context.newPage() };
}

/** Enters the credentials of carol at the provider. */
async function enterCredentials(page: Page): Promise<void> {
  await page.locator('input[name=login]').fill('carol');
  await page.locator('input[name=password]').fill('any');
  await page.getByRole('button').first().click();
}

t.test('a person logs in with a certified provider, and its logout ends the session', needsBrowser, async (t) => {
  const { store, base, issuer, page } = await startWithProvider(t, '["auditor"]');
  await page.goto(`${base}/console/log-in`);
  await page.getByRole('button', { name: 'Log in with EXAMPLE' }).click();
  await enterCredentials(page);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(`${base}/console`);
  await page.goto(`${base}/console/myself`);
  t.match(await page.textContent('main'), /logged in as\s+carol[^]*auditor/);

  const { caveatId } = await begin(store, { permissions: ['package-view'], description: 'craft on a laptop' });
  const ways = (await waysIn(store, caveatId)).InteractionMethods['browser-window'] as Record<string, string>;
  await page.goto(ways['VisitURL'] ?? '');
  await page.getByRole('button', { name: 'Log in with EXAMPLE' }).click();
  await page.getByText('You can close this page').waitFor();
  t.equal(
    (await fetch(ways['WaitTokenURL'] ?? '')).status,
    200,
    'a tool gets its token, and the person enters nothing again',
  );

  await page.goto(`${issuer}/session/end`);
  await page.getByRole('button', { name: /Yes/ }).click();
  await page.waitForLoadState();
  await page.goto(`${base}/console`);
  t.match(await page.textContent('main'), /Your session was ended\. Log in again/);
});

t.test(
  'the bakery client of craft-store gets a token through Chromium and the certified provider',
  { skip: needsBrowser.skip || withoutPythonPackages('python3-macaroonbakery') },
  async (t) => {
    const { store, base, page } = await startWithProvider(t, '["auditor"]');
    const client = spawn('/usr/bin/python3', [join(import.meta.dirname, 'bakery-client.py'), base]);
    t.teardown(() => client.kill());
    const lines = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
    const read = async () => JSON.parse((await lines.next()).value as string) as { visit: string; whoami: object };
    const { visit } = await read();
    store.clock.now = new Date();
    await page.goto(visit);
    t.match(await page.textContent('main'), /craft on a laptop asks for a token/);
    await page.getByRole('button', { name: 'Log in with EXAMPLE' }).click();
    await enterCredentials(page);
    store.clock.now = new Date();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('You can close this page').waitFor();
    t.match(await read(), { whoami: { account: { username: 'carol' }, permissions: ['package-view'] } });
  },
);

t.test('an administrator without a password proves themselves at the provider again', needsBrowser, async (t) => {
  const { store, base, context, page } = await startWithProvider(t, '["store-admin"]');
  await page.goto(`${base}/console/log-in`);
  await page.getByRole('button', { name: 'Log in with EXAMPLE' }).click();
  await enterCredentials(page);
  store.clock.now = new Date();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(`${base}/console`);
  await page.goto(`${base}/console/people/${store.ids.bob}/role?role=auditor`);
  await page.getByRole('button', { name: 'Give auditor' }).click();
  store.clock.now = new Date();
  const opened = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Log in with EXAMPLE' }).click();
  const other = await opened;
  await other.locator('input[name=login]').waitFor();
  store.clock.now = new Date();
  await enterCredentials(other);
  await other.getByText('Your login is confirmed').first().waitFor();
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('role is given').waitFor();
  t.ok((await store.beside.records.accounts.rolesOf(store.ids.bob)).includes('auditor'));
});
