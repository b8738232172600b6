// Giving and taking roles: by operation and by command, and the effect on approvals.
import t from 'tap';

import { command, newest, startNow } from '#test/acts/ways.ts';
import { addBrand } from '#test/fixtures/brands.ts';

t.test('an operation and a command give and take the same roles', async (t) => {
  const store = await startNow(t);
  const [root, ada] = [await store.as('root'), await store.as('ada')];
  const { id } = (await ada.get('/v1/tokens/whoami')).body.account as { id: string };
  const brand = await addBrand(store, 'bob');
  const path = `/internal/v1/accounts/${id}/roles`;
  const give = (body: object, who = root) => who.post(path, body);

  for (const role of ['auditor', 'transfer-approver', 'store-admin', `brand-admin:${brand}`]) {
    t.match(await give({ role }), { status: 200, body: { id, username: 'ada', roles: [role] } });
    const newestEntry = await newest(store);
    t.match(await give({ role, remove: true }), { status: 200, body: { roles: [] } });
    const taken = await newest(store);
    await command(store, `account role ${id} ${role}`);
    t.same(await newest(store), newestEntry, 'the log has the same');
    await command(store, `account role ${id} ${role} --remove --yes`);
    t.same(await newest(store), taken);
  }
  t.match(await give({ role: 'owner' }), {
    status: 400,
    body: { 'error-list': [{ message: /The role is store-admin/ }] },
  });
  t.match(await give({ role: 'brand-admin:nobody' }), { status: 404 });
  t.match(await root.post(`/internal/v1/accounts/nobody/roles`, { role: 'auditor' }), { status: 404 });
  t.match(await give({ role: 'store-admin' }, ada), { status: 401 }, 'nobody makes himself an administrator');
  const own = `/internal/v1/accounts/${store.ids.root}/roles`;
  t.match(
    await root.post(own, { role: 'store-admin', remove: true }),
    { status: 409 },
    'somebody always administers it',
  );
});

t.test('an administrator who gives themselves the role of approver cannot approve at once', async (t) => {
  const store = await startNow(t);
  const root = await store.as('root');
  const { accounts } = store.beside.records;
  t.equal(await accounts.touched(store.ids.root), undefined);
  await root.post(`/internal/v1/accounts/${store.ids.root}/roles`, { role: 'transfer-approver' });
  t.match(await accounts.touched(store.ids.root), { by: store.ids.root, what: 'change_role' });
});
