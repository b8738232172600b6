// The addresses by which older publishing tools register names and list them.
import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';

t.test('a snap is registered and listed', async (t) => {
  const store = await startStore(t, (text) => text.replace(/^(?:# ?)?reserved = .*$/m, 'reserved = ["core"]'));
  const ada = await store.as('ada');
  const register = (name: string) =>
    ada.post('/dev/api/register-name/', { snap_name: name, is_private: true, series: '16' });
  const { status, body } = await register('hello');
  t.equal(status, 201);
  t.match(body, { snap_id: /^[a-zA-Z0-9]{32}$/, snap_name: 'hello' });
  t.match((await ada.get('/v1/snap/hello')).body.metadata, {
    id: body.snap_id,
    private: true,
    tracks: [{ name: 'latest' }],
  });
  for (const prefix of ['', '/publishergw']) {
    t.match(await ada.get(`${prefix}/dev/api/account`), {
      status: 200,
      body: {
        account_id: store.ids.ada,
        email: 'ada@example.com',
        snaps: {
          '16': {
            hello: { since: store.clock.now.toISOString(), private: true, status: 'Approved', 'snap-id': body.snap_id },
          },
        },
      },
    });
  }
  for (const [name, code, answer] of [
    ['hello', 409, 'already-owned'],
    ['core', 409, 'reserved-name'],
    ['-x-', 400, 'api-error'],
  ] as const) {
    t.match(await register(name), { status: code, body: { error_list: [{ code: answer }] } });
  }
  t.match(await store.anyone.get('/dev/api/account'), {
    status: 401,
    body: { error_list: [{ code: 'macaroon-authorization-required' }] },
  });
});
