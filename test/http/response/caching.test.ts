// Which responses may be cached, and the format of the response for an address without an operation.
import t from 'tap';

import { operations } from '#operations/index.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { bodyOf, pathOf } from '#test/fixtures/contract/requests.ts';

/** Public responses without a token, and responses with their own cache time. */
const keepable = [
  'package_icon',
  'openapi_document',
  'documents_home',
  'documents_door',
  'documents_page',
  'search_documents',
  'favicon',
  'image_blob',
];

t.test('responses to a token, secrets and refusals are never cached', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  for (const op of operations.filter(({ name }) => !keepable.includes(name))) {
    for (const client of [ada, store.anyone]) {
      if (op.method === 'DELETE' && client === ada) continue;
      const response = await fetch(store.url + pathOf(op, { namespace: 'snap', name: 'hello' }), {
        method: op.method,
        headers: {
          'content-type': 'application/json',
          ...(client.token !== '' && { authorization: `Macaroon ${client.token}` }),
        },
        ...(op.body !== undefined && { body: JSON.stringify(bodyOf(op)) }),
      });
      await response.arrayBuffer();
      t.equal(response.headers.get('cache-control'), 'no-store', `${op.name}: ${String(response.status)}`);
    }
  }
  for (const path of ['/nowhere', '/v1/tokens?a=1&a=2', '/docs/nowhere', '/identity/nowhere']) {
    t.equal((await ada.get(path)).headers.get('cache-control'), 'no-store', path);
  }
  const whoami = await ada.get('/v1/tokens/whoami');
  t.match([whoami.status, whoami.headers.get('cache-control')], [200, 'no-store']);
});

t.test('the response for an unknown address has the body of its family', async (t) => {
  const { anyone } = await startStore(t);
  const publisher = { 'error-list': [{ code: 'resource-not-found', message: /^There is nothing at/ }] };
  const registry = { errors: [{ code: 'NAME_UNKNOWN', message: /^There is nothing at/ }] };
  const families: [object, string[]][] = [
    [
      publisher,
      ['/nosuch', '/v1/nosuch/a/b/c', '/v2/snaps', '/v2/snaps/info/hello', '/v2/charms/refresh', '/api/nosuch'],
    ],
    [publisher, ['cohorts', 'assertions', 'auth', 'messages', 'repairs'].map((word) => `/v2/${word}/nosuch`)],
    [registry, ['/v2', '/v2/foo/bar/manifests/latest', '/v2/images/x/y/nosuch', '/v2/snapshots/x', '/v2/nosuch']],
    [{ code: 'RESOURCE_NOT_FOUND', error_list: [{ code: 'resource-not-found' }] }, ['/api/v2', '/api/v2/nosuch']],
    [{ error_list: [{ code: 'resource-not-found' }] }, ['/dev/api', '/dev/api/nosuch', '/publishergw/dev/api/nosuch']],
    [{ Code: 'not found', Message: /^There is nothing at/ }, ['/identity', '/identity/nosuch']],
  ];
  for (const [body, paths] of families) {
    for (const path of paths) t.match(await anyone.get(path), { status: 404, body }, path);
  }
  t.match(await anyone.get('/identity//nosuch'), { status: 400, body: { Code: 'bad request' } });
});
