// Permissions: compares the table of operations, written by hand, with every operation, permission and role.
import t from 'tap';

import type { Operation } from '#http/operation.ts';
import { permissions } from '#domain/tokens/permission.ts';
import { operations } from '#operations/index.ts';
import { startStore, type Client, type Reply, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addBrand } from '#test/fixtures/brands.ts';
import { bodyOf, pathOf } from '#test/fixtures/contract/requests.ts';
import { rowOf } from '#test/operation-table/index.ts';
import type { Callers, OperationRow } from '#test/operation-table/row.ts';

const long = process.env['LARDER_LONG'] === '1';

t.setTimeout(600_000);

/** Rules for credentials that belong to no account. The tests of these operations check the admission. */
const others = [
  'holder of credentials of a repository',
  'holder of credentials of the repository',
  'the configured registry',
];

const people = ['nobody', 'bob', 'carol', 'ada', 'dan', 'eve', 'root'] as const;
type Somebody = (typeof people)[number];

/** The relation of each to the package `hello` and to the brand. */
const parts: Record<Somebody, { package?: 'publisher' | 'collaborator'; brand?: true; administrator?: true }> = {
  nobody: {},
  bob: {},
  carol: { package: 'collaborator' },
  ada: { package: 'publisher' },
  dan: { brand: true },
  eve: { brand: true },
  root: { administrator: true },
};

/** The members of a row about admission. */
type Row = Pick<OperationRow, 'callers' | 'needs' | 'administrator'>;

/** Anyone is admitted, or credentials decide that belong to no account. */
const isOpen = (callers: Callers): boolean => callers === 'anyone' || callers === 'other credentials';

type Outcome = 'no login' | 'no permission' | 'nothing there' | 'admitted' | 'not the publisher';

/** The table, read for one person with one token. */
function expected({ needs = [], callers, administrator }: Row, person: Somebody, held: string[] | null): Outcome {
  if (isOpen(callers)) return 'admitted';
  if (person === 'nobody') return 'no login';
  const holds = (permission: string): boolean => held === null || held.some((own) => covers(own, permission));
  const granted = needs.length === 0 || needs.some(holds);
  const part = parts[person];
  const acts = part.administrator === true && administrator !== undefined && holds(administrator);
  if (!granted && !acts) return 'no permission';
  switch (callers) {
    case 'any account':
      return 'admitted';
    case 'store administrator':
      return part.administrator === true ? 'admitted' : 'no permission';
    case 'brand administrator':
      return part.brand === true || part.administrator === true ? 'admitted' : 'nothing there';
    case 'publisher':
      if (acts || part.package === 'publisher') return 'admitted';
      return part.package === 'collaborator' ? 'not the publisher' : 'nothing there';
    case 'publisher, collaborator':
      return acts || part.package !== undefined ? 'admitted' : 'nothing there';
    default:
      throw new Error(`cannot judge callers ${callers}`);
  }
}

const covers = (held: string, permission: string): boolean =>
  held === permission ||
  (permission.startsWith('package-manage-') && held === 'package-manage') ||
  (permission.startsWith('package-view-') && held === 'package-view');

function outcome({ status, body }: Reply): Outcome {
  const { code = '', message = '' } = (body['error-list'] ?? [{}])[0] as { code?: string; message?: string };
  if (code === 'macaroon-authorization-required') return 'no login';
  if (code === 'permission-required') {
    return message.endsWith('can only be unregistered by their publisher') || message.startsWith('Only the publisher')
      ? 'not the publisher'
      : 'no permission';
  }
  if (status === 404 && /^(?:Name|Brand) .* not found/.test(message)) return 'nothing there';
  if (status >= 500) throw new Error(`cannot judge ${status} ${message}`);
  return 'admitted';
}

