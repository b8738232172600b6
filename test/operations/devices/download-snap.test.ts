// The files of revisions, as snapd and the caches in front of it fetch them.
import { createHash } from 'node:crypto';

import t from 'tap';

import { snapFixture, startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';

async function withFile(t: Parameters<typeof startStore>[0]) {
  const store = await startStore(t, servingSnaps);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'tiny-app' })).body;
  const content = await snapFixture('app-xz');
  await ada.push('snap', 'tiny-app', content);
  return { store, ada, path: `/api/v1/snaps/download/${id}_1.snap`, content };
}

const ask = async (store: TestAppliance, path: string, headers: Record<string, string> = {}, method = 'GET') => {
  const response = await fetch(`${store.url}${path}`, { method, headers });
  return { response, status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
};

t.test('a file is fetched whole and in parts, and a part only of what the client has begun', async (t) => {
  const { store, ada, path, content } = await withFile(t);
  t.equal((await ask(store, path)).status, 404, 'before it is released');
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'edge', revision: 1 }]);
  const whole = await ask(store, path);
  t.equal(whole.status, 200);
  t.same(whole.bytes, content);
  const etag = `"${createHash('sha3-384').update(content).digest('hex')}"`;
  const headerNames = [
    'etag',
    'accept-ranges',
    'content-length',
    'content-type',
    'cache-control',
    'content-disposition',
    'snap-store-version',
  ];
  const readValues = (headers: Headers): (string | null)[] => headerNames.map((name) => headers.get(name));
  const cacheControl = 'public, max-age=31536000, immutable';
  const disposition = `attachment; filename="${path.split('/').at(-1) ?? ''}"`;
  const expected = [etag, 'bytes', String(content.length), 'application/octet-stream', cacheControl, disposition, '60'];
  t.same(readValues(whole.response.headers), expected);
  const head = await ask(store, path, {}, 'HEAD');
  t.same([head.status, ...readValues(head.response.headers), head.bytes.length], [200, ...expected, 0]);

  const { length } = content;
  const part = async (headers: Record<string, string>) => {
    const { status, bytes, response } = await ask(store, path, headers);
    return [status, status < 300 && content.includes(bytes) ? bytes.length : 0, response.headers.get('content-range')];
  };
  t.same(await part({ range: 'bytes=1000-' }), [206, length - 1000, `bytes 1000-${length - 1}/${length}`]);
  t.same(await part({ range: 'bytes=0-0' }), [206, 1, `bytes 0-0/${length}`]);
  t.same(await part({ range: 'bytes=-10' }), [206, 10, `bytes ${length - 10}-${length - 1}/${length}`]);
  t.same(await part({ range: `bytes=${length}-` }), [416, 0, `bytes */${length}`]);
  for (const range of ['bytes=9-1', 'bytes=0-1,5-6', 'lines=1-2', 'bytes=', 'bytes=x-']) {
    t.same(await part({ range }), [200, length, null], range);
  }
  const range = 'bytes=1000-';
  t.match(await part({ range, 'if-range': etag }), [206]);
  t.match(await part({ range, 'if-range': '"another"' }), [200], 'what it has begun is something else');
  t.match(await part({ range, 'if-range': new Date().toUTCString() }), [200]);
  t.match(await part({ 'if-none-match': `"another", ${etag}` }), [304]);
  t.match(await part({ 'if-none-match': '"another"' }), [200]);
});

t.test('a file is gone when its revision is withdrawn, and no guessed address finds one', async (t) => {
  const { store, ada, path } = await withFile(t);
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'edge', revision: 1 }]);
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const id = path.slice(folder.length, -'_1.snap'.length);
  for (const file of [
    `${id}_2.snap`,
    `${id}_01.snap`,
    `${id}_1.comp`,
    `${id}.snap`,
    `${id}_9999999999.snap`,
    '_1.snap',
    '..',
  ]) {
    t.equal((await ask(store, `${folder}${file}`)).status, 404, file);
  }
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'edge', revision: null }]);
  t.equal((await ask(store, path)).status, 200, 'who was told of it before its channel was closed may go on');
  await ada.post('/internal/v1/packages/snap/tiny-app/revisions/1/withdraw', { reason: 'it loses data' });
  t.equal((await ask(store, path)).status, 404);
});

t.test('downloads are counted, whole ones', async (t) => {
  const { store, ada, path } = await withFile(t);
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'edge', revision: 1 }]);
  await ask(store, path);
  await ask(store, path, { range: 'bytes=0-0' });
  await ask(store, path, {}, 'HEAD');
  await store.restart();
  const root = await store.as('root');
  t.match((await root.get('/internal/v1/packages/snap/tiny-app')).body, { downloads: { total: 1 } });
});
