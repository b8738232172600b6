// How far a narrowed token goes: every operation's record, held against the table of operations, which is written by hand.
import t from 'tap';

import type { Operation } from '#http/operation.ts';
import { identityOperations } from '#identity/operations.ts';
import { operations } from '#operations/index.ts';
import { startStore, type Attenuated, type Client, type Reply, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addBrand } from '#test/fixtures/brands.ts';
import { bodyOf, pathOf } from '#test/fixtures/contract/requests.ts';
import { operationTable, rowOf } from '#test/operation-table/index.ts';

/** Whether the rule refuses a token that names another package, or a token that names only channels. */
const keepsOut = (op: Operation): { otherPackage: boolean; channels: boolean } => {
  const { name, method } = op;
  const subject = rowOf(op).about;
  const guarded = subject === 'package' || subject === 'collaborators' || subject === 'store';
  return {
    otherPackage: guarded,
    // To withdraw a revision closes it in whichever channels hold it.
    channels:
      subject === 'collaborators' ||
      subject === 'store' ||
      (subject === 'package' &&
        (method === 'DELETE' || ['withdraw_revision', 'delete_revisions', 'update_track'].includes(name))),
  };
};

/** Clients of the dashboard take a 401 for an expired login, so they get 403. */
const isKeptOut = ({ status, body }: Reply, { errors }: Operation): boolean =>
  status === (errors === 'dashboard' ? 403 : 401) &&
  /This token is restricted to certain (?:channels|packages)|Package access not allowed/.test(JSON.stringify(body));

/** Asks in a way that changes nothing when it is admitted: a member too many, which is looked at after admission. */
async function ask(client: Client, op: Operation, subject: Record<string, string>): Promise<Reply> {
  const path = pathOf(op, subject);
  if (op.method === 'GET') return client.get(path);
  if (op.method === 'DELETE') return client.delete(path);
  const valid = bodyOf(op);
  if (Array.isArray(valid) && valid.length > 0) Object.assign(valid[0] as object, { unexpected: 1 });
  const body = Array.isArray(valid) ? valid : { ...(valid as object), unexpected: 1 };
  if (op.method === 'PUT') return client.put(path, body);
  return op.method === 'PATCH' ? client.patch(path, body) : client.post(path, body);
}

/** Without a body to spoil, these operations would succeed, so only tokens without admission call them. */
const changes = (op: Operation): boolean => op.method !== 'GET' && op.body === undefined;

async function prepared(t: Parameters<typeof startStore>[0]): Promise<[TestAppliance, Record<string, string>]> {
  const store = await startStore(t, (text) =>
    text.replaceAll(/^(?:# ?)?(build_records|package_permissions) = .*$/gm, '$1 = true'),
  );
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'test', object: 'ada' }, (tx) =>
    tx.accounts.makeStoreAdministrator(store.ids.ada, at),
  );
  const ada = await store.as('ada');
  for (const namespace of ['bin', 'charm']) await ada.post(`/v1/${namespace}`, { name: 'hello' });
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  const brand = await addBrand(store, 'ada');
  return [store, { namespace: 'bin', name: 'hello', charm_name: 'hello', snap_id: id, brand_account_id: brand }];
}

t.test('every operation states its subject', (t) => {
  for (const op of [...operations, ...identityOperations]) t.equal(op.access.about, rowOf(op).about, op.name);
  const all = operations.length + identityOperations.length;
  t.equal(operationTable.size, all, 'and the table names no other');
  for (const op of identityOperations) t.equal(op.access.about, 'public', op.name);
  t.end();
});