/** Asks in a way that changes nothing when it is admitted: a member too many, which is looked at after admission. */
async function ask(client: Client, op: Operation, subject: Record<string, string>, query = ''): Promise<Reply> {
  const path = pathOf(op, subject) + query;
  if (op.method === 'GET') return client.get(path);
  if (op.method === 'DELETE') return client.delete(path);
  const valid = bodyOf(op);
  if (Array.isArray(valid)) Object.assign(valid[0], { unexpected: 1 });
  const body = Array.isArray(valid) ? valid : { ...(valid as object), unexpected: 1 };
  if (op.method === 'PUT') return client.put(path, body);
  return op.method === 'PATCH' ? client.patch(path, body) : client.post(path, body);
}

/** Without a body to spoil, these operations would succeed. */
const harmless = (op: Operation): boolean =>
  !isAskedElsewhere(op) && (op.method === 'GET' || op.body !== undefined || op.name === 'unregister_package');

/**
 * The dashboard's operations refuse in the dashboard's words, builds are behind a switch of the configuration, and libraries
 * are of charms: here their records are held against the table, and their own tests ask them.
 */
const isAskedElsewhere = ({ path }: Operation): boolean =>
  /^\/(?:dev\/api|api\/v2|internal\/v1\/craft\/(?:buildsets|commit-workflows)|v1\/charm\/libraries)\b/.test(path);

async function withEverybody(
  t: Parameters<typeof startStore>[0],
): Promise<{ store: TestAppliance; subject: Record<string, string>; upload: string }> {
  const store = await startStore(t);
  for (const username of ['carol', 'dan', 'eve']) await store.join(username);
  const brand = await addBrand(store, 'eve', ['dan']);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/bin', { name: 'hello', private: true })).body;
  const reviews = (await ada.push('bin', 'hello', 'content')).body.revisions;
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'invite', object: 'bin/hello' }, (tx) =>
    tx.collaborators.add(id, store.ids['carol'] ?? '', store.ids.ada, at),
  );
  return {
    store,
    subject: { namespace: 'bin', name: 'hello', brand_account_id: brand, account_id: store.ids.ada },
    upload: reviews[0]['upload-id'],
  };
}

t.test('every operation has a row in the table, and every guarded one states its permissions', (t) => {
  for (const op of operations) {
    const { callers, needs = [] } = rowOf(op);
    t.ok(callers, `${op.name} has a row`);
    if (isOpen(callers)) {
      const rule = op.access.who;
      t.equal(others.includes(rule), callers === 'other credentials', `${op.name} admits ${callers}: ${rule}`);
      t.ok(others.includes(rule) || rule.startsWith('anyone'), `${op.name} admits ${callers}: ${rule}`);
      continue;
    }
    const stated = op.access.permissions.filter((permission) => needs.includes(permission));
    t.same(new Set(stated), new Set(needs), `${op.name} states the permissions that let a token in`);
  }
  t.end();
});

/**
 * The tokens for a call: with all permissions, with none, with each single admitting permission, and with all others
 * together, which must not admit. The long run tries each of the others alone too.
 */
function tokensFor({ needs = [], administrator }: Row): (string[] | null)[] {
  const sufficientPermissions: string[] = administrator === undefined ? needs : [...needs, administrator];
  const lets = (held: string): boolean => sufficientPermissions.some((permission) => covers(held, permission));
  const alone = permissions.filter((permission) => long || lets(permission)).map((permission) => [permission]);
  return [null, [], ...alone, permissions.filter((permission) => !lets(permission))];
}

/** Whether an account may do this with a token of all permissions; in the long run all are asked as if they might. */
function isEntitled(row: Row, person: Somebody): boolean {
  if (long) return true;
  // If any account may, two of them show the effect of permissions.
  if (row.callers === 'any account' && !['bob', 'root'].includes(person)) return false;
  return expected(row, person, null) === 'admitted';
}

