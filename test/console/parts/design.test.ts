// The design of the console: its fonts and icons come from the store, and every page has the frame with the name of the store.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { packagedAssets } from '#console/asset-files.ts';
import { iconFiles } from '#console/icons.ts';
import { startConsole } from '#test/console/world.ts';

const root = join(import.meta.dirname, '../../..');

t.test('the style sheet names two weights of a font, which the store serves in at most 60 kB', async (t) => {
  const store = await startConsole(t);
  const { html } = await store.visitor().open('/console/log-in');
  const [, sheet = ''] = /rel="stylesheet" href="([^"]+)"/.exec(html) ?? [];
  const styles = await (await fetch(store.url + sheet)).text();
  const fonts = [...new Set([...styles.matchAll(/url\((\/console\/[^)]+)\)/g)].map(([, address = '']) => address))];
  t.equal(fonts.length, 4);
  let bytes = 0;
  for (const address of fonts) {
    const reply = await fetch(store.url + address);
    t.match(reply, { status: 200 }, address);
    t.match(Object.fromEntries(reply.headers), { 'content-type': 'font/woff2', 'cache-control': /immutable/ });
    const body = Buffer.from(await reply.arrayBuffer());
    t.equal(body.subarray(0, 4).toString('latin1'), 'wOF2');
    bytes += body.length;
  }
  t.ok(bytes <= 60_000, `${String(bytes)} bytes`);
});

t.test('at most 40 icons are in the sprite, and pages use each of them', async (t) => {
  const store = await startConsole(t);
  const sprite = await (await fetch(`${store.url}/console/assets/icons.svg`)).text();
  const names = [...sprite.matchAll(/<symbol id="([\w-]+)" viewBox="0 0 16 16"><path /g)].map(([, name = '']) => name);
  t.equal(names.length, iconFiles.length);
  t.ok(names.length <= 40);
  const source = ['src/console']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(root, folder, path)),
    )
    .filter((path) => /\.(?:ts|js)$/.test(path) && !path.endsWith('src/console/icons.ts'))
    .map((path) => readFileSync(path, 'utf8'))
    .join();
  for (const name of names) t.ok(source.includes(`'${name}'`), name);
});

t.test('the executable has every file of a package that pages load', (t) => {
  for (const path of packagedAssets) t.ok(readFileSync(join(root, path)).length > 0, path);
  t.end();
});

t.test('the policy of pages allows files of the store, and nothing inline', async (t) => {
  const store = await startConsole(t);
  const { headers } = await (await store.visit('root')).open('/console');
  const policy = headers.get('content-security-policy') ?? '';
  for (const kind of ['style-src', 'script-src', 'connect-src', 'font-src', 'img-src'])
    t.match(policy, `${kind} 'self'`);
  t.match(policy, "default-src 'none'");
  t.notMatch(policy, /unsafe|data:/);
});

t.test('each page has the label of the site, and numbers of items that wait for overseers', async (t) => {
  const store = await startConsole(t, (text) =>
    text
      .replace(/^# levels = .*$/m, 'levels = ["open", "restricted"]')
      .replace(/^# label = .*$/m, 'label = "restricted"'),
  );
  const root = await store.visit('root');
  t.match(
    (await root.open('/console/packages')).text,
    /restricted Search packages and documents Menu Daily Overview Packages Pending Devices/,
  );
  const at = store.clock.now.toISOString();
  const { id: packageId } = (await (await store.as('ada')).post('/v1/snap', { name: 'hello' })).body as { id: string };
  await store.beside.records.change({ at, actor: 'test', action: 'wait', object: 'snap/hello' }, async (tx) => {
    const content = { sha3_384: '0'.repeat(96), sha256: '0'.repeat(64), size: 1 };
    await tx.uploads.add({ id: 'one', ...content, address: '127.0.0.1', receivedAt: at });
    await tx.uploads.claim('one', { packageId, pushedBy: store.ids.ada, pushedAt: at });
    await tx.uploads.scan('one', { kind: 'resource', sha384: '', sha512: '' });
  });
  t.match((await root.open('/console/audit')).text, /Pending 1 Devices/);
  t.notMatch((await (await store.visit('ada')).open('/console')).text, /Pending \d/, 'publishers see no number');
});

t.test('a checkout shows the parts of the design', async (t) => {
  const store = await startConsole(t);
  t.match(await (await store.visit('ada')).open('/console/styles'), {
    status: 200,
    text: /Styles The parts of the design/,
  });
});