t.test('a narrowed token goes as far as the rule lets it, in every operation', async (t) => {
  const [store, subject] = await prepared(t);
  const as = (attenuated: Attenuated): Promise<Client> => store.as('ada', attenuated);
  const other = {
    packages: [
      { type: 'bin' as const, name: 'other' },
      { type: 'charm' as const, name: 'other' },
      { type: 'snap' as const, name: 'other' },
    ],
  };
  const own = {
    packages: [
      { type: 'bin' as const, name: 'hello' },
      { type: 'charm' as const, name: 'hello' },
      { type: 'snap' as const, name: 'hello' },
    ],
  };
  const channels = { channels: ['edge'] };
  const whole = await as({});
  const tokens = {
    otherPackage: await as(other),
    noPackage: await as({ packages: [] }),
    ownPackage: await as(own),
    channels: await as(channels),
    ownPackageAndChannels: await as({ ...own, ...channels }),
  };
  let refusalCount = 0;
  for (const op of operations) {
    const rule = keepsOut(op);
    const expected: Record<keyof typeof tokens, boolean> = {
      otherPackage: rule.otherPackage,
      noPackage: rule.otherPackage,
      ownPackage: rowOf(op).about === 'store',
      channels: rule.channels,
      // An additional caveat never grants access that fewer caveats refused.
      ownPackageAndChannels: rule.channels,
    };
    for (const [which, client] of Object.entries(tokens) as [keyof typeof tokens, Client][]) {
      if (changes(op) && !expected[which]) continue;
      const reply = await ask(client, op, subject);
      t.equal(
        isKeptOut(reply, op),
        expected[which],
        `${op.name} with ${which}: ${reply.status} ${JSON.stringify(reply.body)}`,
      );
      if (expected[which]) refusalCount++;
    }
    if (!changes(op)) t.notOk(isKeptOut(await ask(whole, op, subject), op), `${op.name} with the whole token`);
  }
  t.ok(refusalCount > 150, `${refusalCount} calls were kept out`);
  t.equal((await whole.get('/v1/bin/hello')).status, 200, 'nothing was unregistered');
});

t.test('a token for one snap makes no key, and a token for one channel unregisters nothing', async (t) => {
  const [store, { brand_account_id: brand = '' }] = await prepared(t);
  const refused = { status: 401, body: { 'error-list': [{ code: 'permission-required' }] } };
  const snap = await store.as('ada', { packages: [{ type: 'snap', name: 'zzz' }] });
  t.match(await snap.post(`/v1/brand/${brand}/signing_key`, { name: 'stolen' }), refused);
  t.match(await snap.patch(`/v1/brand/${brand}`, { name: 'Stolen' }), refused);
  t.match(await snap.get(`/v1/brand/${brand}`), refused);
  const edge = await store.as('ada', { channels: ['edge'] });
  t.match(await edge.post(`/v1/brand/${brand}/signing_key`, { name: 'stolen' }), refused);
  t.match(await edge.delete('/v1/bin/hello'), refused);
  t.match(await edge.get('/v1/bin/hello'), { status: 200 }, 'it reads');
  t.match(await edge.post('/v1/bin', { name: 'hallo' }), { status: 200 }, 'it registers');
  const ada = await store.as('ada');
  t.match((await ada.get(`/v1/brand/${brand}`)).body, { name: /^(?!Stolen)/ });
});

t.test('an invite is answered by a token that names the package, and by no other that names packages', async (t) => {
  const [store] = await prepared(t);
  const ada = await store.as('ada');
  const invite = async (): Promise<string> => {
    const reply = await ada.post('/v1/bin/hello/collaborators/invites', { invites: [{ email: 'bob@example.com' }] });
    t.equal(reply.status, 201, JSON.stringify(reply.body));
    return reply.body.tokens[0].token as string;
  };
  const token = await invite();
  const accept = '/v1/bin/hello/collaborators/invites/accept';
  const other = await store.as('bob', { packages: [{ type: 'bin', name: 'other' }] });
  t.match(await other.post(accept, { token }), { status: 401 });
  t.match(await other.post('/v1/bin/nowhere/collaborators/invites/accept', { token }), { status: 401 });
  t.match(await (await store.as('bob', { channels: ['edge'] })).post(accept, { token }), { status: 401 });
  const limitedClient = await store.as('bob', { packages: [{ type: 'bin', name: 'hello' }] });
  t.match(await limitedClient.post(accept, { token }), { status: 204 });
});