t.test('each role has the permissions of the table, with each permission alone, with none and with all', async (t) => {
  const { store, subject, upload } = await withEverybody(t);
  const clients = new Map<string, Client>();
  const clientOf = async (person: Somebody, held: string[] | null): Promise<Client> => {
    if (person === 'nobody') return store.anyone;
    const key = `${person} ${held?.join() ?? 'all'}`;
    const client = clients.get(key) ?? (await store.as(person, held === null ? {} : { permissions: held as [] }));
    clients.set(key, client);
    return client;
  };
  const wrong: unknown[] = [];
  let callCount = 0;

  const hold = async (row: Row, op: Operation, query: string): Promise<void> => {
    for (const person of people) {
      for (const held of isEntitled(row, person) ? tokensFor(row) : [null, []]) {
        if (person === 'nobody' && held !== null) break; // who has no token has none of them
        const actual = outcome(await ask(await clientOf(person, held), op, subject, query));
        callCount++;
        const should = expected(row, person, held);
        if (actual !== should) wrong.push({ operation: op.name + query, person, held, should, found: actual });
      }
    }
  };
  for (const op of operations.filter(harmless)) {
    const row = rowOf(op);
    if (isOpen(row.callers)) continue;
    // Without a token the listing starts a login, if the store has its identity provider.
    const beginsLogin = op.name === 'get_macaroon' && op.access.who.startsWith('anyone');
    await hold(beginsLogin ? { ...row, callers: 'anyone' } : row, op, '');
  }
  t.same(wrong, [], `${callCount} calls`);
  t.ok(callCount > (long ? 10_000 : 1500), `${callCount} calls`);

  wrong.length = 0;
  const reviews = operations.find(({ name }) => name === 'list_upload_reviews');
  if (reviews === undefined) throw new Error('cannot find the reviews');
  const polled: Row = { ...rowOf(reviews), needs: ['package-view-revisions', 'package-manage-revisions'] };
  for (const person of people) {
    for (const held of [null, [], ...permissions.map((permission) => [permission])]) {
      const actual = outcome(await ask(await clientOf(person, held), reviews, subject, `?upload-id=${upload}`));
      const views = expected(polled, person, held);
      const pushes = expected({ ...polled, administrator: 'store-manage' }, person, held);
      const should = views === 'admitted' || pushes === 'admitted' ? 'admitted' : views;
      if (actual !== should) wrong.push({ person, held, should, found: actual });
    }
  }
  t.same(wrong, [], 'a token that may push can poll its upload');
});

t.test('only the publisher unregisters a charm, even if a store administrator has every permission', async (t) => {
  const { store } = await withEverybody(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/charm', { name: 'hello' })).body;
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'invite', object: 'charm/hello' }, (tx) =>
    tx.collaborators.add(id, store.ids['carol'] ?? '', store.ids.ada, at),
  );
  for (const person of ['carol', 'root']) {
    t.match(await (await store.as(person)).delete('/v1/charm/hello'), {
      status: 401,
      body: {
        'error-list': [{ code: 'permission-required', message: 'Charms can only be unregistered by their publisher' }],
      },
    });
  }
  t.match(await (await store.as('root', { permissions: ['store-manage'] })).delete('/v1/charm/hello'), { status: 401 });
  t.match(await ada.delete('/v1/charm/hello'), { status: 200, body: { 'package-id': id } });
});

let turn = 0;

/** Two of a list, others each time. */
const inTurn = <Value>(all: readonly Value[]): Value[] => [all[turn++ % all.length]!, all[turn++ % all.length]!];

const ofPackages = operations.filter(
  (op) => op.path.includes(':name') && /publisher/.test(op.access.who) && harmless(op) && op.since > 0,
);

