// Names of full length, right-to-left names and hostile icons, as a browser shows them.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';
import { pngHeader } from '#test/fixtures/packages/png-header.ts';
import type { Page } from 'playwright-core';

import { updateOwnAccount } from '#acts/accounts/details.ts';
import { itself } from '#acts/act.ts';
import { subscribe } from '#acts/sites/subscriptions.ts';
import { trustSource } from '#acts/sites/sites.ts';
import { consoleOperations } from '#console/index.ts';
import { commandsOn, folder } from '#test/cli/process.ts';
import { startConsole, type ConsoleStore } from '#test/console/world.ts';
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';
import { needsBrowser, openBrowser, tooWide } from '#test/fixtures/clients/browser.ts';
import { pathOf } from '#test/fixtures/contract/requests.ts';
import { squashfsImage } from '#test/fixtures/packages/squashfs-image.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { osvZip } from '#test/fixtures/vulnerabilities/feeds.ts';
import { advisory } from '#test/operations/vulnerabilities/world.ts';
import { seedOf } from '#test/transfers/statement/example.ts';

t.setTimeout(900_000);

const long = (length: number): string => 'W'.repeat(length);
const snapName = `n${'w'.repeat(39)}`;
const modelName = 'm'.repeat(128);

/** Runs steps, and throws if one is refused: a test of a name that is not stored would show nothing. */
async function accepted(...steps: Promise<{ status: number; text?: string; body?: unknown }>[]): Promise<void> {
  for (const { status, text, body } of await Promise.all(steps))
    if (status >= 300) throw new Error(`${String(status)}: ${text ?? JSON.stringify(body)}`);
}

/** Gives ada a display name. */
const rename = (store: ConsoleStore, displayName: string) =>
  store.beside.acts.do(updateOwnAccount, itself, { id: store.ids.ada, displayName });

/** A store with a name, title or text of full length in every column; returns the parameters of its pages. */
async function fillWithLongNames(t: Parameters<typeof folder>[0], store: ConsoleStore) {
  const [ada, root] = [await store.as('ada'), await store.visit('root')];
  const { larder } = commandsOn(store.directory);
  const typed = async (line: string): Promise<void> => {
    const { code, err } = await larder(line);
    if (code !== 0) throw new Error(`${line}: ${err}`);
  };
  await rename(store, long(128));
  const { id } = (await ada.post('/v1/snap', { name: snapName })).body as { id: string };
  await addRevision(store, id, 1, { version: 'v'.repeat(32) });
  await accepted(ada.patch(`/v1/snap/${snapName}`, { title: long(40), summary: long(79), description: long(4000) }));
  await accepted(ada.post(`/v1/snap/${snapName}/releases`, [{ channel: 'stable', revision: 1 }]));
  const brand = await addBrand(store, 'ada');
  const key = await addSigningKey(store, brand, 'rsa4096-a', 'k'.repeat(64));
  const at = `/console/brands/${brand}`;
  for (const name of [modelName, `${modelName.slice(1)}2`])
    await accepted(root.send(await root.open(at), `${at}/models`, { name, 'api-key': '' }));
  const remodel = { 'from-serial': long(256), 'to-model': `${modelName.slice(1)}2`, description: long(1000) };
  await accepted(
    root.send(await root.open(`${at}/remodels`), `${at}/remodels`, { 'from-model': modelName, ...remodel }),
  );
  const source = { name: 's'.repeat(40), keys: [seedOf(1).publicKey], threshold: 1, packages: [`snap/${snapName}`] };
  await store.beside.acts.do(trustSource, itself, { ...source, mayRelease: true, scanners: [], scans: 0 });
  const subscription = { namespace: 'snap', name: snapName, channels: [`${'t'.repeat(28)}/stable`] } as const;
  await store.beside.acts.do(subscribe, itself, {
    subscriptions: [{ ...subscription, architectures: ['amd64', 'arm64'] }],
    because: null,
  });
  await typed(`fleet create ${'f'.repeat(40)} --model acme/${'m'.repeat(60)}`);
  const file = join(folder(t), 'feed.zip');
  writeFileSync(file, osvZip([advisory(1001)]));
  await typed(`feed import ${file} --source ${'f'.repeat(63)}`);
  const moment = store.clock.now.toISOString();
  await store.beside.records.change({ at: moment, actor: 'test', action: 'accept', object: 'snap' }, (tx) =>
    tx.acceptedFindings.accept({
      packageId: id,
      vulnerability: 'CVE-2026-1001',
      severity: 'high',
      isExploited: true,
      until: '2027-01-01T00:00:00.000Z',
      reason: long(1000),
      acceptedAt: moment,
      acceptedBy: store.ids.root,
    }),
  );
  return {
    namespace: 'snap',
    name: snapName,
    revision: '1',
    account_id: store.ids.ada,
    brand_account_id: brand,
    signing_key_sha3_384: key,
    model_name: modelName,
    track: 'latest',
    vulnerability: 'CVE-2026-1001',
    fleet: 'f'.repeat(40),
    source: source.name,
    number: '1',
  };
}

async function pageOf(t: Parameters<typeof openBrowser>[0], store: ConsoleStore): Promise<Page> {
  const { cookie } = await store.visit('root');
  const [name = '', value = ''] = cookie.split(/=(.*)/s);
  const context = await (await openBrowser(t)).newContext();
  await context.addCookies([{ name, value, url: store.url }]);
  return context.newPage();
}

