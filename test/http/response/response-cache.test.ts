// Cached responses, and the changes that evict them.
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { createRepeatableResponseCache, type RepeatableResponseKey } from '#http/response/response-cache.ts';
import type { OutgoingResponse } from '#http/response/outgoing-response.ts';
import { days } from '#domain/clock.ts';
import { randomIds } from '#domain/ids.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { cachedTables, records } from '#records/index.ts';
import { sections } from '#operations/index.ts';
import { startStore, type Client } from '#test/fixtures/appliance.ts';
import { request } from '#test/fixtures/clients/raw.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { startTwoProcesses } from '#test/fixtures/processes/two-processes.ts';

const path = '/internal/v1/package-permissions';

const question = (more: Partial<RepeatableResponseKey> = {}): RepeatableResponseKey => ({
  principal: {} as Principal,
  generation: {},
  bytes: Buffer.from('{"filters":[]}'),
  ...more,
});

const maker = () => {
  const made = { times: 0 };
  return { made, make: (): OutgoingResponse => ({ status: 200, headers: {}, body: `answer ${++made.times}` }) };
};

t.test('a question that comes again has the same answer', async (t) => {
  const [repeats, { made, make }, asked] = [createRepeatableResponseCache(), maker(), question()];
  const answers = [1, 2, 3, 4].map(() => repeats(asked, make) as OutgoingResponse);
  t.same(
    answers.map(({ body }) => body),
    ['answer 1', 'answer 2', 'answer 2', 'answer 2'],
    'it is kept when it comes for the second time',
  );
  for (const other of [{ principal: {} as Principal }, { bytes: Buffer.from('{}') }, { generation: {} }]) {
    const before = made.times;
    repeats({ ...asked, ...other }, make);
    t.equal(made.times, before + 1, `not with another ${Object.keys(other).join()}`);
  }
  const before = made.times;
  repeats(asked, make);
  t.equal(made.times, before + 1, 'a generation that has gone does not come back');
});

t.test('a response that cannot be cached is computed each time', async (t) => {
  const repeats = createRepeatableResponseCache();
  const long = question({ bytes: Buffer.alloc(9000, ' ') });
  const { made, make } = maker();
  for (let times = 0; times < 3; times++) repeats(long, make);
  t.equal(made.times, 3, 'a long question');
  const asked = question();
  let calls = 0;
  const fail = () => {
    calls++;
    return Promise.reject(new Error('once'));
  };
  for (let times = 0; times < 3; times++) await t.rejects(Promise.resolve(repeats(asked, fail)), { message: 'once' });
  t.equal(calls, 3, 'a failure');
  const slow = question();
  const later = Promise.withResolvers<OutgoingResponse>();
  repeats(slow, make);
  const waiting = repeats(slow, () => later.promise);
  repeats({ ...slow, generation: {} }, make);
  later.resolve({ status: 200, headers: {}, body: 'of a generation that has gone' });
  await waiting;
  t.not((repeats(slow, make) as OutgoingResponse).body, 'of a generation that has gone');
});

t.test('the cache stays within its size', async (t) => {
  const repeats = createRepeatableResponseCache();
  const large = { status: 200, headers: {}, body: 'x'.repeat(1024 * 1024) };
  const [principal, generation] = [{} as Principal, {}];
  const asked = (at: number): RepeatableResponseKey => ({ principal, generation, bytes: Buffer.from(`{"at":${at}}`) });
  let made = 0;
  const ask = (at: number): void => void repeats(asked(at), () => ((made += 1), large));
  for (let at = 0; at < 12; at++) for (let times = 0; times < 3; times++) ask(at);
  t.equal(made, 24);
  ask(0);
  t.equal(made, 24, 'the first is still there');
  for (let at = 12; at < 20; at++) for (let times = 0; times < 3; times++) ask(at);
  ask(0);
  t.equal(made, 41, 'and with too many of them is not');
});

