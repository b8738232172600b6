// The rules of the configuration for logins of people and their sessions in the console.
import { join } from 'node:path';

import t from 'tap';

import { everyAct } from '#acts/index.ts';
import { changeConfig } from '#configuration/config.ts';
import { hours, minutes, seconds } from '#domain/clock.ts';
import { readSessionRules } from '#domain/tokens/session-rules.ts';
import { codeAt } from '#identity/credentials/totp.ts';
import { expireSessions } from '#jobs/tokens/expire-sessions.ts';
import { embeddedText } from '#platform/embedded.ts';
import { begin, logInAt, password, waysIn } from '#test/identity/world.ts';
import { until } from '#test/fixtures/until.ts';
import { startConsole, textOf, type ConsoleStore } from '#test/console/world.ts';

function change(store: ConsoleStore, changes: Parameters<typeof changeConfig>[1]): void {
  changeConfig(join(store.directory, 'larder.toml'), changes);
  store.appliance.reload();
}

interface AuditRow {
  action: string;
  object: string;
  actor: string;
  'session-id': string | null;
  details: Record<string, unknown>;
}

/** The rows of the audit log with this word, newest first. */
async function rowsOf(store: ConsoleStore, action: string): Promise<AuditRow[]> {
  const { body } = await (await store.as('root')).get(`/internal/v1/audit?action=${action}`);
  return (body as { entries: AuditRow[] }).entries;
}

/** Runs the job that ends sessions by rule, as the store does once per minute. */
async function expire({ beside: writableStore }: ConsoleStore): Promise<unknown> {
  const { records, acts, latestTime } = writableStore;
  return expireSessions(records, acts, latestTime, () => readSessionRules(writableStore.config.sessions)).run();
}

/** Waits until the store has written down that the account used a session in this minute; it does so once per second. */
const recordUse = (store: ConsoleStore, person: string): Promise<unknown> =>
  until(async () => {
    const now = store.clock.now.toISOString();
    const open = await store.beside.records.macaroons.consoleSessions(store.ids[person]!, now);
    return open.some(({ usedAt }) => usedAt.slice(0, 16) === now.slice(0, 16));
  });

t.test('shorter times apply to running sessions from the reload on', async (t) => {
  const store = await startConsole(t);
  const ada = await store.visit('ada');
  store.clock.advance(minutes(12));
  const { cookie } = ada;
  t.equal((await ada.open('/console')).status, 200, 'a session lasts half an hour without a request by default');

  change(store, { 'sessions.idle_minutes': 10 });
  const late = store.visitor();
  late.cookie = cookie;
  t.match(
    await late.open('/console'),
    { status: 401, text: /session has expired/ },
    'its last request is 12 minutes ago',
  );
  t.equal((await ada.open('/console')).status, 200);
  store.clock.advance(minutes(10) - 1);
  t.equal((await ada.open('/console')).status, 200);
  store.clock.advance(minutes(10));
  t.match(await ada.open('/console'), { status: 401, text: /session has expired/ });

  change(store, { 'sessions.idle_minutes': 120, 'sessions.max_hours': 2 });
  const bob = await store.visit('bob');
  store.clock.advance(minutes(59));
  t.equal((await bob.open('/console')).status, 200);
  change(store, { 'sessions.max_hours': 1 });
  store.clock.advance(minutes(1) - 1);
  t.equal((await bob.open('/console')).status, 200);
  store.clock.advance(1);
  t.match(await bob.open('/console'), { status: 401 }, 'an hour after the login');
  change(store, { 'sessions.max_hours': 24 });
  store.clock.advance(hours(1));
  t.match(await bob.open('/console'), { status: 401 }, 'longer times do not prolong a session that began before');
});

t.test('the audit log says when a session ended, and by which rule', async (t) => {
  const store = await startConsole(t);
  store.beside.config = { ...store.beside.config, sessions: { ...store.beside.config.sessions, max_hours: 1 } };
  const ada = await store.visit('ada');
  const bob = await store.visit('bob');
  t.match(await expire(store), { expired: 0 });
  store.clock.advance(minutes(29));
  await bob.open('/console');
  await recordUse(store, 'bob');
  store.clock.advance(minutes(4));
  t.match(await expire(store), { expired: 1 });
  t.match(await expire(store), { expired: 0 }, 'once');
  const [idle] = await rowsOf(store, 'expire_browser_session');
  t.match(idle, { actor: 'larder', details: { account: store.ids.ada, reason: 'idle' } });
  t.match(await ada.open('/console'), { status: 401 });
  t.equal((await bob.open('/console')).status, 200);
  store.clock.advance(minutes(27));
  await expire(store);
  t.match(await rowsOf(store, 'expire_browser_session'), [{ details: { account: store.ids.bob, reason: 'age' } }, {}]);
});

