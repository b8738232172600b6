import t from 'tap';

import { days, hours } from '#domain/clock.ts';
import { retireKeys } from '#jobs/tokens/retire-keys.ts';
import { createRootKeys } from '#macaroons/root-keys.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';

const whoami = '/v1/tokens/whoami';
const newestKey = async ({ beside: writableStore }: TestAppliance) =>
  (await writableStore.records.rootKeys.newest())?.id;
const retire = ({ beside: writableStore }: TestAppliance) =>
  retireKeys(writableStore.records, writableStore.acts, writableStore.latestTime).run();

t.test('new tokens are signed with a new root key every seven days, and the old ones stay good', async (t) => {
  const store = await startStore(t);
  const early = await store.as('ada');
  const first = await newestKey(store);
  store.clock.advance(days(7) - 1);
  await store.as('ada');
  t.equal(await newestKey(store), first);
  store.clock.advance(1);
  const late = await store.as('ada');
  t.not(await newestKey(store), first);
  t.match(await early.get(whoami), { status: 200 });
  t.match(await late.get(whoami), { status: 200 });
  await store.restart();
  t.match(await early.get(whoami), { status: 200 }, 'after a restart too');
});

t.test('the configuration sets the lifetime of a root key', async (t) => {
  const store = await startStore(t, (text) => text.replace(/^#? ?root_key_days = 7$/m, 'root_key_days = 1'));
  await store.as('ada');
  const first = await newestKey(store);
  store.clock.advance(days(1));
  await store.as('ada');
  t.not(await newestKey(store), first);
});

t.test('an old root key goes when the last token that it signed has ended', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada', { ttl: days(20) / 1000 });
  const first = await newestKey(store);
  store.clock.advance(days(7));
  await store.as('ada');
  store.clock.advance(days(8));
  t.same(await retire(store), { retired: 0 });
  t.match(await ada.get(whoami), { status: 200 }, 'its token has days to live');
  store.clock.advance(days(5));
  t.same(await retire(store), { retired: 1 });
  t.equal(await store.beside.records.rootKeys.find(first!), undefined);
  t.match(await ada.get(whoami), { status: 401 });
  t.match((await store.beside.records.audit.list(0, 1000)).at(-1), { action: 'retire_keys', actor: 'larder' });
});

t.test('a root key is removed when all its tokens are revoked, but never the newest', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { body } = await ada.get('/v1/tokens');
  await ada.post('/v1/tokens/revoke', { 'session-id': body.macaroons[0]['session-id'] });
  store.clock.advance(days(30));
  t.same(await retire(store), { retired: 0 }, 'it is the newest');
  await store.as('ada');
  t.same(await retire(store), { retired: 0 }, 'a login that it signed may still be under way');
  store.clock.advance(days(7));
  t.same(await retire(store), { retired: 0 }, 'for seven days');
  store.clock.advance(days(1));
  t.same(await retire(store), { retired: 1 });
});

t.test('a root key that is deleted takes its tokens with it at once', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  t.match(await ada.get(whoami), { status: 200 });
  const entry = { at: store.clock.now.toISOString(), actor: 'test', action: 'test', object: 'root-keys' };
  const id = await newestKey(store);
  await store.beside.records.change(entry, (tx) => tx.rootKeys.remove(id!));
  t.match(await ada.get(whoami), {
    status: 401,
    body: { 'error-list': [{ code: 'macaroon-authorization-required' }] },
  });
});

t.test('a manual rotation takes effect for the next token, even right after another', async (t) => {
  const store = await startStore(t);
  const before = await store.as('ada');
  const actor = { actor: 'cli:test' };
  const made = [await store.beside.rootKeys.rotate(actor), await store.beside.rootKeys.rotate(actor)];
  t.equal(await newestKey(store), made[1]?.id);
  await store.as('bob');
  const { macaroons } = (await (await store.as('bob')).get('/v1/tokens')).body;
  t.equal(macaroons.length, 2);
  t.match(await before.get(whoami), { status: 200 });
});

t.test('two that find the root key too old make one new key between them', async (t) => {
  const store = await startStore(t);
  await store.as('ada');
  store.clock.advance(days(7));
  const keys = await Promise.all([1, 2, 3].map(() => store.beside.rootKeys.current()));
  t.equal(new Set(keys.map(({ id }) => id)).size, 1);
});

t.test('root keys are sealed at rest, and open under the site key alone', async (t) => {
  const store = await startStore(t);
  await store.as('ada');
  const { id, key } = await store.beside.rootKeys.current();
  const storedKey = await store.beside.records.rootKeys.find(id);
  t.notMatch(storedKey?.sealed, key.toString('base64url'));
  t.notMatch(storedKey?.sealed, key.toString('hex'));
  const { records, acts, newId } = store.beside;
  const options = { records, acts, newId, clock: () => store.clock.now, life: () => 7 };
  const stranger = createRootKeys({ ...options, siteKey: Buffer.alloc(32, 1) });
  await t.rejects(stranger.current(), { message: /^cannot open the root key .*: it was sealed with another site key/ });
});

t.test('a value that is sealed for one purpose opens for no other, and shows every change', (t) => {
  const key = Buffer.alloc(32, 7);
  const sealed = seal(key, Buffer.from('a secret'), 'root key 1');
  t.equal(unseal(key, sealed, 'root key 1').toString(), 'a secret');
  t.not(seal(key, Buffer.from('a secret'), 'root key 1'), sealed, 'never sealed the same way twice');
  t.throws(() => unseal(key, sealed, 'root key 2'), { message: /^cannot open the root key 2/ });
  // All but the last letter, which has unused bits.
  for (let at = 2; at < sealed.length - 1; at++) {
    const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
    t.throws(() => unseal(key, changed, 'root key 1'), `character ${at}`);
  }
  t.throws(() => unseal(key, '2.a.b', 'root key 1'), { message: /newer release/ });
  t.end();
});

t.test("a login under way outlives a change of the identity provider's key by a day", async (t) => {
  const store = await startStore(t);
  const { dischargerKeys } = store.beside;
  const [first] = await dischargerKeys.all();
  await dischargerKeys.rotate({ actor: 'cli:test' });
  t.equal((await dischargerKeys.all()).length, 2);
  t.not((await dischargerKeys.current()).publicKey.toString('hex'), first?.publicKey.toString('hex'));
  store.clock.advance(hours(23));
  t.equal((await dischargerKeys.all()).length, 2);
  t.same(await retire(store), { retired: 0 });
  store.clock.advance(hours(1) + 1);
  t.equal((await dischargerKeys.all()).length, 1);
  t.same(await retire(store), { retired: 1 });
  t.equal((await store.beside.records.dischargerKeys.list()).length, 1);
});
