// Logins in progress: few, short and bounded, with any behaviour of clients.
import t from 'tap';

import type { Interactions, ProvenAccount } from '#http/identity-provider.ts';
import { minutes } from '#domain/clock.ts';
import { createInteractions } from '#identity/login/interactions.ts';
import type { AddressedCaveat } from '#macaroons/discharger.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { openRecords } from '#test/fixtures/records/records.ts';

const account = (id: string): ProvenAccount => ({
  passwordSetAt: '2026-01-01T00:00:00.000Z',
  id,
  username: id,
  displayName: id,
  email: `${id}@example.com`,
  validation: 'unproven',
  createdAt: '2026-03-01T12:00:00.000Z',
});
const caveat = (id: string): AddressedCaveat => ({
  id: Buffer.from(id),
  condition: 'is-authenticated-user',
  purpose: undefined,
  payload: {
    version: 2,
    condition: 'is-authenticated-user',
    rootKey: Buffer.from(id),
    firstPartyKey: Buffer.alloc(32),
    namespace: new Map(),
  },
});
const never = new AbortController().signal;
const expired = { code: 'login-expired' };

type Test = Parameters<typeof openRecords>[0];

async function world(t: Test, bounds = {}) {
  const clock = { now: new Date('2026-03-01T12:00:00Z') };
  const both = await openRecords(t, 2);
  const at = clock.now.toISOString();
  await both[0].change({ at, actor: 'test', action: 'try', object: 'x' }, async (tx) => {
    for (const name of ['ada', 'bob']) await filler(tx, at).account(name);
  });
  const siteKey = Buffer.alloc(32, 7);
  const [interactions, elsewhere] = both.map((records) =>
    createInteractions({ records, siteKey, now: () => clock.now, bounds }),
  ) as [Interactions, Interactions];
  t.teardown(() => {
    interactions.close();
    elsewhere.close();
  });
  return { clock, interactions, elsewhere };
}

t.test('the browser and the client know a login by different names, and neither can be guessed', async (t) => {
  const { interactions } = await world(t);
  const begun = Array.from({ length: 50 }, () => interactions.begin({ caveat: caveat('x'), address: '10.0.0.1' }));
  const made = await Promise.all(begun);
  const names = made.flatMap(({ id, waitId }) => [id, waitId]);
  t.equal(new Set(names).size, 100);
  for (const name of names) t.match(name, /^[0-9a-f]{64}ID$/);
  await t.rejects(interactions.find(made[0]!.waitId), expired);
});

t.test('one client has at most 200 logins in progress, and none of them is abandoned for a new one', async (t) => {
  const { interactions, elsewhere, clock } = await world(t, { all: 450 });
  const begin = (address: string, instance = interactions) => instance.begin({ caveat: caveat('x'), address });
  const refused = { code: 'too-many-requests', status: 429, retryAfter: 60 };
  const first = await begin('10.0.0.1');
  for (let at = 0; at < 199; at++) await begin('10.0.0.1', at % 2 === 0 ? interactions : elsewhere);
  await t.rejects(begin('10.0.0.1'), refused);
  await t.rejects(begin('10.0.0.1', elsewhere), refused, 'wherever they were begun');
  const theirs = await begin('10.0.0.2');
  for (let at = 0; at < 200; at++) await begin(`2001:db8::${at.toString(16)}`);
  await t.rejects(begin('2001:db8::ffff'), refused, 'all addresses of a client with IPv6 are one client');
  for (let at = 401; at < 450; at++) await begin(`10.1.${at >> 7}.1`);
  await t.rejects(begin('10.0.0.3'), refused, 'and all together have a bound');
  t.equal((await interactions.find(first.id)).id, first.id);
  t.equal((await interactions.find(theirs.id)).id, theirs.id);
  clock.now = new Date(clock.now.getTime() + minutes(15));
  t.ok(await begin('10.0.0.1'), 'those that have expired make room');
});

t.test('of one client the logins under way take a bounded number of bytes', async (t) => {
  const { interactions } = await world(t, { bytesOfClient: 9000 });
  const begin = (address: string) => interactions.begin({ caveat: caveat('x'.repeat(1500)), address });
  await begin('10.0.0.1');
  await t.rejects(begin('10.0.0.1'), { code: 'too-many-requests' });
  t.ok(await begin('10.0.0.2'));
});

