// Changes of the store, followed by their numbers.
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { acceptAudit } from '#acts/store/appliance.ts';
import { createChangeFeed } from '#shared/change-feed.ts';
import { rowsIn } from '#test/fixtures/records/behind.ts';
import { startStore, type Reply, type TestAppliance } from '#test/fixtures/appliance.ts';
import { until } from '#test/fixtures/until.ts';
import { larder } from '#test/cli/world.ts';

const path = '/internal/v1/changes';

interface Change {
  seq: number;
  act: string;
  object: string;
}

const refused = (status: number, code: string) => ({ status, body: { 'error-list': [{ code }] } });

const epochIn = (directory: string): string =>
  rowsIn<{ value: string }>(directory, "SELECT value FROM appliance WHERE name = 'store-epoch'")[0]!.value;

const putOff = (store: TestAppliance) =>
  store.beside.records.change(
    { at: store.clock.now.toISOString(), actor: 'test', action: 'put_off', object: 'login', outcome: 'refused' },
    () => Promise.resolve(),
  );

t.test('a store administrator follows the changes, in order and each once', async (t) => {
  const store = await startStore(t);
  const [root, ada] = [await store.as('root'), await store.as('ada')];
  const ask = (query: string) => root.get(`${path}?${query}`);

  const start = (await root.get(path)).body as { next: number };
  t.match(start, { changes: [], next: Number, 'store-epoch': epochIn(store.directory) }, 'where the feed stands');
  await ada.post('/v1/snap', { name: 'hello' });
  await putOff(store);
  await ada.post('/v1/charm', { name: 'hello' });
  const former = { at: store.clock.now.toISOString(), actor: 'test', action: 'guardrail add', object: 'snap/hello' };
  await store.beside.records.change(former, () => Promise.resolve());
  const { body } = await ask(`since=${start.next}`);
  t.match(body.changes, [
    { seq: start.next + 1, at: store.clock.now.toISOString(), act: 'register_name', object: 'snap/hello' },
    { seq: start.next + 3, act: 'register_name', object: 'charm/hello' },
    { seq: start.next + 4, act: 'add_guardrail', object: 'snap/hello' },
  ]);
  t.same(Object.keys((body.changes as Change[])[0]!).sort(), ['act', 'at', 'object', 'seq'], 'and nothing else of it');
  t.equal(body.next, start.next + 4);
  await putOff(store);
  t.match((await ask(`since=${body.next}`)).body, { changes: [], next: start.next + 5 }, 'what is not told counts');
  t.equal(((await ask('since=0')).body.changes as Change[])[0]?.seq, 1);

  t.match(await ask(`since=${start.next + 6}`), refused(410, 'reset'), 'a number that nothing has');
  t.match(await ask(`since=${start.next}&store-epoch=${body['store-epoch']}`), { status: 200 });
  t.match(await ask(`since=${start.next}&store-epoch=another`), refused(410, 'reset'));
  for (const query of ['since=x', 'since=-1', 'since=', 'since=01', 'since=1&since=2', `since=${'9'.repeat(16)}`]) {
    t.match(await ask(query), { status: 400 }, query);
  }
  for (const query of ['since=0&wait=61', 'since=0&wait=x', 'since=0&wait=1000', 'since=0&store-epoch=']) {
    t.match(await ask(query), { status: 400 }, query);
  }
  t.match(await ask(`since=${'9'.repeat(15)}&wait=60`), refused(410, 'reset'));
  t.match(await ada.get(`${path}?since=0`), refused(401, 'permission-required'));
  t.match(await store.anyone.get(`${path}?since=0`), { status: 401 });
  const narrowed = await store.as('root', { packages: [{ type: 'snap', name: 'hello' }] });
  t.match(await narrowed.get(`${path}?since=0`), refused(401, 'permission-required'));
});

t.test('a waiting client is told at once of a change by any process', async (t) => {
  const store = await startStore(t);
  const root = await store.as('root');
  const { next } = (await root.get(path)).body as { next: number };
  const waiting = root.get(`${path}?since=${next}&wait=60`);
  await putOff(store);
  const { records } = store.beside;
  const entry = { at: store.clock.now.toISOString(), actor: 'test', action: 'try', object: 'x' };
  await records.change(entry, () => Promise.resolve());
  t.match(await waiting, { status: 200, body: { changes: [{ seq: next + 2, act: 'try' }], next: next + 2 } });
  t.match(await root.get(`${path}?since=${next + 2}&wait=1`), { body: { changes: [], next: next + 2 } }, 'or nothing');

  const before = epochIn(store.directory);
  const surprised = root.get(`${path}?since=${next + 2}&wait=60&store-epoch=${before}`);
  await store.beside.acts.beginAnew(acceptAudit, { actor: 'cli:test' }, { problems: [] });
  t.not(epochIn(store.directory), before);
  t.match(await surprised, refused(410, 'reset'));
});

t.test('the number of waiting clients is bounded, and a store that stops releases them', async (t) => {
  const store = await startStore(t);
  const root = await store.as('root');
  const { next } = (await root.get(path)).body as { next: number };
  const waiting: Promise<Reply>[] = [];
  let refusal: Reply | undefined;
  const note = (reply: Reply): Reply => {
    if (reply.status === 429) refusal = reply;
    return reply;
  };
  for (let nth = 0; nth < 65; nth++) waiting.push(root.get(`${path}?since=${next}&wait=60`).then(note));
  await until(() => refusal !== undefined);
  t.match(refusal?.headers.get('retry-after'), /^\d+$/);
  t.match(await root.get(`${path}?since=${next}`), { status: 200 }, 'who does not wait is answered');
  await store.appliance.stop();
  const statuses = (await Promise.all(waiting)).map(({ status }) => status).sort();
  t.same(statuses, [...Array<number>(64).fill(200), 429]);
});

t.test('a client that hangs up makes room for another', async (t) => {
  const { records } = (await startStore(t)).beside;
  const feed = createChangeFeed(records, 1);
  const { next } = await feed.read({ since: undefined, epoch: undefined }, { limit: 1, timeoutMs: 0, signal: alive() });
  const hanging = new AbortController();
  const position = { since: next, epoch: undefined };
  const first = feed.read(position, { limit: 1, timeoutMs: 60_000, signal: hanging.signal });
  await t.rejects(feed.read(position, { limit: 1, timeoutMs: 60_000, signal: alive() }), { code: 'too-many-requests' });
  hanging.abort();
  t.same((await first).changes, []);
  const second = feed.read(position, { limit: 1, timeoutMs: 60_000, signal: alive() });
  feed.close();
  t.same((await second).changes, []);
});

const alive = (): AbortSignal => new AbortController().signal;

t.test('a store that was restored begins another epoch', async (t) => {
  const store = await startStore(t);
  const folder = t.testdir();
  const [keys, file, data] = ['keys', 'full.tar', 'data'].map((name) => join(folder, name)) as [string, string, string];
  mkdirSync(keys);
  for (const name of ['site.key', 'master.key']) cpSync(join(store.directory, name), join(keys, name));
  t.match(await larder(`backup --data ${store.directory} ${file}`), { code: 0 });
  t.match(await larder(`restore ${file} --data ${data} --keys ${keys}`), { code: 0 });
  t.match(epochIn(data), /^[0-9a-f]{32}$/);
  t.not(epochIn(data), epochIn(store.directory));
});