largeTest('of a hundred thousand requests without repetition nothing is cached', async (t) => {
  const repeats = createRepeatableResponseCache();
  const [principal, generation] = [{} as Principal, {}];
  const answers: WeakRef<OutgoingResponse>[] = [];
  for (let at = 0; at < 100_000; at++) {
    const bytes = Buffer.from(JSON.stringify({ filters: [{ type: 'snap', id: randomIds.id() }] }));
    const sent = await repeats({ principal, generation, bytes }, () => ({ status: 200, headers: {}, body: 'nothing' }));
    if (at % 100 === 0) answers.push(new WeakRef(sent));
  }
  setFlagsFromString('--expose-gc');
  await setImmediate();
  (runInNewContext('gc') as () => void)();
  const kept = answers.filter((answer) => answer.deref() !== undefined).length;
  t.ok(kept < 5, `${kept} of a thousand: where two had one mark`);
  repeats({ principal, generation, bytes: Buffer.from('{}') }, () => ({ status: 200, headers: {}, body: 'nothing' }));
});

/** Sends it three times, so that the last response comes from the cache. */
async function told(client: Pick<Client, 'post'>, ids: string[]) {
  const body = { filters: ids.map((id) => ({ type: 'snap', id })) };
  for (let times = 0; times < 2; times++) await client.post(path, body);
  return client.post(path, body);
}

t.test('an operation that may repeat its answer reads nothing that could change unseen', async (t) => {
  const store = await startStore(t);
  const repeatable = sections.flatMap(({ operations }) => operations).filter((op) => op.repeatable !== undefined);
  t.same(
    repeatable.map(({ name, method }) => [name, method]),
    [['package_permissions', 'POST']],
  );
  const db = openSqlite(join(store.directory, 'larder.db'));
  t.teardown(() => db.close());
  const asked: string[] = [];
  const watching = records({
    ...db,
    all: (s) => (asked.push(s.text.join('?')), db.all(s)),
    get: (s) => (asked.push(s.text.join('?')), db.get(s)),
  });
  for (const op of repeatable) {
    const call = {
      principal: { accountId: store.ids.ada, storeAdministrator: false, permissions: null, packages: null },
      body: { filters: [{ type: 'snap', id: 'a' }] },
      records: watching,
    };
    await op.handle(call as never);
    const tables = asked.flatMap((text) => [...text.matchAll(/\b(?:FROM|JOIN) (\w+)/g)].map(([, table = '']) => table));
    const known: string[] = [...cachedTables[op.repeatable ?? 'snapsFor'], 'noun_versions'];
    t.same(
      tables.filter((table) => !known.includes(table)),
      [],
      op.name,
    );
    t.ok(tables.length > 1);
  }
});