t.test('each step of a login may be done by another process of the store', async (t) => {
  const { interactions, elsewhere } = await world(t);
  const addressedCaveat = caveat('one');
  const { id, waitId } = await interactions.begin({ caveat: addressedCaveat, address: '10.0.0.1' });
  t.same((await elsewhere.find(id)).caveat, addressedCaveat, 'what it is for is the same');
  const waiting = elsewhere.wait(waitId, never);
  await elsewhere.halfway(id, account('ada'));
  t.match((await interactions.find(id)).halfway, { id: 'ada' });
  const token = await interactions.finish(id, account('ada'));
  t.match(await waiting, { token, caveat: { condition: addressedCaveat.condition } });
  t.match(await elsewhere.findFinishedAccount(id), { id: 'ada' });
  await t.rejects(elsewhere.finish(id, account('bob')), expired);
  const both = await Promise.allSettled([
    interactions.redeem(token, addressedCaveat),
    elsewhere.redeem(token, addressedCaveat),
  ]);
  t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'], 'a token is good once');
  const code = await interactions.codeFor('a token');
  const codes = await Promise.allSettled([interactions.tokenFor(code), elsewhere.tokenFor(code)]);
  t.same(codes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'], 'and so is a code');
});

t.test('a waiting client is told when the login is finished or abandoned, or when it disconnects', async (t) => {
  const { interactions } = await world(t);
  const started = await interactions.begin({ caveat: caveat('one'), address: '10.0.0.1' });
  const waiting = [interactions.wait(started.waitId, never), interactions.wait(started.waitId, never)];
  const token = await interactions.finish(started.id, account('ada'));
  for (const each of await Promise.all(waiting)) t.match(each, { token });

  const other = await interactions.begin({ caveat: caveat('other'), address: '10.0.0.1' });
  const gone = new AbortController();
  const impatient = interactions.wait(other.waitId, gone.signal);
  gone.abort();
  await t.rejects(impatient, expired);

  const last = interactions.wait(other.waitId, never);
  interactions.close();
  await t.rejects(last, expired);
  await t.rejects(interactions.begin({ caveat: caveat('x'), address: '10.0.0.1' }), expired);
});

t.test('a token is valid for its caveat, once, and the number of stored tokens is bounded', async (t) => {
  const { interactions, clock } = await world(t, { proofs: 20 });
  let clients = 0;
  const finish = async (name: string): Promise<string> => {
    const { id } = await interactions.begin({
      caveat: caveat(name),
      address: `10.0.${(clients += 1) >> 8}.${clients & 255}`,
    });
    return interactions.finish(id, account('ada'));
  };
  const denied = { code: 'permission-required' };
  const token = await finish('one');
  await t.rejects(interactions.redeem(token, caveat('two')), denied);
  t.strictSame(await interactions.redeem(token, caveat('one')), { accountId: 'ada', provenBy: null });
  await t.rejects(interactions.redeem(token, caveat('one')), denied);
  const late = await finish('one');
  clock.now = new Date(clock.now.getTime() + minutes(10));
  await t.rejects(interactions.redeem(late, caveat('one')), denied);
  const first = await finish('one');
  for (let at = 0; at < 20; at++) await finish('one');
  await t.rejects(interactions.redeem(first, caveat('one')), denied, 'the oldest is forgotten');
});

t.test('a finished login cannot be finished again by another account', async (t) => {
  const { interactions } = await world(t);
  const { id } = await interactions.begin({ caveat: caveat('x'), address: '10.0.0.1' });
  await interactions.halfway(id, account('ada'));
  t.match((await interactions.find(id)).halfway, { id: 'ada' });
  await interactions.finish(id, account('ada'));
  for (const again of [
    (): Promise<unknown> => interactions.finish(id, account('bob')),
    () => interactions.halfway(id, account('bob')),
    () => interactions.find(id),
  ])
    await t.rejects(again().then(), expired);
});

t.test('of two who finish a login at the same moment one does', async (t) => {
  const { interactions, elsewhere } = await world(t);
  const { id } = await interactions.begin({ caveat: caveat('x'), address: '10.0.0.1' });
  const both = await Promise.allSettled([
    interactions.finish(id, account('ada')),
    elsewhere.finish(id, account('bob')),
    interactions.finish(id, account('ada')),
  ]);
  t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected']);
});

t.test('a code is exchanged for its token within a minute, once', async (t) => {
  const { interactions, clock } = await world(t);
  const { id } = await interactions.begin({
    redirect: { to: 'https://x.example/', state: undefined },
    address: '10.0.0.1',
  });
  const token = await interactions.finish(id, account('ada'));
  const code = await interactions.codeFor(token);
  t.equal(await interactions.tokenFor(code), token);
  await t.rejects(interactions.tokenFor(code), expired);
  t.strictSame(
    await interactions.redeem(token, caveat('any')),
    { accountId: 'ada', provenBy: null },
    'a login by redirect is for whatever the application asks next',
  );
  const late = await interactions.codeFor(token);
  clock.now = new Date(clock.now.getTime() + minutes(1));
  await t.rejects(interactions.tokenFor(late), expired);
});
