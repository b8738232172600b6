// A day with the console, in a browser: with its scripts, and without any.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';

import { changeRole } from '#acts/accounts/accounts.ts';
import { itself } from '#acts/act.ts';
import { changeApprovalPolicy } from '#acts/approvals/proposals.ts';
import { noPolicy, readRule } from '#domain/approvals/approval-policy.ts';
import { hours, minutes, seconds } from '#domain/clock.ts';
import { codeAt } from '#identity/credentials/totp.ts';
import { snapFixture } from '#test/fixtures/appliance.ts';
import { deviceHeaders, servingSnaps } from '#test/fixtures/devices.ts';
import { needsBrowser, openBrowser } from '#test/fixtures/clients/browser.ts';
import { password } from '#test/identity/world.ts';
import { larder } from '#test/cli/world.ts';
import { withoutPythonPackages } from '#test/fixtures/programs.ts';
import { receiving } from './transfers/carrying.ts';
import { startConsole, type ConsoleStore } from './world.ts';

const run = promisify(execFile);
const python = '/usr/bin/python3';
const withoutPython = withoutPythonPackages('python3-requests');
const needsBoth = withoutPython === false ? needsBrowser : { skip: withoutPython };
const secret = 'five pumps at the harbour, 9';

t.setTimeout(600_000);

/** A browser that runs our scripts, or none. */
async function sitDown(browser: Browser, javaScriptEnabled: boolean): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext({ javaScriptEnabled });
  return { context, page: await context.newPage() };
}

/** Logs in with the keyboard alone. */
async function logIn(page: Page, store: ConsoleStore, name: string, word: string, code = ''): Promise<void> {
  await page.goto(`${store.url}/console`);
  await page.locator('[name=username]').focus();
  await page.keyboard.type(name);
  await page.keyboard.press('Tab');
  await page.keyboard.type(word);
  await page.keyboard.press('Tab');
  await page.keyboard.type(code);
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Console' }).waitFor();
}

/** With the keyboard, like the following steps: an element that it cannot reach or press fails. */
const enter = async (page: Page, target: Locator): Promise<void> => {
  await target.focus();
  if ((await target.and(page.locator(':focus')).count()) === 0) throw new Error('this takes no focus');
  await page.keyboard.press('Enter');
};

const go = async (page: Page, words: string): Promise<void> => {
  await enter(page, page.locator('header nav a', { hasText: words }));
  await page.locator('nav a[aria-current=page]', { hasText: words }).waitFor();
};

const wait = (page: Page, words: RegExp): Promise<void> => page.getByText(words).first().waitFor();

/** The next page says at its top which act was done. */
const isDone = (page: Page): Promise<void> => page.locator('.notice.good').waitFor();

const press = (page: Page, words: string): Promise<void> =>
  enter(page, page.getByRole('button', { name: words, exact: true }));