t.test('a token that names packages is good for those alone', async (t) => {
  const { store, subject } = await withEverybody(t);
  const { id } = (await (await store.as('ada')).get('/v1/bin/hello')).body.metadata as { id: string };
  const good = [
    [{ type: 'bin', name: 'hello' }],
    [{ type: 'bin', id }],
    [{ type: 'bin', id, name: 'hello' }],
    [
      { type: 'snap', name: 'x' },
      { type: 'bin', name: 'hello' },
    ],
  ] as const;
  const bad = [
    [],
    [{ type: 'snap', name: 'hello' }],
    [{ type: 'bin', name: 'hallo' }],
    [{ type: 'bin', name: 'HELLO' }],
    [{ type: 'bin', id: 'x'.repeat(32) }],
    [{ type: 'bin', id, name: 'hallo' }],
    [{ type: 'bin', id: 'x'.repeat(32), name: 'hello' }],
  ] as const;
  const clients = new Map<string, Client>();
  const clientOf = async (person: 'ada' | 'carol' | 'root', packages: readonly object[]): Promise<Client> => {
    const key = person + JSON.stringify(packages);
    const client = clients.get(key) ?? (await store.as(person, { packages: [...packages] as [] }));
    clients.set(key, client);
    return client;
  };
  for (const op of ofPackages) {
    for (const person of ['ada', 'carol', 'root'] as const) {
      if (person === 'carol' && op.access.who.startsWith('publisher;')) continue;
      // In the short run all selectors for one person, and for the others two of each in turn.
      const [goodHere, badHere] = long || person === 'ada' ? [good, bad] : [inTurn(good), inTurn(bad)];
      for (const packages of goodHere) {
        const reply = await ask(await clientOf(person, packages), op, subject);
        t.equal(outcome(reply), 'admitted', `${op.name} for ${person} with ${JSON.stringify(packages)}`);
      }
      for (const packages of badHere) {
        const reply = await ask(await clientOf(person, packages), op, subject);
        if (op.name === 'unregister_package') {
          // It has revisions, and the interface's own words come first.
          t.match(reply, { status: 403, body: { 'error-list': [{ code: 'forbidden' }] } });
          continue;
        }
        t.equal(outcome(reply), 'no permission', `${op.name} for ${person} with ${JSON.stringify(packages)}`);
        t.match(reply.body['error-list'][0].message, /^Package access not allowed/);
      }
    }
    const reply = await ask(await store.as('bob', { packages: [] }), op, subject);
    t.equal(outcome(reply), 'nothing there', `${op.name} for a stranger`);
  }
});

t.test('a token is invalid from the second of its expiry on', async (t) => {
  const { store, subject } = await withEverybody(t);
  const guarded = operations.filter((op) => !op.access.who.startsWith('anyone') && harmless(op) && op.since > 0);
  const client = await store.as('ada', { ttl: 10 });
  store.clock.advance(9_999);
  for (const op of guarded) t.not(outcome(await ask(client, op, subject)), 'no login', `${op.name} before`);
  store.clock.advance(1);
  for (const op of guarded) {
    const reply = await ask(client, op, subject);
    t.equal(outcome(reply), 'no login', `${op.name} after`);
    t.match(reply.body, { Code: 'macaroon discharge required', Message: 'discharge required' });
  }
  store.clock.advance(-60_000);
  t.equal((await client.get('/v1/tokens/whoami')).status, 401, 'a clock that is set back brings it not to life');
});

t.test('a role that was given or taken is seen by the next request', async (t) => {
  const { store } = await withEverybody(t);
  const bob = await store.as('bob');
  const at = store.clock.now.toISOString();
  const entry = { at, actor: 'test', action: 'role', object: 'account/bob' };
  t.equal((await bob.get('/v1/bin/hello')).status, 404);
  await store.beside.records.change(entry, (tx) => tx.accounts.makeStoreAdministrator(store.ids.bob, at));
  t.equal((await bob.get('/v1/bin/hello')).status, 200);
  await store.beside.records.change(entry, (tx) => tx.accounts.endStoreAdministrator(store.ids.bob));
  t.equal((await bob.get('/v1/bin/hello')).status, 404);

  const brand = store.ids['eve'] ?? '';
  t.equal((await bob.get(`/v1/brand/${brand}`)).status, 404);
  await store.beside.records.change(entry, (tx) => tx.brands.addAdministrator(brand, store.ids.bob, at));
  t.equal((await bob.get(`/v1/brand/${brand}`)).status, 200);
  await store.beside.records.change(entry, (tx) => tx.brands.removeAdministrator(brand, store.ids.bob));
  t.equal((await bob.get(`/v1/brand/${brand}`)).status, 404);
});
