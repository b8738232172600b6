// Cached responses, and the changes that evict them.
import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import SQLite from 'better-sqlite3';
import t from 'tap';

import type { Exchange } from '#http/exchange.ts';
import { RepeatedResponses } from '#http/fast-path.ts';
import { ResponseCache } from '#http/response/response-cache.ts';
import type { ServerServices } from '#http/services.ts';
import type { OutgoingResponse } from '#http/response/outgoing-response.ts';
import { days } from '#domain/clock.ts';
import { randomIds } from '#domain/ids.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { cachedTables, records } from '#records/index.ts';
import { sections } from '#operations/index.ts';
import { startStore, type Client } from '#test/fixtures/appliance.ts';
import { request } from '#test/fixtures/clients/raw.ts';
import { startTwoProcesses } from '#test/fixtures/processes/two-processes.ts';

const path = '/internal/v1/package-permissions';

const answer = (body = 'answer'): { body: string } => ({ body });
const cacheOf = (maxBytes: number) =>
  new ResponseCache({ maxBytes, sizeOf: ({ body }: { body: string }) => body.length });

t.test('a response is found by all parts of its key, in its generation only', (t) => {
  const cache = cacheOf(10_000);
  const [generation, principal] = [{}, {}];
  const cached = cache.in(generation);
  t.equal(cached.get(['list', principal]), undefined);
  cached.set(['list', principal], answer());
  t.same(cache.in(generation).get(['list', principal]), answer());
  for (const other of [['list', {}], ['other', principal], ['list'], ['list', principal, 'more'], [principal, 'list']])
    t.equal(cached.get(other), undefined, `not by ${JSON.stringify(other)}`);

  const next = cache.in({});
  t.equal(next.get(['list', principal]), undefined, 'another generation begins empty');
  cached.set(['late', principal], answer('of the former generation'));
  t.equal(next.get(['late', principal]), undefined, 'a response that was made from former records is lost');
  t.equal(cache.in(generation).get(['list', principal]), undefined, 'a former generation does not come back');
  t.end();
});

t.test('the cache never holds more bytes than it may', async (t) => {
  const maxBytes = 20_000;
  const text = 'x'.repeat(1000);
  const ways: Record<string, { key: (at: number) => string; body: string; isShared?: boolean }> = {
    'large values': { key: String, body: text },
    'large keys': { key: (at) => `${at} ${text}`, body: '' },
    'small entries, which take room too': { key: String, body: '' },
    'responses that are shared': { key: String, body: text, isShared: true },
  };
  for (const [name, { key, body, isShared = false }] of Object.entries(ways)) {
    const cached = cacheOf(maxBytes).in({});
    const heldCounts: number[] = [];
    let isNewestThere = true;
    for (let at = 0; at < 200; at++) {
      if (isShared) await cached.share([key(at)], () => Promise.resolve(answer(body)));
      else cached.set([key(at)], answer(body));
      isNewestThere &&= cached.get([key(at)]) !== undefined;
      heldCounts.push(Array.from({ length: 200 }, (_, other) => cached.get([key(other)])).filter(Boolean).length);
    }
    const [maximum, size] = [Math.max(...heldCounts), 200 + key(0).length + body.length];
    t.ok(isNewestThere, `${name}: the newest is there`);
    t.ok(maximum > 5 && maximum * size <= maxBytes, `${name}: ${maximum} at a time`);
  }
  const cached = cacheOf(maxBytes).in({});
  cached.set(['small'], answer());
  cached.set(['large'], answer('x'.repeat(maxBytes)));
  t.equal(cached.get(['large']), undefined, 'a value that is larger than the cache');
});

t.test('callers that ask for a response at the same time share one', async (t) => {
  const cached = cacheOf(10_000).in({});
  let made = 0;
  const make = async () => {
    await setImmediate();
    return answer(`answer ${++made}`);
  };
  const ask = () => cached.share(['names'], make);
  t.same(await Promise.all([ask(), ask()]), [answer('answer 1'), answer('answer 1')]);
  t.same(await ask(), answer('answer 1'));
  const fail = () => cached.share(['other'], () => Promise.reject(new Error('the disk is full')));
  await t.rejects(Promise.all([fail(), fail()]), { message: 'the disk is full' });
  t.same(await cached.share(['other'], make), answer('answer 2'), 'a failure is not cached');
});

