// The upload of a large transfer in a browser with scripts: with progress, and resumed after an interruption and a reload.
import t from 'tap';

import { needsBrowser, openBrowser } from '#test/fixtures/clients/browser.ts';
import { receiving } from './carrying.ts';

t.setTimeout(600_000);

t.test('an interrupted upload resumes by itself, and after the page is loaded again', needsBrowser, async (t) => {
  const { store, gatherLarge } = await receiving(t);
  const { files, id } = await gatherLarge(20 * 1024 * 1024);
  const root = await store.visit('root');
  const [name = '', value = ''] = root.cookie.split(/=(.*)/s);
  const context = await (await openBrowser(t)).newContext();
  await context.addCookies([{ name, value, url: store.url }]);
  const page = await context.newPage();
  page.setDefaultTimeout(300_000);
  const wrong: string[] = [];
  page.on('pageerror', ({ message }) => wrong.push(message));
  const sent: string[] = [];
  let isBroken = true;
  await page.route('**/console/carry/uploads/piece**', async (route) => {
    const offset = new URL(route.request().url()).searchParams.get('offset') ?? '';
    if (isBroken && offset !== '0') return route.abort('connectionreset');
    sent.push(offset);
    return route.continue();
  });
  const status = page.locator('form[data-piece] output');
  const bar = page.getByRole('progressbar', { name: 'Progress of the upload' });
  const begin = async () => {
    await page.goto(`${store.url}/console/carry`);
    await page.getByLabel('Transfer file').setInputFiles(files);
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
  };

  await begin();
  await status.filter({ hasText: 'The connection is interrupted. The upload tries again by itself.' }).waitFor();
  t.ok(Number(await bar.getAttribute('value')) > 0.3, 'the bar shows the first piece');
  await page.getByRole('button', { name: 'Stop' }).click();
  await status.filter({ hasText: 'The upload is stopped. Choose the file again to resume it.' }).waitFor();

  await begin();
  await status.filter({ hasText: 'The connection is interrupted.' }).waitFor();
  isBroken = false;
  await page.evaluate("dispatchEvent(new Event('online'))");
  await page.waitForURL(`**/console/carry/transfers/${id}?done=transfer-received`);
  t.match(await page.locator('main').textContent(), /The transfer is received\./);
  t.same(sent, ['0', '8388608', '16777216'], 'each piece is sent once');
  t.same(wrong, []);

  await page.goto(`${store.url}/console/carry`);
  await page.getByLabel('Transfer file').setInputFiles({
    name: 'other.tar',
    mimeType: 'application/x-tar',
    buffer: Buffer.from('no transfer'),
  });
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await status.filter({ hasText: 'The file is not a transfer.' }).waitFor();
  t.equal(await store.beside.records.unclaimedUploads.count(), 0);
});
