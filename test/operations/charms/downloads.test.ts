// The files of charms and of their resources, as juju and the caches in front of it fetch them.
import { createHash } from 'node:crypto';

import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { pushCharm, pushResource, servingCharms } from '#test/fixtures/clients/juju.ts';

t.test('charms and resources are fetched whole, and caches may keep them for ever', async (t) => {
  const store = await startStore(t, servingCharms);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/charm', { name: 'hello' })).body;
  const content = await pushCharm(ada, 'hello', { metadata: 'resources:\n  site: {type: file, filename: site.tar}\n' });
  await pushResource(store, ada, '/v1/charm/hello/resources/site', 'the pages');
  const charm = `/api/v1/charms/download/${id}_1.charm`;
  t.equal((await fetch(store.url + charm)).status, 404, 'before it is released');
  t.equal((await fetch(`${store.url}/api/v1/resources/download/charm_${id}.site_1`)).status, 404);
  await ada.post('/v1/charm/hello/releases', [
    { channel: 'edge', revision: 1, resources: [{ name: 'site', revision: 1 }] },
  ]);

  await pushCharm(ada, 'hello', { files: { version: '2' } });
  t.equal(
    (await fetch(store.url + charm.replace('_1.', '_2.'))).status,
    404,
    'a revision that was never released, guessed',
  );
  const listed = await store.anyone.get('/v2/charms/resources/hello/site/revisions');
  const { url } = listed.body.revisions[0].download as { url: string };
  for (const [path, bytes] of [
    [charm, content],
    [new URL(url).pathname, Buffer.from('the pages')],
  ] as const) {
    const whole = await fetch(store.url + path);
    t.same([whole.status, Buffer.from(await whole.arrayBuffer())], [200, bytes]);
    const etag = `"${createHash('sha3-384').update(bytes).digest('hex')}"`;
    const expectedHeaders = {
      etag,
      'content-length': String(bytes.length),
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${path.split('/').at(-1) ?? ''}"`,
      'cache-control': 'public, max-age=31536000, immutable',
    };
    t.match(Object.fromEntries(whole.headers), expectedHeaders);
    const head = await fetch(store.url + path, { method: 'HEAD' });
    t.match([head.status, Object.fromEntries(head.headers)], [200, expectedHeaders]);
    t.equal((await fetch(store.url + path, { headers: { 'if-none-match': etag } })).status, 304);
    const part = await fetch(store.url + path, { headers: { range: 'bytes=2-4' } });
    t.same([part.status, Buffer.from(await part.arrayBuffer())], [206, bytes.subarray(2, 5)]);
    t.equal((await fetch(store.url + path, { headers: { range: `bytes=${bytes.length}-` } })).status, 416);
  }
  await ada.patch('/v1/charm/hello', { private: true });
  for (const path of [charm, new URL(url).pathname]) t.equal((await fetch(store.url + path)).status, 404);
});
