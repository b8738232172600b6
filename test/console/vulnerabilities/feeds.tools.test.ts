// A feed is uploaded in a browser with scripts, in pieces, and imported from its page.
import t from 'tap';

import { needsBrowser, openBrowser } from '#test/fixtures/clients/browser.ts';
import { tar } from '#test/fixtures/packages/archives.ts';
import { osvRecord } from '#test/fixtures/vulnerabilities/feeds.ts';
import { advisory } from '#test/operations/vulnerabilities/world.ts';
import { startConsole } from '#test/console/world.ts';

t.setTimeout(600_000);

t.test('a browser uploads a large feed in pieces, previews it and imports it', needsBrowser, async (t) => {
  const store = await startConsole(t);
  store.clock.advance(Date.now() - store.clock.now.getTime());
  const root = await store.visit('root');
  const [name = '', value = ''] = root.cookie.split(/=(.*)/s);
  const context = await (await openBrowser(t)).newContext();
  await context.addCookies([{ name, value, url: store.url }]);
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on('pageerror', ({ message }) => wrong.push(message));
  page.on('console', (message) => wrong.push(message.text()));
  const buffer = tar([
    { name: 'a.json', content: `${JSON.stringify(osvRecord(advisory(1001)))}${' '.repeat(9 * 1024 * 1024)}` },
    { name: 'b.json', content: JSON.stringify(osvRecord(advisory(1002))) },
  ]);
  const choose = async (file: { name: string; buffer: Buffer }): Promise<void> => {
    await page.goto(`${store.url}/console/vulnerabilities`);
    await page.getByLabel('Feed file').setInputFiles({ mimeType: 'application/octet-stream', ...file });
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
  };
  await choose({ name: 'ubuntu.tar', buffer });
  await page.getByText('This is a preview.').waitFor();
  t.match(await page.locator('main').textContent(), /This is a preview\.[^]*ubuntu:22\.04/);
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByText('The feed is imported.').waitFor();
  t.match(await store.beside.records.vulnerabilityFeeds.list(), [{ source: 'ubuntu', entries: 2, isInForce: true }]);
  t.equal(await store.beside.records.unclaimedUploads.count(), 0);
  t.same(wrong, []);

  await choose({ name: 'words.zip', buffer: Buffer.from('no feed') });
  await page.locator('output').filter({ hasText: 'The file is no feed' }).waitFor();
});