/** Publishes a snap with the lines of the page in a shell; returns the id of the upload. */
async function publish(store: ConsoleStore, lines: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'larder-journey-'));
  const file = join(folder, 'tiny-app_1.snap');
  writeFileSync(file, await snapFixture('app-xz'));
  const program = `exec ${python} ${join(import.meta.dirname, 'publish.py')}`;
  const tool = async (args: string): Promise<Record<string, string>> => {
    const { stdout } = await run('sh', ['-c', `${lines}\n${program} ${args}`], { env: { PATH: process.env['PATH'] } });
    return JSON.parse(stdout) as Record<string, string>;
  };
  try {
    if ((await tool('tiny-app'))['who'] !== 'carol') throw new Error('the lines are for somebody else');
    await larder(`package manual-review snap/tiny-app on --data ${store.directory}`);
    const { upload = '' } = await tool(`tiny-app ${file}`);
    await store.appliance.reviewed();
    return upload;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const scripts of [true, false]) {
  t.test(
    `a publisher is invited, pushes, and is released${scripts ? '' : ', without any script'}`,
    needsBoth,
    async (t) => {
      const store = await startConsole(t, servingSnaps);
      await store.setPassword('root');
      const browser = await openBrowser(t);
      const { page: root } = await sitDown(browser, scripts);
      await logIn(root, store, 'root', password);

      await go(root, 'Users and tokens');
      await root.locator('[name=username]').fill('carol');
      await root.locator('[name="display-name"]').fill('Carol');
      await root.locator('[name=email]').fill('carol@example.com');
      await root.locator('main [name=password]').fill(password);
      await press(root, 'Create account and link');
      const link = (await root.locator('pre').first().textContent()) ?? '';
      t.match(link.trim(), /\/identity\/set-up\/[\w-]{43}$/, 'the link is shown');

      const { page: carol } = await sitDown(browser, scripts);
      await carol.goto(link.trim());
      await carol.fill('[name=password]', secret);
      await carol.fill('[name=again]', secret);
      await enter(carol, carol.locator('button'));
      await wait(carol, /The password is set/);
      await logIn(carol, store, 'carol', secret);
      await carol.goto(`${store.url}/console/myself/new-token`);
      await carol.locator('[name=description]').fill('nightly builds');
      await carol.locator('main [name=password]').fill(secret);
      await press(carol, 'Make token');
      const token = ((await carol.locator('pre').first().textContent()) ?? '').trim();
      const lines = async (tool: string): Promise<string> =>
        (
          (await carol.getByRole('heading', { name: tool, exact: true }).locator('~ pre').first().textContent()) ?? ''
        ).trim();
      const upload = await publish(store, await lines('snapcraft'));
      const { stdout: output } = await run('sh', ['-c', await lines('CI and scripts')], {
        env: { PATH: process.env['PATH'] },
      });
      t.match(JSON.parse(output), { account: { username: 'carol' } }, 'the lines for scripts do what they say');

      await go(root, 'Pending');
      t.match(await root.locator('main').textContent(), /tiny-app/, 'it waits for the administrator');
      await root.goto(`${store.url}/console/waiting/uploads/${upload}`);
      await press(root, 'Approve');
      await isDone(root);

      await root.goto(`${store.url}/console/packages/snap/tiny-app/release`);
      await root.locator('[name=revision][value="1"]').check();
      await root.locator('[name=stable]').check();
      await press(root, 'Preview');
      await root.locator('form[method=post] button').last().waitFor();
      await enter(root, root.locator('main form[method=post] button').last());
      await root.waitForURL(/\/console\/packages\/snap\/tiny-app(?:\?|$)/);
      t.match(await root.locator('main').textContent(), /stable/, 'the channel holds it');

      const info = await store.anyone.get('/v2/snaps/info/tiny-app?fields=download,revision', deviceHeaders());
      const [slot] = (info.body as { 'channel-map': { download: { url: string } }[] })['channel-map'];
      t.equal((await fetch(slot?.download.url ?? '')).status, 200, 'a device fetches it');

      await root.goto(`${store.url}/console/people/tokens`);
      await enter(root, root.getByRole('row', { name: /nightly builds/ }).getByRole('link', { name: /end/i }));
      await press(root, 'Revoke now');
      await isDone(root);
      t.equal((await store.with(token).get('/v1/tokens/whoami')).status, 401, 'and her pipeline is out');

      await go(root, 'Audit log');
      const log = (await root.locator('main').textContent()) ?? '';
      for (const act of ['create_account', 'push_revision', 'push_releases', 'revoke_token']) {
        t.match(log, act, `the log tells of ${act}`);
      }
    },
  );
}

for (const scripts of [true, false]) {
  t.test(
    `a transfer is looked at, approved by two and let in${scripts ? '' : ', without any script'}`,
    needsBrowser,
    async (t) => {
      const { store, bring } = await receiving(t);
      await store.join('carol');
      const rule = readRule('2');
      for (const person of ['bob', 'carol']) {
        const id = store.ids[person] ?? '';
        await store.beside.acts.do(changeRole, itself, { id, role: 'transfer-approver', remove: false });
      }
      await store.beside.acts.do(changeApprovalPolicy, itself, {
        ...noPolicy,
        rules: { ...(rule && { transfers: rule }) },
      });
      const address = `/console/carry/transfers/${await bring(12)}`;
      store.clock.advance(hours(73));
      await store.setPassword('root');
      const browser = await openBrowser(t);
      const { page: root } = await sitDown(browser, scripts);
      await logIn(root, store, 'root', password);
      await go(root, 'Transfers');
      await root.goto(store.url + address);
      t.match(await root.locator('main').textContent(), /hello-on/, 'what it would change is shown');
      await press(root, 'Accept');
      await wait(root, /The change is proposed/);

      for (const person of ['bob', 'carol']) {
        await store.setPassword(person);
        const secret = await store.setTotp(person);
        const code = (): string => {
          store.clock.advance(minutes(1));
          return codeAt(secret, Math.floor(store.clock.now.getTime() / seconds(30)));
        };
        const { page, context } = await sitDown(browser, scripts);
        await logIn(page, store, person, password, code());
        await page.goto(`${store.url}/console/waiting/proposals/1`);
        await page.locator('main [name=password]').fill(password);
        await page.locator('main [name=code]').fill(code());
        await press(page, 'Approve');
        await isDone(page);
        await context.close();
      }
      await root.goto(store.url + address);
      await press(root, 'Accept');
      await wait(root, /The transfer is accepted/);
      t.match(await root.locator('main').textContent(), /bob[^]*carol/, 'the receipt names both');
    },
  );
}