t.test('a login beyond the number of sessions ends the one that was unused for longest', async (t) => {
  const store = await startConsole(t);
  change(store, { 'sessions.max_per_account': 2 });
  const first = await store.visit('ada');
  store.clock.advance(minutes(1));
  const second = await store.visit('ada');
  const bob = await store.visit('bob');
  store.clock.advance(minutes(1));
  await first.open('/console');
  await recordUse(store, 'ada');
  const token = await store.as('ada');
  const third = await store.visit('ada');
  t.match(await second.open('/console'), { status: 401, text: /Your session was ended/ });
  for (const open of [first, third, bob]) t.equal((await open.open('/console')).status, 200);
  t.equal((await token.get('/v1/tokens/whoami')).status, 200, 'tokens do not count, and stay');
  const [begun] = await rowsOf(store, 'begin_browser_session');
  t.equal((begun?.details['ended-sessions'] as string[]).length, 1);

  change(store, { 'sessions.max_per_account': 1 });
  store.beside.config = { ...store.beside.config, sessions: { ...store.beside.config.sessions, max_per_account: 1 } };
  t.match(await expire(store), { expired: 1 }, 'a lower number ends sessions without a further login');
  t.match(await rowsOf(store, 'expire_browser_session'), [{ details: { account: store.ids.ada, reason: 'number' } }]);
});

t.test('the notice stands above each login form, as text', async (t) => {
  const store = await startConsole(t);
  t.notMatch((await store.visitor().open('/console/log-in')).html, /class="banner"|acknowledged/);
  change(store, { 'sessions.banner': 'Authorized use <b>only</b>.\nUse is monitored.' });
  const banner = /<p class="banner">Authorized use &lt;b&gt;only&lt;\/b&gt;\.\nUse is monitored\.<\/p>/;
  t.match((await store.visitor().open('/console/log-in')).html, banner);
  t.match((await store.visitor().open('/console')).html, banner);
  const { InteractionMethods: methods } = await waysIn(store, (await begin(store)).caveatId);
  const page = await (await fetch(methods['browser-window'].VisitURL as string)).text();
  t.match(page, banner, 'a tool sends people to this page');
  t.notMatch(page, /acknowledged/);
  const { schema } = (await (await fetch(methods['form'].url as string)).json()) as { schema: Record<string, object> };
  t.match(
    schema['acknowledged'],
    { description: /^Authorized use <b>only/, mandatory: false },
    'a tool prompts with it',
  );
  t.match(await store.visitor().logIn('ada'), { status: 200 }, 'it only informs');
});

t.test(
  'a notice that must be acknowledged is acknowledged at each login, and not for a proof in a session',
  async (t) => {
    const store = await startConsole(t);
    change(store, { 'sessions.banner': 'Use is monitored.', 'sessions.acknowledge_banner': true });
    const ada = store.visitor();
    const door = await ada.open('/console');
    t.match(door.html, /<input type="checkbox" name="acknowledged" value="yes" required/);
    t.match(await ada.logIn('ada'), { status: 403, text: /must be acknowledged before each login/ });
    t.equal(ada.cookie, '');
    t.match(await ada.logIn('ada', { acknowledged: 'no' }), { status: 400 });
    t.match(await ada.logIn('ada', { acknowledged: 'yes' }), { status: 200 });
    const form = await ada.open('/console/myself/password');
    const fresh = { password, 'new-password': 'five words of ada here', again: 'five words of ada here' };
    t.match(await ada.send(form, '/console/myself/password', fresh), { status: 200, text: /password is changed/ });
    const tool = await waysIn(store, (await begin(store)).caveatId);
    const url = tool.InteractionMethods['browser-window'].VisitURL as string;
    const accepted = { username: 'ada', password: 'five words of ada here', acknowledged: 'yes' };
    t.match(textOf((await logInAt(url, accepted)).body as string), /You are logged in/);
  },
);