t.test('no page is wider than the screen with names of full length in every column', needsBrowser, async (t) => {
  const store = await startConsole(t);
  const subject = await fillWithLongNames(t, store);
  const page = await pageOf(t, store);
  const screens = consoleOperations.filter(({ method, name }) => method === 'GET' && name !== 'console_asset');
  const removal = `?${new URLSearchParams({ source: 'f'.repeat(63) }).toString()}`;
  const paths = [
    ...screens.map((op) => pathOf(op, subject)),
    `/console/vulnerabilities/remove-feed${removal}`,
    `/console/search?text=${'w'.repeat(100)}`,
  ];
  const wrong: string[] = [];
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    for (const path of paths) {
      const reply = await page.goto(store.url + path);
      if ((reply?.status() ?? 500) >= 500) wrong.push(`${path}: ${String(reply?.status())}`);
      await page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })");
      for (const fault of await tooWide(page)) wrong.push(`${String(width)} px: ${path} ${fault}`);
    }
  }
  t.strictSame(wrong, []);
});

/** Whether the words of the element with the name stand in their order, each at the right of the one before. */
const inOrder = (selector: string, words: readonly string[]): string => `(() => {
  const element = document.querySelector(${JSON.stringify(selector)});
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const lefts = [];
  const words = ${JSON.stringify(words)};
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
    for (const word of words) {
      const at = node.data.indexOf(word);
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + word.length);
      const { top, left } = range.getBoundingClientRect();
      lefts.push([Math.round(top / 20), left, word]);
    }
  return lefts.toSorted((one, other) => one[0] - other[0] || one[1] - other[1]).map(([, , word]) => word);
})()`;

t.test('a right-to-left name leaves the words beside it where they are', needsBrowser, async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  const name = '‮مدوجزر 🌊 12';
  await rename(store, name);
  await ada.post('/v1/snap', { name: 'tide' });
  await accepted(ada.patch('/v1/snap/tide', { title: name, summary: name }));
  const page = await pageOf(t, store);
  await page.setViewportSize({ width: 1280, height: 800 });
  const account = `/console/people/${store.ids.ada}`;
  for (const [path, selector, words] of [
    [`${account}/disable`, '.lead', ['refuses', 'and every token', 'of the account']],
    [`${account}/disable`, 'h1', ['Disable', '?']],
    [`${account}/set-up-link`, '.lead', ['can choose', 'with the link', 'once']],
    [`${account}/end-tokens`, 'h1', ['Revoke all', '?']],
    ['/console/packages', 'main tbody tr', ['tide', 'ada']],
  ] as const) {
    t.equal((await page.goto(store.url + path))?.status(), 200, path);
    t.same(await page.evaluate<string[]>(inOrder(selector, words)), words, `${path} ${selector}`);
  }
});

const script = '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "ran"</script></svg>';

t.test(
  'an icon of 1 or 4,096 pixels, or with a script, is not shown, and no script of one runs',
  needsBrowser,
  async (t) => {
    const store = await startConsole(t);
    const ada = await store.as('ada');
    const icons = {
      'one-pixel': pngHeader(1, 1),
      large: pngHeader(4096, 4096),
      script: Buffer.from(script),
      fine: pngHeader(64, 64),
    };
    for (const [name, icon] of Object.entries(icons)) {
      await ada.post('/v1/snap', { name });
      const file = `meta/gui/icon.${name === 'script' ? 'svg' : 'png'}`;
      await ada.push('snap', name, squashfsImage({ 'meta/snap.yaml': `name: ${name}\nversion: '1'\n`, [file]: icon }));
      await accepted(ada.post(`/v1/snap/${name}/releases`, [{ channel: 'stable', revision: 1 }]));
    }
    const page = await pageOf(t, store);
    for (const name of Object.keys(icons)) {
      await page.goto(`${store.url}/console/packages/snap/${name}`);
      t.equal(await page.locator('main img.picture').count(), name === 'fine' ? 1 : 0, name);
    }
    await page.goto(`${store.url}/console/packages`);
    const address = (await page.locator('main img.picture').getAttribute('src')) ?? '';
    const { headers } = await fetch(store.url + address);
    t.match(headers.get('content-type'), /^image\/png/);
    t.equal(headers.get('x-content-type-options'), 'nosniff');
    t.match(headers.get('content-security-policy'), /default-src 'none';.*sandbox/);

    // A drawing that an earlier release has accepted.
    await ada.upload(script);
    const icon = `${createHash('sha3-384').update(script).digest('hex')}.svg`;
    const { id } = (await store.beside.records.packages.find('snap', 'script'))!;
    const at = store.clock.now.toISOString();
    await store.beside.records.change({ at, actor: 'test', action: 'icon', object: 'snap/script' }, async (tx) => {
      await tx.packages.describe({ ...(await tx.packages.byId(id))!, icon });
    });
    const ran: string[] = [];
    page.on('pageerror', ({ message }) => ran.push(message));
    const opened = await page.goto(`${store.url}/icons/${id}/${icon}`);
    t.match(opened?.headers(), { 'content-type': 'image/svg+xml', 'x-content-type-options': 'nosniff' });
    t.not(await page.title(), 'ran', 'no script runs if the icon is opened by itself');
    await page.goto(`${store.url}/console/packages/snap/script`);
    t.equal(await page.locator('main img.picture').count(), 1);
    t.not(await page.title(), 'ran', 'nor on the page of the package');
    t.same(ran, []);
  },
);
