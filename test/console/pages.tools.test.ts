// Every screen of the console as people see it: on a desktop and on a phone, light and dark, with a screen reader; and
// with names and titles that would be markup without escaping.
import t from 'tap';
import type { Page } from 'playwright-core';

import { consoleOperations } from '#console/index.ts';
import { minutes } from '#domain/clock.ts';
import { faultsOf, needsBrowser, openBrowser, showIn, viewsByWidth } from '#test/fixtures/clients/browser.ts';
import { pathOf } from '#test/fixtures/contract/requests.ts';
import { furnishConsole } from './furnish.ts';
import { startConsole } from './world.ts';

t.setTimeout(1_200_000);

const screens = consoleOperations.filter(({ method, name }) => method === 'GET' && name !== 'console_asset');

t.test('every screen is readable in every size and mode, and contains no foreign markup', needsBrowser, async (t) => {
  const store = await startConsole(t);
  const subject = await furnishConsole(store);
  const { cookie } = await store.visit('root');
  const [name = '', value = ''] = cookie.split(/=(.*)/s);
  const browser = await openBrowser(t);
  const wrong: string[] = [];
  // The policy of our pages keeps axe's script out too.
  const context = await browser.newContext({ bypassCSP: true });
  await context.addCookies([{ name, value, url: store.url }]);
  const page = await context.newPage();
  page.on('console', (message) => wrong.push(`${page.url()}: ${message.text()}`));
  for (const sameWidth of viewsByWidth) {
    await showIn(page, sameWidth[0]!);
    for (const op of screens) {
      const address = pathOf(op, subject);
      const reply = await page.goto(store.url + address);
      if ((reply?.status() ?? 500) >= 500) wrong.push(`${address} says ${String(reply?.status())}`);
      for (const view of sameWidth) {
        await showIn(page, view);
        for (const fault of await faultsOf(page)) wrong.push(`${view.name}: ${address}: ${fault}`);
      }
      if ((await page.locator('.markup').count()) > 0) wrong.push(`${address} lets what somebody stored be markup`);
      for (const link of await linksOf(page))
        if (!/^(?:\/|#|https?:)/.test(link)) wrong.push(`${address} links to ${link}`);
    }
  }
  // The message of the browser about a missing page is no fault of the page.
  t.strictSame(
    [...new Set(wrong)].filter((problem) => !problem.includes('the server responded with a status of 404')),
    [],
  );
});

const linksOf = async (page: Page): Promise<string[]> =>
  (await page.locator('a[href]').all()).length === 0
    ? []
    : page.evaluate<string[]>("[...document.querySelectorAll('a[href]')].map((one) => one.getAttribute('href'))");

t.test('every page is small, and no script repeats its text', async (t) => {
  const store = await startConsole(t);
  const subject = await furnishConsole(store);
  const root = await store.visit('root');
  for (const op of screens) {
    const { html, status } = await root.open(pathOf(op, subject));
    t.ok(html.length < 200_000, `${op.path}: ${String(html.length)} bytes, ${String(status)}`);
    t.notMatch(html, /<script(?![^>]*\ssrc=)|\sstyle=|\son[a-z]+=/i, op.path);
    t.match(html, /<h1>/, op.path);
  }
});

t.test(
  'with scripts a search answers as one types, and times are shown in the reader’s zone too',
  needsBrowser,
  async (t) => {
    const store = await startConsole(t);
    await furnishConsole(store);
    const { cookie } = await store.visit('root');
    const [name = '', value = ''] = cookie.split(/=(.*)/s);
    const browser = await openBrowser(t);
    // Under the policy of our pages, as everywhere but in the test above.
    const context = await browser.newContext({ timezoneId: 'Asia/Tokyo' });
    await context.addCookies([{ name, value, url: store.url }]);
    const page = await context.newPage();
    const messages: string[] = [];
    page.on('console', (message) => messages.push(message.text()));
    page.on('pageerror', (error) => messages.push(error.message));
    await page.goto(`${store.url}/console/packages`);
    t.equal(await page.locator('tbody tr').count(), 2);
    await page.locator('[name=q]').focus();
    await page.keyboard.type('tin');
    await page.waitForURL(/[?&]q=tin/);
    await page.locator('tbody tr').first().waitFor();
    t.equal(await page.locator('tbody tr').count(), 1, 'without anything being pressed');
    await page.goto(`${store.url}/console/audit`);
    const newest = await page.locator('.timeline li').first().textContent();
    t.match(await page.locator('.timeline time').first().textContent(), /UTC \(.*here\)/);
    await page.locator('#sort-number').focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/[?&]sort=number/);
    await page.locator('#sort-number:focus', { hasText: 'newest first' }).waitFor();
    t.match(await page.locator('.timeline li').first().textContent(), /of entry 1\s/, 'the oldest stands first');
    await page.keyboard.press('Enter');
    await page.locator('#sort-number:focus', { hasText: 'oldest first' }).waitFor();
    t.equal(await page.locator('.timeline li').first().textContent(), newest, 'and the newest again');
    t.same(messages, [], 'and the policy of the page is content');
  },
);

t.test(
  'moving content refreshes by itself until it has settled, without prolonging the session',
  needsBrowser,
  async (t) => {
    const store = await startConsole(t);
    const id = ((await (await store.as('ada')).post('/v1/charm', { name: 'hello' })).body as { id: string }).id;
    const { records } = store.beside;
    const at = store.clock.now.toISOString();
    const entry = { at, actor: 'test', action: 'wait', object: 'charm/hello' };
    // No reviewer is running: the queue starts work only on a signal.
    await records.change(entry, async (tx) => {
      const content = { sha3_384: '0'.repeat(96), sha256: '0'.repeat(64), size: 1 };
      await tx.uploads.add({ id: 'one', ...content, address: '127.0.0.1', receivedAt: at });
      await tx.uploads.claim('one', { packageId: id, pushedBy: store.ids.ada, pushedAt: at });
    });
    const ada = await store.visit('ada');
    const [name = '', value = ''] = ada.cookie.split(/=(.*)/s);
    const browser = await openBrowser(t);
    const context = await browser.newContext();
    await context.addCookies([{ name, value, url: store.url }]);
    const [list, upload] = [await context.newPage(), await context.newPage()];
    const messages: string[] = [];
    for (const page of [list, upload]) page.on('console', (message) => messages.push(message.text()));
    await list.goto(`${store.url}/console/waiting`);
    await upload.goto(`${store.url}/console/waiting/uploads/one`);
    t.match(await upload.locator('.lead').textContent(), /has not finished yet/);
    // Late enough for an opened page to prolong the session.
    store.clock.advance(minutes(20));
    const [, response] = await Promise.all([
      upload.waitForResponse(/uploads\/one/),
      list.waitForResponse(/console\/waiting$/),
    ]);
    t.notOk((await response.allHeaders())['set-cookie'], 'an open window is nobody');
    t.ok((await ada.open('/console/waiting')).headers.get('set-cookie'), 'somebody who looks is');
    await records.change(entry, (tx) => tx.uploads.reject('one', [{ code: 'no', message: 'It is <b>bad</b>.' }]));
    await upload.getByText('It is <b>bad</b>.').waitFor();
    t.equal(await upload.locator('[hx-trigger^=every]').count(), 0, 'and then it rests');
    await list.locator('#own-uploads:empty').waitFor({ state: 'attached' });
    t.equal(await list.locator('[hx-trigger^=every]').count(), 0);
    t.same(messages, []);
  },
);