t.test('the console asks for the password again before the acts of the list', async (t) => {
  const store = await startConsole(t);
  await store.setPassword('root');
  change(store, { 'sessions.reauthenticate': ['set_quota', 'change_role'], 'sessions.reauthenticate_minutes': 5 });
  const root = await store.visit('root');
  const path = `/console/people/${store.ids.bob}`;
  const setQuota = async (bytes: string) => root.send(await root.open(path), `${path}/quota`, { bytes, packages: '7' });
  t.match(await setQuota('1 GiB'), { status: 200, text: /quota is changed/ }, 'the login is recent');

  store.clock.advance(minutes(5));
  const quotas = (await rowsOf(store, 'set_quota')).length;
  const prompt = await setQuota('2 GiB');
  t.match(prompt, { status: 403, text: /entered within the last 5 minutes/ });
  t.equal((await rowsOf(store, 'set_quota')).length, quotas, 'nothing was done');
  t.match(await root.send(prompt, '/console/reauthenticate', { password: 'wrong' }), { status: 403, text: /is wrong/ });
  const back = await root.send(prompt, '/console/reauthenticate', { password });
  t.match(back, { status: 200, text: /has not been carried out yet/ });
  t.match(await root.send(back, `${path}/quota`), { status: 200, text: /quota is changed/ });
  t.match((await rowsOf(store, 'set_quota'))[0], { details: { bytes: 2 * 2 ** 30 } }, 'with the input from before');
  const [proof] = await rowsOf(store, 'log_in');
  t.match(proof, { object: `account/${store.ids.root}`, 'session-id': /./ }, 'the proof is in the audit log');

  store.clock.advance(minutes(6));
  const own = await root.open('/console/myself');
  const renamed = await root.send(own, '/console/myself/name', { 'display-name': 'Root' });
  t.match(renamed, { status: 200 }, 'other acts ask for nothing');
  const api = await store.as('root');
  const { status } = await api.post(`/internal/v1/accounts/${store.ids.bob}/quota`, { bytes: 5 });
  t.equal(status, 200, 'tokens have an expiry of their own');
  const other = await store.visit('root');
  t.match(await setQuota('3 GiB'), { status: 403 }, 'a login in another browser is no proof in this one');
  t.ok(other);
});

t.test('a password in the form of an act counts as the proof for it', async (t) => {
  const store = await startConsole(t);
  await store.setPassword('root');
  const secret = await store.setTotp('root');
  change(store, { 'sessions.reauthenticate': ['change_role', 'update_own_account'] });
  const code = (): string => codeAt(secret, Math.floor(store.clock.now.getTime() / seconds(30)));
  const root = store.visitor();
  await root.logIn('root', { code: code() });
  store.clock.advance(minutes(16));
  const own = await root.open('/console/myself');
  const refused = await root.send(own, '/console/myself/name', { 'display-name': 'Root' });
  t.match(refused, { status: 403, html: /name="code"/ }, 'an account with one-time passwords gives one too');
  t.match(await root.send(refused, '/console/reauthenticate', { password, code: '000000' }), { status: 403 });
  const path = `/console/people/${store.ids.bob}/role`;
  const page = await root.open(`${path}?role=auditor`);
  t.match(await root.send(page, path, { password, code: code() }), { status: 200, text: /role is given/ });
  const renamed = await root.send(own, '/console/myself/name', { 'display-name': 'Root' });
  t.match(renamed, { status: 200, text: /display name is changed/ });
});

t.test('the previous login and the failed ones since are shown after a login', async (t) => {
  const store = await startConsole(t);
  t.notMatch(await store.visit('ada'), { text: /previous login/ }, 'by default they are not');
  change(store, { 'sessions.show_last_login': true });
  for (let at = 0; at < 3; at++) await store.visitor().logIn('ada', { password: 'wrong' });
  await store.visitor().logIn('nobody', { password: 'wrong' });
  const first = store.clock.now.toISOString().slice(0, 16).replace('T', ' ');
  store.clock.advance(hours(2));
  const ada = store.visitor();
  const line = `Your previous login was at ${first} UTC from 127.0.0.1. Failed logins since: 3.`;
  t.match(await ada.logIn('ada'), { text: line });
  store.clock.advance(minutes(16));
  t.match(await ada.open('/console/packages'), { text: line }, 'for the whole session');
  await store.visit('bob');
  const bob = store.visitor();
  await bob.logIn('bob');
  t.match(await bob.open('/console'), { text: /No login failed since/ });

  const tool = await waysIn(store, (await begin(store)).caveatId);
  const done = await logInAt(tool.InteractionMethods['browser-window'].VisitURL as string, {
    username: 'ada',
    password,
  });
  t.match(textOf(done.body as string), /Your previous login was at .* No login failed since\./);
});

t.test('each name of sessions.reauthenticate is an act', (t) => {
  const { $defs } = JSON.parse(embeddedText('schemas/config.json')) as { $defs: { ConsoleAct: { enum: string[] } } };
  const acts = new Set(everyAct.map(({ name }) => name));
  t.same(
    $defs.ConsoleAct.enum.filter((name) => !acts.has(name)),
    [],
  );
  t.end();
});