t.test('questions that come once, or are long, are not cached; others are bounded', async (t) => {
  const operations = sections.flatMap((section) => section.operations);
  const op = operations.find(({ name }) => name === 'package_permissions')!;
  const repeated = new RepeatedResponses(operations);
  const generation = {};
  const services = { records: { cacheGenerations: { snapsFor: () => generation } } } as unknown as ServerServices;
  const principal = {} as Principal;
  let made = 0;
  const ask = async (body: string, caller = principal): Promise<OutgoingResponse> => {
    const request = Object.assign(new IncomingMessage(new Socket()), { complete: true });
    request.headers['content-length'] = String(body.length);
    request.push(body);
    const entry = await repeated.entryFor(op, { principal: caller, request } as unknown as Exchange, services);
    if (entry?.cached !== undefined) return entry.cached;
    const outgoing = { status: 200, headers: {}, body: `answer ${++made}` };
    entry?.keep(outgoing);
    return outgoing;
  };
  const question = (): string => JSON.stringify({ filters: [{ type: 'snap', id: randomIds.id() }] });
  const responses: WeakRef<OutgoingResponse>[] = [];
  for (let at = 0; at < 10_000; at++) {
    const sent = await ask(question());
    if (at % 10 === 0) responses.push(new WeakRef(sent));
  }
  setFlagsFromString('--expose-gc');
  await setImmediate();
  (runInNewContext('gc') as () => void)();
  const cachedCount = responses.filter((response) => response.deref() !== undefined).length;
  t.ok(cachedCount < 5, `${cachedCount} of a thousand: where two had one mark`);

  const [again, long] = [question(), `{}${' '.repeat(9000)}`];
  for (const [body, times] of [
    [again, 2],
    [long, 5],
  ] as const) {
    const before = made;
    for (let time = 0; time < 5; time++) await ask(body);
    t.equal(made - before, times, body.slice(0, 60).trim());
  }
  const before = made;
  await ask(again, {} as Principal);
  t.equal(made, before + 1, 'another caller');
});

/** Sends it three times, so that the last response comes from the cache. */
async function readCached(client: Pick<Client, 'post'>, ids: string[]) {
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
  const statements: string[] = [];
  const watching = records({
    ...db,
    all: (s) => (statements.push(s.text.join('?')), db.all(s)),
    get: (s) => (statements.push(s.text.join('?')), db.get(s)),
  });
  for (const op of repeatable) {
    const call = {
      principal: { accountId: store.ids.ada, storeAdministrator: false, permissions: null, packages: null },
      body: { filters: [{ type: 'snap', id: 'a' }] },
      records: watching,
    };
    await op.handle(call as never);
    const tables = statements.flatMap((text) =>
      [...text.matchAll(/\b(?:FROM|JOIN) (\w+)/g)].map(([, table = '']) => table),
    );
    const declaredTables: string[] = [...cachedTables[op.repeatable ?? 'snapsFor'], 'noun_versions'];
    t.same(
      tables.filter((table) => !declaredTables.includes(table)),
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
  t.match(await readCached(ada, [id]), { status: 200, body: { packages: [{ id }] } });
  const body = JSON.stringify({ filters: [{ type: 'snap', id }] });
  const ask = (headers: Record<string, string>): Promise<Response> =>
    fetch(`${store.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  const authorization = `Macaroon ${ada.token}`;
  t.equal((await ask({ authorization })).status, 200);
  t.equal((await ask({ authorization, 'content-type': 'text/plain' })).status, 415);
  t.equal((await ask({ authorization, 'content-encoding': 'gzip' })).status, 415);
  t.equal((await ask({})).status, 401);
  t.equal((await ask({ authorization: `${authorization}x` })).status, 401);
  // Bob asks the same: the snap is private now, so it is there for ada alone.
  t.equal((await ada.patch('/v1/snap/hello', { private: true })).status, 200);
  const bob = await store.as('bob');
  const theirs = await Promise.all([1, 2, 3, 4, 5, 6].map((time) => readCached(time % 2 === 0 ? ada : bob, [id])));
  t.same(
    theirs.map((reply) => (reply.body as { packages: unknown[] }).packages.length),
    [0, 1, 0, 1, 0, 1],
    'each account gets its own response',
  );
  const ids = new Set<string | null>();
  for (let times = 0; times < 3; times++) ids.add((await ask({ authorization })).headers.get('x-request-id'));
  t.equal(ids.size, 3, 'each answer has an id of its own');
  t.match(
    (await store.anyone.get('/metrics')).body,
    'larder_requests_total{operation="package_permissions",status="200"} 25\n',
  );
  store.clock.now = new Date(store.clock.now.getTime() + days(366));
  t.equal((await ask({ authorization })).status, 401, 'a token that has ended');
});

t.test('no cached response survives a revocation', async (t) => {
  const store = await startStore(t);
  const [ada, root, bob] = [await store.as('ada'), await store.as('root'), await store.as('bob')];
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  const gateways = [await connection(store.url, bob.token, id), await connection(store.url, ada.token, id)];
  t.teardown(() => gateways.forEach((gateway) => gateway.close()));
  for (const gateway of gateways) for (let times = 0; times < 4; times++) t.match(await gateway.ask(), { status: 200 });
  // Neither changes the records of the response.
  t.match(await root.post(`/internal/v1/accounts/${store.ids.bob}/disable`, {}), { status: /^20/ });
  t.match(await gateways[0]?.ask(), { status: 401 }, 'a disabled account');
  t.match(await gateways[1]?.ask(), { status: 200 }, 'another account');
  store.clock.now = new Date(store.clock.now.getTime() + days(366));
  t.match(await gateways[1]?.ask(), { status: 401 }, 'an expired token');
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
  const count = async (): Promise<number> => (await readCached(bob, [id])).body.packages.length as number;
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
