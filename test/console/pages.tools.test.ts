// Every screen of the console as people see it: on a desktop and on a phone, light and dark, with a screen reader; and
// with names and titles that would be markup without escaping.
import t from 'tap';
import type { Page } from 'playwright-core';

import { consoleOperations } from '#console/index.ts';
import { minutes } from '#domain/clock.ts';
import { snapFixture } from '#test/fixtures/appliance.ts';
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';
import { faultsOf, needsBrowser, openBrowser, tooWide, views } from '#test/fixtures/clients/browser.ts';
import { pathOf } from '#test/fixtures/contract/requests.ts';
import { larder } from '#test/cli/world.ts';
import { startConsole, type ConsoleStore } from './world.ts';

const long = process.env['LARDER_LONG'] === '1';
const markup = '<b class="markup">"bold" \' javascript:alert(1)</b>';

t.setTimeout(long ? 1_200_000 : 600_000);

/** A store with content on every screen, and the values for the parameters of the addresses. */
async function furnish(store: ConsoleStore): Promise<Record<string, string>> {
  const ada = await store.as('ada');
  await ada.patch('/v1/account', { 'display-name': markup });
  await ada.post('/v1/snap', { name: 'tiny-app' });
  await ada.push('snap', 'tiny-app', await snapFixture('app-xz'));
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'stable', revision: 1 }]);
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'beta', revision: 1, rollout: { steps: [1, 50, 100] } }]);
  await ada.patch('/v1/snap/tiny-app', {
    title: markup,
    summary: markup,
    description: markup,
    contact: 'javascript:alert(1)',
  });
  await ada.post('/v1/snap', { name: 'careful' });
  await larder(`package manual-review snap/careful on --data ${store.directory}`);
  const { revisions } = (await ada.push('snap', 'careful', await snapFixture('app-xz'))).body as {
    revisions: { 'upload-id': string }[];
  };
  await larder(`fleet create pumps --model acme/pump --data ${store.directory}`);
  const brand = await addBrand(store, 'ada');
  await addSigningKey(store, brand, 'rsa4096-a', 'models');
  const at = store.clock.now.toISOString();
  const { id: packageId } = (await store.beside.records.packages.find('snap', 'tiny-app'))!;
  const risk = { severity: 'high', isExploited: true } as const;
  const acceptance = { until: '2027-01-01T00:00:00.000Z', reason: markup, acceptedAt: at, acceptedBy: store.ids.root };
  await store.beside.records.change({ at, actor: 'test', action: 'accept', object: 'snap/tiny-app' }, (tx) =>
    tx.acceptedFindings.accept({ packageId, vulnerability: 'CVE-2026-1001', ...risk, ...acceptance }),
  );
  return {
    namespace: 'snap',
    name: 'tiny-app',
    revision: '1',
    upload_id: revisions[0]?.['upload-id'] ?? '',
    account_id: store.ids.ada,
    brand_account_id: brand,
    session_id: 'none',
    track: 'latest',
    vulnerability: 'CVE-2026-1001',
    number: '1',
    fleet: 'pumps',
  };
}

const screens = consoleOperations.filter(({ method, name }) => method === 'GET' && name !== 'console_asset');

t.test('every screen is readable in every size and mode, and contains no foreign markup', needsBrowser, async (t) => {
  const store = await startConsole(t);
  const subject = await furnish(store);
  const { cookie } = await store.visit('root');
  const [name = '', value = ''] = cookie.split(/=(.*)/s);
  const browser = await openBrowser(t);
  const wrong: string[] = [];
  for (const { name: view, width, height, colorScheme } of long ? views : [views[0], views[3]]) {
    // The policy of our pages keeps axe's script out too.
    const context = await browser.newContext({ viewport: { width, height }, colorScheme, bypassCSP: true });
    await context.addCookies([{ name, value, url: store.url }]);
    const page = await context.newPage();
    page.on('console', (message) => wrong.push(`${view}: ${message.text()}`));
    for (const [at, op] of screens.entries()) {
      const address = pathOf(op, subject);
      const reply = await page.goto(store.url + address);
      if ((reply?.status() ?? 500) >= 500) wrong.push(`${address} says ${String(reply?.status())}`);
      // Every day each screen is looked at closely in one of the two views.
      const closely = long || (width === 360) === (at % 2 === 0);
      for (const fault of await (closely ? faultsOf(page) : tooWide(page))) wrong.push(`${view}: ${address}: ${fault}`);
      if ((await page.locator('.markup').count()) > 0) wrong.push(`${address} lets what somebody stored be markup`);
      for (const link of await linksOf(page))
        if (!/^(?:\/|#|https?:)/.test(link)) wrong.push(`${address} links to ${link}`);
    }
    await context.close();
  }
  // The message of the browser about a missing page is no fault of the page.
  t.strictSame(
    [...new Set(wrong)].filter((one) => !one.includes('the server responded with a status of 404')),
    [],
  );
});

const linksOf = async (page: Page): Promise<string[]> =>
  (await page.locator('a[href]').all()).length === 0
    ? []
    : page.evaluate<string[]>("[...document.querySelectorAll('a[href]')].map((one) => one.getAttribute('href'))");

t.test('every page is small, and no script repeats its text', async (t) => {
  const store = await startConsole(t);
  const subject = await furnish(store);
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
    await furnish(store);
    const { cookie } = await store.visit('root');
    const [name = '', value = ''] = cookie.split(/=(.*)/s);
    const browser = await openBrowser(t);
    // Under the policy of our pages, as everywhere but in the test above.
    const context = await browser.newContext({ timezoneId: 'Asia/Tokyo' });
    await context.addCookies([{ name, value, url: store.url }]);
    const page = await context.newPage();
    const said: string[] = [];
    page.on('console', (message) => said.push(message.text()));
    page.on('pageerror', (error) => said.push(error.message));
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
    t.same(said, [], 'and the policy of the page is content');
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
    const said: string[] = [];
    for (const page of [list, upload]) page.on('console', (message) => said.push(message.text()));
    await list.goto(`${store.url}/console/waiting`);
    await upload.goto(`${store.url}/console/waiting/uploads/one`);
    t.match(await upload.locator('.lead').textContent(), /has not finished yet/);
    // Late enough for an opened page to prolong the session.
    store.clock.advance(minutes(20));
    const [, asked] = await Promise.all([
      upload.waitForResponse(/uploads\/one/),
      list.waitForResponse(/console\/waiting$/),
    ]);
    t.notOk((await asked.allHeaders())['set-cookie'], 'an open window is nobody');
    t.ok((await ada.open('/console/waiting')).headers.get('set-cookie'), 'somebody who looks is');
    await records.change(entry, (tx) => tx.uploads.reject('one', [{ code: 'no', message: 'It is <b>bad</b>.' }]));
    await upload.getByText('It is <b>bad</b>.').waitFor();
    t.equal(await upload.locator('[hx-trigger^=every]').count(), 0, 'and then it rests');
    await list.locator('#own-uploads:empty').waitFor({ state: 'attached' });
    t.equal(await list.locator('[hx-trigger^=every]').count(), 0);
    t.same(said, []);
  },
);
