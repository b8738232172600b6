// Logins under way: few, short and bounded, whatever anybody does.
import t from 'tap';

import { minutes } from '#domain/clock.ts';
import { createInteractions } from '#identity/interactions.ts';
import type { AskedCaveat } from '#macaroons/discharger.ts';
import type { Account } from '#records/accounts.ts';

const account = (id: string): Account => ({
  id,
  username: id,
  displayName: id,
  email: `${id}@example.com`,
  validation: 'unproven',
  createdAt: '2026-03-01T12:00:00.000Z',
});
const caveat = (id: string): AskedCaveat => ({
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

function world() {
  const clock = { now: new Date('2026-03-01T12:00:00Z') };
  const interactions = createInteractions(() => clock.now);
  return { clock, interactions };
}

t.test('the browser and the client know a login by different names, neither of which can be guessed', (t) => {
  const { interactions } = world();
  const made = Array.from({ length: 50 }, () => interactions.begin({ caveat: caveat('x'), address: '10.0.0.1' }));
  const names = made.flatMap(({ id, waitId }) => [id, waitId]);
  t.equal(new Set(names).size, 100);
  for (const name of names) t.match(name, /^[0-9a-f]{64}ID$/);
  t.throws(() => interactions.find(made[0]!.waitId), expired);
  t.end();
});

t.test(
  'one client has at most 200 logins under way, all together 20,000, and none of them is given up for a new one',
  (t) => {
    const { interactions, clock } = world();
    const begin = (address: string) => interactions.begin({ caveat: caveat('x'), address });
    const refused = { code: 'too-many-requests', status: 429, retryAfter: 60 };
    const first = begin('10.0.0.1');
    for (let at = 0; at < 199; at++) begin('10.0.0.1');
    t.throws(() => begin('10.0.0.1'), refused);
    const theirs = begin('10.0.0.2');
    for (let at = 0; at < 200; at++) begin(`2001:db8::${at.toString(16)}`);
    t.throws(() => begin('2001:db8::ffff'), refused, 'all addresses of a client with IPv6 are one client');
    for (let at = 401; at < 20_000; at++) begin(`10.1.${at >> 7}.1`);
    t.throws(() => begin('10.0.0.3'), refused);
    t.equal(interactions.find(first.id).id, first.id);
    t.equal(interactions.find(theirs.id).id, theirs.id);
    clock.now = new Date(clock.now.getTime() + minutes(15));
    t.ok(begin('10.0.0.1'), 'those that have expired make room');
    t.end();
  },
);

t.test('whoever waits is told when it is finished, when it is given up, and when he goes away', async (t) => {
  const { interactions } = world();
  const one = interactions.begin({ caveat: caveat('one'), address: '10.0.0.1' });
  const waiting = [interactions.wait(one.waitId, never), interactions.wait(one.waitId, never)];
  const token = interactions.finish(one.id, account('ada'));
  for (const each of await Promise.all(waiting)) t.match(each, { token, account: { id: 'ada' } });

  const other = interactions.begin({ caveat: caveat('other'), address: '10.0.0.1' });
  const gone = new AbortController();
  const impatient = interactions.wait(other.waitId, gone.signal);
  gone.abort();
  await t.rejects(impatient, expired);

  const last = interactions.wait(other.waitId, never);
  interactions.close();
  await t.rejects(last, expired);
  t.throws(() => interactions.begin({ caveat: caveat('x'), address: '10.0.0.1' }), expired);
});

t.test('a token is good for its caveat, once, and no more of them are kept than there is room for', (t) => {
  const { interactions, clock } = world();
  let clients = 0;
  const finish = (name: string): string => {
    const { id } = interactions.begin({
      caveat: caveat(name),
      address: `10.0.${(clients += 1) >> 8}.${clients & 255}`,
    });
    return interactions.finish(id, account('ada'));
  };
  const denied = { code: 'permission-required' };
  const token = finish('one');
  t.throws(() => interactions.redeem(token, caveat('two')), denied);
  t.equal(interactions.redeem(token, caveat('one')), 'ada');
  t.throws(() => interactions.redeem(token, caveat('one')), denied);
  const late = finish('one');
  clock.now = new Date(clock.now.getTime() + minutes(10));
  t.throws(() => interactions.redeem(late, caveat('one')), denied);
  const first = finish('one');
  for (let at = 0; at < 5000; at++) finish('one');
  t.throws(() => interactions.redeem(first, caveat('one')), denied, 'the oldest is forgotten');
  t.end();
});

t.test('a login that was finished is not finished again by somebody else', (t) => {
  const { interactions } = world();
  const { id } = interactions.begin({ caveat: caveat('x'), address: '10.0.0.1' });
  interactions.halfway(id, account('ada'));
  t.match(interactions.find(id).halfway, { id: 'ada' });
  interactions.finish(id, account('ada'));
  for (const again of [
    () => interactions.finish(id, account('bob')),
    () => interactions.halfway(id, account('bob')),
    () => interactions.find(id),
  ])
    t.throws(again, expired);
  t.end();
});

t.test('a code stands for its token for a minute, and once', (t) => {
  const { interactions, clock } = world();
  const { id } = interactions.begin({ redirect: { to: 'https://x.example/', state: undefined }, address: '10.0.0.1' });
  const token = interactions.finish(id, account('ada'));
  const code = interactions.codeFor(token);
  t.equal(interactions.tokenFor(code), token);
  t.throws(() => interactions.tokenFor(code), expired);
  t.equal(
    interactions.redeem(token, caveat('any')),
    'ada',
    'a login by redirect is for whatever the application asks next',
  );
  const late = interactions.codeFor(token);
  clock.now = new Date(clock.now.getTime() + minutes(1));
  t.throws(() => interactions.tokenFor(late), expired);
  t.end();
});
