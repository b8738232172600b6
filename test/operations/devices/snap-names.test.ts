// The lists that a device downloads as a whole: names, categories, and empty lists.
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

import t from 'tap';

import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { deviceHeaders, servingSnaps } from '#test/fixtures/devices.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

const path = '/api/v1/snaps/names';

/** As snapd gets it: with the headers of Go, and without decompression. */
async function raw(url: string, more: Record<string, string> = {}) {
  const headers = { 'accept-encoding': 'gzip', accept: 'application/hal+json', ...more };
  return new Promise<{ status?: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>((resolve, reject) => {
    request(url, { headers }, (answer) => {
      buffer(answer).then((body) => resolve({ status: answer.statusCode!, headers: answer.headers, body }), reject);
    })
      .on('error', reject)
      .end();
  });
}

t.test('all names with their commands, as snapd reads them token by token', async (t) => {
  const store = await startStore(t, servingSnaps);
  const ada = await store.as('ada');
  const url = `${store.url}${path}?confinement=strict`;
  t.equal(gunzipSync((await raw(url)).body).toString(), '{"_embedded":{"clickindex:package":[]}}');

  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  const packageYaml = 'name: hello\napps:\n  hello:\n    aliases: [hi]\n  hello-there: {}\n';
  await addRevision(store, id, 1, { packageYaml, details: { apps: ['hello', 'hello-there'] } });
  await ada.post('/v1/snap/hello/releases', [{ channel: 'candidate', revision: 1 }]);
  await ada.patch('/v1/snap/hello', { summary: 'Says "hello"' });
  const other = (await ada.post('/v1/snap', { name: 'classy' })).body.id;
  await addRevision(store, other, 2, { details: { confinement: 'classic' } });
  await ada.post('/v1/snap/classy/releases', [{ channel: 'stable', revision: 2 }]);
  await ada.post('/v1/snap', { name: 'unreleased' });

  const first = await raw(url);
  t.equal(first.status, 200);
  t.match(first.headers, {
    'content-type': 'application/hal+json',
    'content-encoding': 'gzip',
    'cache-control': 'max-age=300',
    vary: 'Accept-Encoding',
    'snap-store-version': '60',
  });
  t.equal(
    gunzipSync(first.body).toString(),
    '{"_embedded":{"clickindex:package":[{"package_name":"hello","version":"v1","summary":"Says \\"hello\\"",' +
      '"aliases":[{"name":"hi"}],"apps":["hello","hello-there"]}]}}',
  );
  const etag = String(first.headers['etag']);
  const again = await raw(url, { 'if-none-match': etag });
  t.same([again.status, again.body.length], [304, 0]);
  const plain = await raw(url, { 'accept-encoding': 'identity' });
  t.same(plain.body, gunzipSync(first.body));
  t.equal(plain.headers['content-encoding'], undefined);
  const names = async (query: string) =>
    JSON.parse(gunzipSync((await raw(`${store.url}${path}${query}`)).body).toString())._embedded[
      'clickindex:package'
    ].map((entry: { package_name: string }) => entry.package_name);
  t.same(await names('?confinement=strict,classic'), ['classy', 'hello']);
  t.same(await names(''), ['classy', 'hello']);
  t.same(await names('?confinement=nonsense'), []);
  t.match(await store.anyone.get(`${path}?confinement=strict`), { status: 200 });

  await ada.post('/v1/snap/classy/releases', [{ channel: 'edge', revision: 2 }]);
  t.equal((await raw(url, { 'if-none-match': etag })).status, 304, 'what it says is the same');
  await ada.patch('/v1/snap/hello', { private: true });
  const hidden = await raw(url, { 'if-none-match': etag });
  t.equal(hidden.status, 200);
  t.equal(gunzipSync(hidden.body).toString(), '{"_embedded":{"clickindex:package":[]}}', 'nothing private');
});

t.test('there is one category for all snaps, and there are no messages, repairs and purchases', async (t) => {
  const store = await startStore(t, servingSnaps);
  const get = (path: string) => store.anyone.get(path, deviceHeaders());
  const categories = await get('/v2/snaps/categories');
  t.same(categories.body, { categories: [{ name: 'featured' }] });
  t.equal(categories.headers.get('content-type'), 'application/json');
  t.match(await get('/api/v1/snaps/sections'), { status: 200 });
  const sections = await raw(`${store.url}/api/v1/snaps/sections`);
  t.equal(sections.headers['content-type'], 'application/hal+json');
  t.equal(String(sections.body), '{"_embedded":{"clickindex:sections":[{"name":"featured"}]}}');
  const body = { after: 'x', limit: 10, messages: [{ format: 'assertion', data: 'type: x' }] };
  t.match(await store.anyone.post('/v2/messages', body, deviceHeaders()), {
    status: 200,
    body: { messages: [], 'total-pending-messages': 0 },
  });
  for (const path of ['/v2/repairs/canonical/1', '/repairs/canonical/1', '/api/v1/snaps/purchases/customers/me']) {
    const none = await get(path);
    t.equal(none.status, 404, path);
    t.ok(Date.parse(none.headers.get('date') ?? ''), 'a device reads the time from it');
  }
});

t.test("'snap debug connectivity' succeeds: HEAD on its test file is answered", async (t) => {
  const store = await startStore(t, servingSnaps);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  const content = await snapFixture('app-xz');
  await ada.push('snap', 'tiny-app', content);
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'stable', revision: 1 }]);
  const info = await store.anyone.get('/v2/snaps/info/tiny-app?fields=download', deviceHeaders());
  const { url } = info.body['channel-map'][0].download;
  const head = await fetch(`${store.url}${new URL(url).pathname}`, { method: 'HEAD' });
  t.equal(head.status, 200);
  t.equal(head.headers.get('content-length'), String(content.length));
});
