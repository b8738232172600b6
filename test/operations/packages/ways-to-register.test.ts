// A name is registered over the interface, as the older publishing tools do it, and by a command on the host: one act.
import t from 'tap';

import { mediaType } from '#assertions/format/assertion.ts';
import { chain } from '#test/assertions/vectors.ts';
import { now } from '#test/assertions/world.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addOnlineBrand, trustingVectors } from '#test/fixtures/brands.ts';
import { larder } from '#test/cli/world.ts';

/** The outcome of a try: the id, or the refusal. */
type Outcome = string | { code: string; message: string };

/** The three ways for the account `person` to register a snap. */
async function waysIn(
  store: TestAppliance,
  person: string,
): Promise<Record<string, (name: string) => Promise<Outcome>>> {
  const client = await store.as(person);
  return {
    async interface(name) {
      const { body } = await client.post('/v1/snap', { name });
      return (body.id as string | undefined) ?? body['error-list'][0];
    },
    async 'older tools'(name) {
      const { body } = await client.post('/dev/api/register-name/', { snap_name: name });
      return (body.snap_id as string | undefined) ?? body.error_list[0];
    },
    async host(name) {
      const line = `package register snap/${name} --account ${store.ids[person] ?? ''} --data ${store.directory} --json`;
      const { out, err } = await larder(line);
      if (out !== '') return (JSON.parse(out) as { id: string }).id;
      const { code, error: message } = JSON.parse(err) as { code: string; error: string };
      return { code, message };
    },
  };
}

/** The records of a snap and the last entry of the audit log, without the time and the actor. */
async function readRecords(store: TestAppliance, name: string) {
  const { packages, tracks, audit } = store.beside.records;
  const { createdAt, ...row } = (await packages.find('snap', name))!;
  const { action, object, outcome, details } = (await audit.newest(Number.MAX_SAFE_INTEGER, 1))[0]!;
  const own = await tracks.list(row.id);
  const sameAge = own.every((track) => track.createdAt === createdAt);
  const entry = { action, object, outcome, details: JSON.parse(details) as unknown };
  return { row, tracks: own.map((track) => ({ ...track, createdAt: null })), sameAge, entry };
}

t.test('the three ways to register a snap are one act', async (t) => {
  const store = await startStore(t, trustingVectors(t));
  store.clock.now = now;
  await addOnlineBrand(store, 'my-brand');
  const brand = await store.as('my-brand');
  const imported = ['store-account-key', 'brand-account', 'decl-ra'].map((name) => chain.assertions[name]).join('\n');
  t.match(await brand.post('/v1/brand/my-brand/assertions', imported, { 'content-type': mediaType }), { status: 201 });
  const id = 'pYVQrBcKmBa0mZ4CCN7ExT6jH8rY1hza';

  await t.test('a snap with an imported declaration gets its online id, the same row and the same entry', async (t) => {
    const results = [];
    for (const [way, register] of Object.entries(await waysIn(store, 'my-brand'))) {
      t.equal(await register('foo'), id, way);
      results.push(await readRecords(store, 'foo'));
      t.match(await brand.delete('/v1/snap/foo'), { status: 200 });
    }
    t.match(results[0], {
      row: { id, name: 'foo', type: 'snap', publisherId: 'my-brand', private: false, status: 'registered' },
      tracks: [{ name: 'latest' }],
      sameAge: true,
      entry: { action: 'register_name', object: 'snap/foo', outcome: 'done', details: { id, account: 'my-brand' } },
    });
    t.same(results[1], results[0]);
    t.same(results[2], results[0]);
  });

  await t.test('for accounts other than the publisher of the declaration it is a new snap', async (t) => {
    const ada = await store.as('ada');
    for (const [way, register] of Object.entries(await waysIn(store, 'ada'))) {
      const outcome = await register('foo');
      t.match(outcome, /^[a-zA-Z0-9]{32}$/, way);
      t.not(outcome, id, way);
      t.match(await ada.delete('/v1/snap/foo'), { status: 200 });
    }
  });

  await t.test('a taken or guarded name is refused in the same words', async (t) => {
    const [ada, bob] = [await waysIn(store, 'ada'), await waysIn(store, 'bob')];
    await ada['interface']!('hello');
    const same = async (ways: typeof ada, name: string): Promise<Outcome> => {
      const [first, ...others] = await Promise.all(Object.values(ways).map((register) => register(name)));
      for (const outcome of others) t.same(outcome, first, name);
      return first!;
    };
    t.match(await same(ada, 'hello'), { code: 'already-owned', message: /has already registered the name 'hello'/ });
    t.match(await same(bob, 'hello'), { code: 'already-registered', message: "The name 'hello' is taken." });
    t.match(await same(bob, 'featured'), { code: 'reserved-name', message: /part of the store's own addresses/ });
    await larder(`package register snap/holder --account ${store.ids.ada} --id ${id} --data ${store.directory}`);
    t.match(await same(await waysIn(store, 'my-brand'), 'foo'), { code: 'conflict', message: /id '\w{32}' is taken/ });
  });
});
