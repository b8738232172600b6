// The receipt of a transfer as it is printed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { needsBrowser, openBrowser } from '#test/fixtures/clients/browser.ts';
import { receiving } from './carrying.ts';

t.setTimeout(600_000);

t.test('a receipt of more packages than it lists prints on one page', needsBrowser, async (t) => {
  const { store, bring } = await receiving(t);
  const names = Array.from({ length: 18 }, (_, at) => `hello-${String(at).padStart(2, '0')}`);
  const address = `/console/carry/transfers/${await bring(12, names)}`;
  const root = await store.visit('root');
  await root.send(await root.open(address), `${address}/accept`);
  const [name = '', value = ''] = root.cookie.split(/=(.*)/s);
  const context = await (await openBrowser(t)).newContext();
  await context.addCookies([{ name, value, url: store.url }]);
  const page = await context.newPage();
  await page.goto(`${store.url}${address}/receipt`);
  t.match(await page.locator('main').textContent(), /and 2 more packages/);
  const path = join(t.testdir(), 'receipt.pdf');
  await page.pdf({ path, format: 'A4' });
  t.equal(readFileSync(path, 'latin1').match(/\/Type\s*\/Page\b/g)?.length, 1);
  await page.emulateMedia({ media: 'print' });
  t.notOk(await page.getByRole('button').first().isVisible(), 'without buttons');
  t.ok(await page.locator('.to-sign').isVisible(), 'with a line to sign');
});
