import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';

t.test('load balancers and people ask how the store is', async (t) => {
  const store = await startStore(t);
  t.same((await store.anyone.get('/healthz')).body, { status: 'ok' });
  t.same((await store.anyone.get('/readyz')).body, {
    status: 'ok',
    problems: [],
    notices: [
      "No backup was made yet. Run 'larder backup FILE', and keep copies of site.key and master.key elsewhere.",
    ],
  });
  t.same((await store.anyone.get('/_status/check')).body, { status: 'ok' });
  for (const path of ['/healthz', '/readyz', '/_status/check']) {
    const head = await fetch(store.url + path, { method: 'HEAD' });
    t.equal(head.status, 200, `HEAD ${path}`);
    t.equal(head.headers.get('content-type'), 'application/json');
    t.equal(await head.text(), '');
    t.equal((await store.anyone.get(`/publishergw${path}`)).status, 404, 'these are not below the prefix');
  }
});
