import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';

t.test('the service says what it is, to anybody', async (t) => {
  const store = await startStore(t);
  for (const path of ['/', '/publishergw', '/publishergw/', '/?unknown=member']) {
    const reply = await store.anyone.get(path);
    t.equal(reply.status, 200, path);
    t.equal(reply.headers.get('content-type'), 'application/json');
    t.equal(reply.headers.get('x-view-name'), 'larder.root');
    t.match(reply.body, {
      service: 'larder',
      version: /^\d+\.\d+\.\d+/,
      'api-version': 61,
      namespaces: ['bin', 'charm', 'snap', 'rock', 'sdk', 'source'],
      offline: true,
    });
  }
  t.equal((await store.with('nonsense').get('/')).status, 200, 'a token is not looked at');
  const online = await startStore(t, (text) => text.replace('offline_mode = true', 'offline_mode = false'));
  t.match((await online.anyone.get('/')).body, { offline: false });
});