t.test('the caller and the form of the request are checked each time', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  t.match(await told(ada, [id]), { status: 200, body: { packages: [{ id }] } });
  const body = JSON.stringify({ filters: [{ type: 'snap', id }] });
  const ask = (headers: Record<string, string>): Promise<Response> =>
    fetch(`${store.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  const authorization = `Macaroon ${ada.token}`;
  t.equal((await ask({ authorization })).status, 200);
  t.equal((await ask({ authorization, 'content-type': 'text/plain' })).status, 415);
  t.equal((await ask({ authorization, 'content-encoding': 'gzip' })).status, 415);
  t.equal((await ask({})).status, 401);
  t.equal((await ask({ authorization: `${authorization}x` })).status, 401);
  const ids = new Set<string | null>();
  for (let times = 0; times < 3; times++) ids.add((await ask({ authorization })).headers.get('x-request-id'));
  t.equal(ids.size, 3, 'each answer has an id of its own');
  t.match(
    (await store.anyone.get('/metrics')).body,
    'larder_requests_total{operation="package_permissions",status="200"} 7\n',
  );
  store.clock.now = new Date(store.clock.now.getTime() + days(366));
  t.equal((await ask({ authorization })).status, 401, 'a token that has ended');
});

t.test('cached responses follow each change, by any actor', async (t) => {
  const { store, urls, turnTo } = await startTwoProcesses(t);
  const other = async (person: string): Promise<Client> => {
    const client = await store.as(person);
    const turned =
      <Arguments extends unknown[], Result>(ask: (...args: Arguments) => Result) =>
      (...args: Arguments): Result => {
        turnTo(1);
        return ask(...args);
      };
    return {
      ...client,
      post: turned(client.post),
      patch: turned(client.patch),
      delete: turned(client.delete),
      get: turned(client.get),
    };
  };
  const [ada, root] = [await other('ada'), await other('root')];
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  const bob = await store.as('bob');
  const gateway = await connection(urls[0] ?? '', bob.token, id);
  t.teardown(() => gateway.close());
  const has = async (): Promise<unknown> => (await gateway.ask()).body?.packages;
  for (let times = 0; times < 3; times++) t.same(await has(), [{ type: 'snap', id, 'allowed-by-revision': false }]);

  // Each request is sent before the response to the one before is read: the second sees the change in between.
  const changed = async (change: () => Promise<{ status: number }>, message: string) => {
    for (let times = 0; times < 3; times++) await gateway.ask();
    const before = gateway.ask();
    t.match(await change(), { status: /^20/ }, message);
    const after = gateway.ask();
    await before;
    return after;
  };
  t.match(await changed(() => ada.patch('/v1/snap/hello', { private: true }), 'made private'), {
    body: { packages: [] },
  });
  t.match(await changed(() => ada.patch('/v1/snap/hello', { private: false }), 'made public'), {
    body: { packages: [{ id, 'allowed-by-revision': false }] },
  });
  const rename = { 'display-name': 'Bob the Builder' };
  t.match(await changed(() => root.patch(`/internal/v1/accounts/${store.ids.bob}`, rename), 'another name'), {
    body: { account: rename },
  });
  t.match(await changed(() => ada.delete('/v1/snap/hello'), 'unregistered'), { body: { packages: [] } });
  t.match(await changed(() => root.post(`/internal/v1/accounts/${store.ids.bob}/disable`, {}), 'disabled'), {
    status: 401,
  });
});

t.test('a reload, which an unseal is too, lets all answers be forgotten', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  const db = new SQLite(join(store.directory, 'larder.db'));
  t.teardown(() => db.close());
  const bob = await store.as('bob');
  const count = async (): Promise<number> => (await told(bob, [id])).body.packages.length as number;
  t.equal(await count(), 1);
  // Changed directly in the database: no version shows it.
  db.transaction(() => {
    db.prepare('UPDATE packages SET private = 1').run();
    db.prepare("UPDATE noun_versions SET version = version - 1 WHERE noun = 'packages'").run();
  })();
  t.equal(await count(), 1, 'it is remembered');
  store.appliance.reload();
  t.equal(await count(), 0);
});

interface Told {
  status: number;
  body?: { packages: unknown; account: Record<string, string> };
}

/** One connection of a gateway, which asks the same question and need not wait for the answer before it asks again. */
async function connection(url: string, token: string, id: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const bytes = request(
    `POST ${path}`,
    [`Authorization: Macaroon ${token}`],
    JSON.stringify({ filters: [{ type: 'snap', id }] }),
  );
  const waiting: ((told: Told) => void)[] = [];
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    for (;;) {
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? NaN);
      if (head < 0 || !(text.length >= head + 4 + length)) return;
      const body = text.slice(head + 4, head + 4 + length);
      waiting.shift()?.({ status: Number(text.slice(9, 12)), body: JSON.parse(body) as Told['body'] & object });
      text = text.slice(head + 4 + length);
    }
  });
  return {
    ask: (): Promise<Told> => {
      const { promise, resolve } = Promise.withResolvers<Told>();
      waiting.push(resolve);
      socket.write(bytes);
      return promise;
    },
    close: () => socket.destroy(),
  };
}
