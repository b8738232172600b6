import t from 'tap';

import { days, seconds } from '#domain/clock.ts';
import { forgetSessions } from '#jobs/tokens/forget-sessions.ts';
import { withFirstPartyCaveat } from '#macaroons/codec/macaroon.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { begin, dischargeInBrowser, exchange, logIn, macaroonList, startIdentity } from '#test/identity/world.ts';

const jobOf = ({ beside: writableStore }: TestAppliance) =>
  forgetSessions(writableStore.records, writableStore.acts, writableStore.latestTime);
const sessions = ({ directory }: TestAppliance) => footprint(directory)['macaroons'];
const audited = async ({ beside: writableStore }: TestAppliance) =>
  (await writableStore.records.audit.list(0, 10_000)).filter(({ action }) => action === 'sweep_sessions');

t.test('a session is forgotten ninety days after its end, and not before', async (t) => {
  const store = await startIdentity(t);
  await logIn(store, { ttl: days(1) / 1000 });
  const ada = store.with(await logIn(store));
  const before = (await store.beside.records.audit.list(0, 10_000)).length;
  const job = jobOf(store);
  store.clock.advance(days(91));
  t.same(await job.run(), { forgotten: 0 });
  t.equal((await ada.get('/v1/tokens?include-inactive')).body.macaroons.length, 2, 'what ended is still listed');
  t.equal((await store.beside.records.audit.list(0, 10_000)).length, before, 'nothing due leaves no entry');

  store.clock.advance(seconds(1));
  t.same(await job.run(), { forgotten: 1 });
  t.equal(sessions(store), 1);
  t.match(await ada.get('/v1/tokens?include-inactive'), { status: 200, body: { macaroons: { length: 1 } } });
  t.same(await job.run(), { forgotten: 0 });
  const rows = await store.beside.records.audit.list(0, 10_000);
  t.match(await audited(store), [{ actor: 'larder', details: '{"sessions":1}' }]);
  t.equal(rows.filter(({ action }) => action === 'exchange_macaroons').length, 2, 'the audit log still tells of both');
  store.clock.advance(days(365));
  t.same(await job.run(), { forgotten: 1 });
  t.equal(sessions(store), 0);
});

t.test('a revoked session stays for as long as its login could begin it again', async (t) => {
  const store = await startIdentity(t);
  const { root, caveatId } = await begin(store);
  const exchanged = async (login: typeof root) =>
    exchange(store, Buffer.from(macaroonList(login, await dischargeInBrowser(store, caveatId))).toString('base64url'));
  // The bearer narrows the login before its use: the session then ends within the day.
  const until = new Date(store.clock.now.getTime() + days(1)).toISOString();
  const short = await exchanged(withFirstPartyCaveat(root, `time-before ${until}`));
  t.equal(short.status, 200);
  const ada = store.with(short.body.macaroon as string);
  const [{ 'session-id': session }] = (await ada.get('/v1/tokens')).body.macaroons;
  t.equal((await ada.post('/v1/tokens/revoke', { 'session-id': session })).status, 200);
  const job = jobOf(store);
  store.clock.advance(days(200));
  t.same(await job.run(), { forgotten: 0 });
  t.match(await exchanged(root), { status: 401 }, 'with a fresh discharge it is revoked still');
  store.clock.advance(days(256));
  t.same(await job.run(), { forgotten: 1 });
});

t.test('many are forgotten in small batches that delay no client', async (t) => {
  const store = await startStore(t);
  const at = store.clock.now.toISOString();
  const ended = { accountId: store.ids.ada, rootKeyId: 'gone', description: null, validSince: at, validUntil: at };
  await store.beside.records.change({ at, actor: 'test', action: 'fill', object: 'sessions' }, async (tx) => {
    for (let each = 0; each < 1001; each++) await tx.macaroons.add({ ...ended, sessionId: `ended-${String(each)}` });
  });
  const { records } = store.beside;
  records.countEvent('token', 'ended-7', at);
  records.countEvent('token', 'another', at);
  await records.writeCounters();
  store.clock.advance(days(91));
  t.same(await jobOf(store).run(), { forgotten: 1001 });
  t.equal(await records.counters.find('token', 'ended-7'), undefined, 'and when they were last used');
  t.match(await records.counters.find('token', 'another'), { count: 1 });
  t.equal((await audited(store)).length, 3);
  t.ok(
    store.appliance.jobs().some(({ name }) => name === 'forget-sessions'),
    'the server does it round and round',
  );
});
