import t from 'tap';

import { eachWhileUnchanged, whileUnchanged } from '#records/unchanged.ts';
import { startStore } from '#test/fixtures/appliance.ts';

t.test('what was found is found again without looking, until something is committed', async (t) => {
  let version = 1;
  const asked: string[] = [];
  const find = whileUnchanged(
    () => version,
    (one: string, other: string) => Promise.resolve(asked.push(`${one} ${other}`)),
  );
  t.same([await find('a', 'b'), await find('a', 'b'), await find('ab', '')], [1, 1, 2]);
  version++;
  t.equal(await find('a', 'b'), 3);
});

t.test('several are found with one look at the version, and only the new ones looked for', async (t) => {
  let versions = 0;
  const asked: string[] = [];
  const find = eachWhileUnchanged(
    () => Math.min(1, ++versions),
    (one, common) => {
      asked.push(one);
      return Promise.resolve(`${one}/${common}`);
    },
  );
  t.same(await find(['a', 'b'], 'x'), ['a/x', 'b/x']);
  t.same(await find(['b', 'c'], 'x'), ['b/x', 'c/x']);
  t.same([asked, versions], [['a', 'b', 'c'], 2]);
});

t.test('a failure is not remembered', async (t) => {
  let calls = 0;
  const find = whileUnchanged(
    () => 1,
    () => (++calls === 1 ? Promise.reject(new Error('once')) : Promise.resolve('well')),
  );
  await t.rejects(find(), { message: 'once' });
  t.equal(await find(), 'well');
});

t.test('no more is kept than was said', async (t) => {
  let calls = 0;
  const find = whileUnchanged(
    () => 1,
    (one: string) => Promise.resolve(one === '' ? 0 : ++calls),
    2,
  );
  for (const one of ['a', 'b', 'c', 'a']) await find(one);
  t.equal(calls, 4);
});

t.test('a commit of another connection shows on the next request', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const at = store.clock.now.toISOString();
  for (let round = 0; round < 20; round++) {
    t.match(await ada.get('/v1/tokens/whoami'), { status: 200 });
    const token = await store.as('bob');
    t.match(await token.get('/v1/tokens/whoami'), { status: 200 });
    const [macaroon] = (await token.get('/v1/tokens')).body.macaroons.slice(-1) as { 'session-id': string }[];
    const session = macaroon?.['session-id'] ?? '';
    await store.beside.records.change({ at, actor: 'test', action: 'revoke', object: session }, (tx) =>
      tx.macaroons.revoke(session, store.ids.bob, at),
    );
    t.match(await token.get('/v1/tokens/whoami'), { status: 401 });
  }
});
