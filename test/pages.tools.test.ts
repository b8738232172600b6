// Every page that the store shows, as people read it: on a desk and on a phone, by day and by night, with a screen reader.
import t from 'tap';
import type { BrowserContext, Page } from 'playwright-core';

import { hours } from '#domain/clock.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { faultsOf, needsBrowser, openBrowser, tooWide, views } from '#test/fixtures/clients/browser.ts';
import { begin, password, startIdentity, waysIn } from '#test/identity/world.ts';

const long = process.env['LARDER_LONG'] === '1';
const alike = new Set(['/docs/device-gateway', '/docs/operations-images', '/docs/shapes-releases']);

t.setTimeout(long ? 1_200_000 : 600_000);

/** Checks the current page, in detail or for its width only. */
type Look = (name: string, closely?: boolean) => Promise<void>;

/** Visits pages in each view, and returns their problems. */
async function inEveryView(
  t: Parameters<typeof openBrowser>[0],
  visit: (page: Page, look: Look) => Promise<void>,
): Promise<string[]> {
  const browser = await openBrowser(t);
  const wrong: string[] = [];
  for (const { name: view, width, height, colorScheme } of long ? views : [views[0], views[3]]) {
    // The policy of our pages keeps every script out, that of axe too; nothing else of it affects the checks.
    const context: BrowserContext = await browser.newContext({
      viewport: { width, height },
      colorScheme,
      bypassCSP: true,
    });
    const page = await context.newPage();
    page.on('response', (response) => {
      if (response.status() === 404) wrong.push(`${response.url()} is not there`);
    });
    await visit(page, async (name, closely = true) => {
      for (const fault of await (closely ? faultsOf(page) : tooWide(page))) wrong.push(`${view}: ${name}: ${fault}`);
    });
    await context.close();
  }
  return [...new Set(wrong)];
}

t.test('every page of the documents is readable for all people, on every screen', needsBrowser, async (t) => {
  const store = await startStore(t);
  const pages = new Set(['/', '/docs/', '/docs/search?q=quota']);
  for (const path of ['/docs/', '/docs/operations', '/docs/shapes']) {
    const { body } = await store.anyone.get(path);
    for (const [, link = ''] of String(body).matchAll(/href="(\/docs\/[a-z-]*)[#"]/g)) pages.add(link);
  }
  t.ok(pages.size > 30);
  // The pages of sections and of shapes are made alike: one of each is looked at closely, the others for their width.
  const closely = long ? pages : new Set([...pages].filter((path) => !path.includes('-') || alike.has(path)));
  const wrong = await inEveryView(t, async (page, look) => {
    const isPhone = page.viewportSize()?.width === 360;
    for (const [at, path] of [...pages].entries()) {
      // Every day each page is looked at on one of the two screens.
      const isIts = long || isPhone === (at % 2 === 0);
      if (!(closely.has(path) && isIts) && !isPhone) continue;
      await page.goto(store.url + path);
      await look(path, closely.has(path) && isIts);
    }
  });
  t.strictSame(wrong, []);
});

t.test('so are the pages for login and for a new password', needsBrowser, async (t) => {
  const store = await startIdentity(t);
  await store.setTotp('bob');
  await store.setPassword('bob');
  const bob = await store.as('bob');
  await bob.post('/v1/bin', { name: 'hello' });
  const wrong = await inEveryView(t, async (page, look) => {
    const { caveatId } = await begin(store);
    const info = await waysIn(store, caveatId);
    await page.goto(info.InteractionMethods['browser-window'].VisitURL);
    await look('login');
    const logIn = async (username: string, text: string): Promise<void> => {
      await page.fill('[name=username]', username);
      await page.fill('[name=password]', text);
      await page.click('button');
    };
    await logIn('ada', 'wrong');
    await look('login refused');
    await logIn('bob', password);
    await look('one-time password');
    await page.goto(`${store.url}/identity/login?did=none`);
    await look('too late');

    const key = await store.invite('ada', new Date(store.clock.now.getTime() + hours(1)));
    const invites = [{ email: 'ada@example.com' }];
    const { tokens } = (await bob.post('/v1/bin/hello/collaborators/invites', { invites })).body;
    await page.goto(`${store.url}/identity/invite?token=${(tokens as { token: string }[])[0]?.token ?? ''}`);
    await look('invite');
    await page.fill('#password', 'wrong');
    await page.click('button[value="accept"]');
    await look('invite refused');

    const link = `${store.url}/identity/set-up/${key}`;
    await page.goto(link);
    await look('set-up');
    for (const [first, again, name] of [
      ['short', 'short', 'too short'],
      ['four other words here', 'four other words her', 'differs'],
      [password, password, 'set'],
    ] as const) {
      await page.fill('[name=password]', first);
      await page.fill('[name=again]', again);
      await page.click('button');
      await look(`set-up: ${name}`);
    }
    store.clock.advance(hours(1));
  });
  t.strictSame(wrong, []);
});
