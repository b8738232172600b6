import { createHash } from 'node:crypto';

import t from 'tap';

import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { squashfsImage } from '#test/fixtures/packages/squashfs-image.ts';

const drawing = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

async function withIcon(store: TestAppliance, ending: string): Promise<{ id: string; url: string }> {
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  await ada.upload(drawing);
  const icon = `${createHash('sha3-384').update(drawing).digest('hex')}.${ending}`;
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'icon', object: 'snap/hello' }, async (tx) => {
    const subject = await tx.packages.byId(id);
    if (subject !== undefined) await tx.packages.describe({ ...subject, icon });
  });
  const { media } = (await ada.get('/v1/snap/hello?fields=media')).body.metadata;
  t.match(media, [{ type: 'icon', url: `http://127.0.0.1:8080/icons/${id}/${icon}` }]);
  return { id, url: `/icons/${id}/${icon}` };
}

t.test('an icon is served at the address that the metadata gives, and can do nothing', async (t) => {
  for (const [ending, type] of [
    ['svg', 'image/svg+xml'],
    ['png', 'image/png'],
    ['jpg', 'image/jpeg'],
  ] as const) {
    const store = await startStore(t);
    const { url } = await withIcon(store, ending);
    const reply = await store.anyone.get(url);
    t.equal(reply.status, 200);
    t.equal(reply.body, drawing);
    t.equal(reply.headers.get('content-type'), type);
    t.equal(reply.headers.get('content-length'), String(drawing.length));
    t.equal(reply.headers.get('x-content-type-options'), 'nosniff');
    t.match(reply.headers.get('content-security-policy'), /default-src 'none';.*sandbox/);
    const etag = reply.headers.get('etag')!;
    t.match(etag, /^"[0-9a-f]{96}"$/);
    const again = await store.anyone.get(url, { 'if-none-match': etag });
    t.match(again, { status: 304, body: '' });
    t.equal(again.headers.get('etag'), etag);
    const head = await fetch(store.url + url, { method: 'HEAD' });
    t.equal(head.status, 200);
    t.equal(await head.text(), '');
  }
});

t.test('a JPEG behind the link meta/gui/icon.png is the icon of the snap', async (t) => {
  const store = await startStore(t, servingSnaps);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  const jpeg = Buffer.from('ffd8ffe000104a46494600', 'hex');
  const files = { 'meta/gui/icon.png': { link: '../../share/icon' }, 'share/icon': jpeg };
  await ada.push('snap', 'hello', squashfsImage({ 'meta/snap.yaml': "name: hello\nversion: '1'\n", ...files }));
  await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 1 }]);
  const { body } = await store.anyone.get('/v2/snaps/info/hello?fields=media', { 'snap-device-series': '16' });
  const [{ url }] = body.snap.media as [{ url: string }];
  const reply = await fetch(store.url + new URL(url).pathname);
  t.equal(reply.headers.get('content-type'), 'image/jpeg');
  t.same(Buffer.from(await reply.arrayBuffer()), jpeg);
});

t.test('nothing else is served there', async (t) => {
  const store = await startStore(t);
  const { id, url } = await withIcon(store, 'svg');
  const upload = createHash('sha3-384').update('secret').digest('hex');
  await (await store.as('ada')).upload('secret');
  for (const path of [
    `/icons/${id}/${upload}.svg`,
    `/icons/${id}/${upload}`,
    `${url}x`,
    `${url}?`.replace(id, 'nobody'),
    url.replace('.svg', '.png'),
    `/icons/${'x'.repeat(32)}/${upload}.svg`,
    `/icons/${id}/..`,
    `/publishergw${url}`,
  ]) {
    const reply = await fetch(store.url + path);
    t.ok(reply.status === 404 || reply.status === 400, path);
  }
});
