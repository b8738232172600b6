import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';

t.test('load balancers and people ask how the store is', async (t) => {
  const store = await startStore(t);
  t.same((await store.anyone.get('/healthz')).body, { status: 'ok' });
  const { notices, ...ready } = (await store.anyone.get('/readyz')).body as { notices: string[] };
  t.same(ready, { status: 'ok', problems: [] });
  // A server of the tests lets every role connect.
  t.same(
    notices.filter((notice) => !notice.includes('REVOKE CONNECT')),
    ["No backup was made yet. Run 'larder backup FILE', and keep copies of site.key and master.key elsewhere."],
  );
  t.same((await store.anyone.get('/_status/check')).body, { status: 'ok' });
  for (const path of ['/healthz', '/readyz', '/_status/check']) {
    const head = await fetch(store.url + path, { method: 'HEAD' });
    t.equal(head.status, 200, `HEAD ${path}`);
    t.equal(head.headers.get('content-type'), 'application/json');
    t.equal(await head.text(), '');
    t.equal((await store.anyone.get(`/publishergw${path}`)).status, 404, 'these are not below the prefix');
  }
});

t.test('a command on the host with the secret of the data directory sees everything', async (t) => {
  const store = await startStore(t);
  const file = join(store.directory, 'serving.json');
  const { secret } = JSON.parse(readFileSync(file, 'utf8')) as { secret: string };
  t.equal(statSync(file).mode & 0o777, 0o600, 'only its owner can read it');
  const reply = await store.anyone.get('/_status/serving', { 'larder-serving-secret': secret });
  t.match(reply, { status: 200, body: { state: { pid: process.pid, faults: [{ code: 'backup-missing' }] } } });
  t.notMatch(JSON.stringify(reply.body), secret);
  for (const wrong of ['', 'x', secret.slice(1), `${secret}0`])
    t.match(await store.anyone.get('/_status/serving', { 'larder-serving-secret': wrong }), { status: 403 }, wrong);
  t.match(await store.anyone.get('/_status/serving'), { status: 403 });
});
