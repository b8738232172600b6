// Commands beside a serving process: their changes show on the next request, and it leaves them their files.
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { withBlobs } from '#data/blobs.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { openStore } from '#test/fixtures/records/writable.ts';
import { newStore, serve } from '#test/cli/process.ts';

t.test('a token that a command revokes is refused from the next request on', async (t) => {
  const { data, json, larder } = await newStore(t);
  const { url } = await serve(t, data);
  await json('account create --email ada@example.org --username ada --display-name Ada --id ada-id');
  interface Issued {
    macaroon: string;
    'session-id': string;
  }
  const issue = async (): Promise<Issued> => (await json('token issue --account ada-id')) as Issued;
  const status = async ({ macaroon }: Issued): Promise<number> =>
    (await fetch(`${url}/v1/tokens/whoami`, { headers: { authorization: `Macaroon ${macaroon}` } })).status;
  const [first, two, three] = [await issue(), await issue(), await issue()];
  for (const token of [first, two, three]) t.equal(await status(token), 200);

  await larder(`token revoke ${first['session-id']} --yes`);
  t.same([await status(first), await status(two), await status(three)], [401, 200, 200]);
  t.match(await json('account disable ada-id --end-tokens --yes'), { 'ended-tokens': 2 });
  t.same([await status(two), await status(three)], [401, 401]);
  await json('account enable ada-id');
  t.same([await status(first), await status(two), await status(three)], [401, 401, 401], 'and they stay ended');
  t.equal(await status(await issue()), 200);

  t.match(await larder('account disable larder-admin --yes'), {
    code: 1,
    err: /^larder: The account 'larder-admin' is the only store administrator who is not disabled\. Make another one first/,
  });
  t.match(await json('account role larder-admin store-admin --remove --yes'), { code: 'conflict' });
  await json('account role ada-id store-admin');
  t.match(await json('account role larder-admin store-admin --remove --yes'), { roles: [] });
  t.match(await json('account disable ada-id --yes'), { code: 'conflict' });
});

t.test('accounts, tokens, roles, names and brands show on the next request', async (t) => {
  const { data, json } = await newStore(t);
  const { url, child, ended } = await serve(t, data);
  const get = async (path: string, token: string) => {
    const answer = await fetch(url + path, { headers: { authorization: `Macaroon ${token}` } });
    return { status: answer.status, body: await answer.json() };
  };
  const join = async (name: string) => {
    await json(`account create --email ${name}@example.org --username ${name} --display-name ${name} --id ${name}-id`);
    return ((await json(`token issue --account ${name}-id`)) as { macaroon: string }).macaroon;
  };
  const [ada, bob] = [await join('ada'), await join('bob')];
  t.match(await get('/v1/tokens/whoami', ada), { status: 200, body: { account: { id: 'ada-id', username: 'ada' } } });

  t.match(await get('/v1/snap/hello', bob), { status: 404 });
  await json('package register snap/hello --account bob-id');
  t.match(await get('/v1/snap/hello', bob), { status: 200 });

  t.match(await get('/v1/snap/hello', ada), { status: 404 }, "bob's package is not for ada to see");
  await json('account role ada-id store-admin');
  t.match(await get('/v1/snap/hello', ada), { status: 200 }, 'until ada administers the store');
  await json('account role ada-id store-admin --remove --yes');
  t.match(await get('/v1/snap/hello', ada), { status: 404 }, 'and no longer');

  t.match(await get('/v1/brand/bob-id', bob), { status: 404 });
  await json('brand create --account bob-id --name Bob');
  t.match(await get('/v1/brand/bob-id', bob), { status: 200, body: { name: 'Bob' } });
  t.match(await get('/v1/brand/bob-id', ada), { status: 404 });
  await json('account role ada-id brand-admin:bob-id');
  t.match(await get('/v1/brand/bob-id', ada), { status: 200 });

  t.match(await json('account list'), { accounts: [{ id: 'larder-admin' }, { id: 'ada-id' }, { id: 'bob-id' }] });
  child.kill('SIGTERM');
  t.match(await ended, { code: 0 });
});

largeTest('a clock that is accepted is right from then on', async (t) => {
  const { data, json, larder } = await newStore(t);
  const wrong = '2099-01-01T00:00:00.000Z';
  const store = await openStore({ directory: data });
  const entry = { at: wrong, actor: 'test', action: 'test', object: 'clock' };
  await store.records.change(entry, (tx) => tx.appliance.set('latest-time', wrong));
  await store.close();

  const serving = await serve(t, data);
  const problems = async (url: string) =>
    ((await (await fetch(`${url}/readyz`)).json()) as { problems: string[] }).problems;
  t.match(await problems(serving.url), [/^The clock says .*run 'larder clock accept'\.$/]);
  t.match(await json('clock accept'), { accepted: new Date().toISOString().slice(0, 13), before: wrong });
  t.match(await larder('clock accept'), {
    code: 0,
    out: /^The clock is right at .* A running server follows within a minute\.\n$/,
  });
  serving.child.kill('SIGTERM');
  await serving.ended;
  const again = await serve(t, data);
  t.strictSame(await problems(again.url), [], 'also when the process that had seen the wrong time stops after that');
});

t.test(
  'a store that starts keeps the temporary files of a command beside it, and removes those of ended ones',
  async (t) => {
    const { data } = await newStore(t);
    const store = await openStore({ directory: data });
    t.teardown(store.close);
    const file = join(data, 'blobs/tmp', randomUUID());
    await withBlobs(store, async () => {
      writeFileSync(file, 'received in part');
      const server = await serve(t, data);
      t.ok(existsSync(file));
      server.child.kill();
      await server.ended;
    });
    await serve(t, data);
    t.notOk(existsSync(file));
  },
);
