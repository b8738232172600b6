// Writes a picture of every page of the console into a folder, at each width and in each colour scheme, for a review:
// `npm run screenshots -- FOLDER`.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { chromium, type Page } from 'playwright-core';
import { consoleOperations } from '#console/index.ts';
import { browserOptions, views } from '#test/fixtures/clients/browser.ts';
import { pathOf } from '#test/fixtures/contract/requests.ts';
import { furnishConsole } from './furnish.ts';
import { receiving } from './transfers/carrying.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('The folder of the pictures is missing. Run: npm run screenshots -- FOLDER');
mkdirSync(folder, { recursive: true });

const cleanups: (() => unknown)[] = [];
const test = { teardown: (work: () => unknown) => cleanups.push(work) };
const { store, bring } = await receiving(test, (text) => text.replace('[devices]', '[devices]\nremember = true'));
const subject = { ...(await furnishConsole(store)), transfer: await bring(12, ['hello-on', 'taken-on']) };
const { cookie } = await store.visit('root');
const [name = '', value = ''] = cookie.split(/=(.*)/s);
const browser = await chromium.launch(browserOptions);

/** The name of the file of a page: its address without `/console/`. */
const fileOf = (path: string): string => path.replace(/^\/console\/?/, '').replaceAll(/[/?=:]+/g, '-') || 'overview';

async function takePicture(page: Page, path: string, view: string): Promise<void> {
  const reply = await page.goto(store.url + path);
  await page.screenshot({ path: join(folder!, `${fileOf(path)}.${view}.png`), fullPage: true });
  console.log(`${String(reply?.status() ?? 0)} ${path} ${view}`);
}

const pages = consoleOperations.filter(
  ({ method, name: operation }) => method === 'GET' && operation !== 'console_asset',
);
for (const { name: view, width, height, colorScheme } of views.filter(({ width }) => width !== 640)) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  await context.addCookies([{ name, value, url: store.url }]);
  const page = await context.newPage();
  for (const op of pages) await takePicture(page, pathOf(op, subject), view.replace(', ', '-'));
  await context.close();
}
await browser.close();
for (const clean of cleanups.reverse()) await clean();
