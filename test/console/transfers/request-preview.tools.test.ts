// The page of the next request in Chromium: it shows itself first, and the preview as soon as the store has prepared it.
import t from 'tap';

import { needsBrowser, openBrowser } from '#test/fixtures/clients/browser.ts';
import { startConsole } from '../world.ts';
import { done } from './carrying.ts';

t.setTimeout(600_000);

t.test('the preview of a request comes by itself, and its form makes the request', needsBrowser, async (t) => {
  const store = await startConsole(t);
  await done(`site init here --data ${store.directory}`);
  await done(`subscription add snap/hello --data ${store.directory}`);
  const root = await store.visit('root');
  const [name = '', value = ''] = root.cookie.split(/=(.*)/s);
  const context = await (await openBrowser(t)).newContext();
  await context.addCookies([{ name, value, url: store.url }]);
  const page = await context.newPage();
  await page.goto(`${store.url}/console/carry/requests`);
  await page.getByRole('link', { name: 'Preview the next request' }).click();
  await page.getByRole('heading', { name: 'Request 1 of here' }).waitFor();
  t.equal(await page.locator('main[hx-trigger]').count(), 0, 'and then the page rests');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Make the request and download it' }).click(),
  ]);
  t.equal(file.suggestedFilename(), 'here-request-1.tar');
});
