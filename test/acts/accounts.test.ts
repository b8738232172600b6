// What an operation and a command do to accounts and tokens is one act: the same rows, the same entry, the same refusal.
import t from 'tap';

import { command, newest, startNow } from './ways.ts';

t.test('an operation and a command do the same to an account and to its tokens', async (t) => {
  const store = await startNow(t);
  const root = await store.as('root');
  const account = `/internal/v1/accounts/${store.ids.ada}`;
  const sessionsOfAda = () => store.beside.records.macaroons.list(store.ids.ada, '', false);
  const state = async () => ({
    disabled: (await store.beside.records.accounts.disabledAt(store.ids.ada)) !== null,
    good: (await sessionsOfAda()).length,
  });

  /** Lets ada have two tokens, does it, and tells what came of it. */
  const after = async (doIt: () => Promise<unknown>) => {
    await root.post(`${account}/enable`);
    await root.post(`${account}/end-tokens`);
    await store.as('ada');
    await store.as('ada');
    await doIt();
    return { entry: await newest(store), state: await state() };
  };
  for (const [name, byOperation, byCommand] of [
    ['disable', () => root.post(`${account}/disable`), `account disable ${store.ids.ada} --yes`],
    [
      'disable and end tokens',
      () => root.post(`${account}/disable`, { 'end-tokens': true }),
      `account disable ${store.ids.ada} --end-tokens --yes`,
    ],
    ['enable', () => root.post(`${account}/enable`), `account enable ${store.ids.ada}`],
    ['end tokens', () => root.post(`${account}/end-tokens`), `token revoke --account ${store.ids.ada} --yes`],
    [
      'end old tokens',
      () => root.post(`${account}/end-tokens`, { 'issued-before': '2026-01-01T00:00:00Z' }),
      `token revoke --account ${store.ids.ada} --issued-before 2026-01-01T00:00:00Z --yes`,
    ],
  ] as const) {
    const [one, other] = [await after(byOperation), await after(() => command(store, byCommand))];
    t.same(other, one, name);
    t.match(one.entry, { object: `account/${store.ids.ada}`, outcome: 'done' }, name);
  }

  const revoked: object[] = [];
  for (const end of [
    (session: string) => root.post('/internal/v1/tokens/revoke', { 'session-id': session }),
    (session: string) => command(store, `token revoke ${session} --yes`),
  ]) {
    const { entry, state } = await after(async () => end((await sessionsOfAda())[0]?.sessionId ?? ''));
    revoked.push({ ...entry, object: entry?.object.slice(0, 8), ...state });
  }
  t.same(revoked[1], revoked[0], 'revoke one');
});

t.test('and refuse the same in the same words', async (t) => {
  const store = await startNow(t);
  const root = await store.as('root');
  const seq = async () => (await store.beside.records.audit.head())?.seq;
  const before = await seq();
  for (const [name, path, body, line] of [
    ['the last administrator', '/internal/v1/accounts/root/disable', {}, 'account disable root --yes'],
    ['no such session', '/internal/v1/tokens/revoke', { 'session-id': 'never' }, 'token revoke never --yes'],
  ] as const) {
    const refused = (await root.post(path, body)).body['error-list'] as { code: string; message: string }[];
    const { error, code } = await command(store, line);
    t.same({ message: error, code }, { message: refused[0]?.message, code: refused[0]?.code }, name);
  }
  const demoted = await command(store, 'account role root store-admin --remove --yes');
  t.match(demoted, { code: 'conflict', error: /^The account 'root' is the only store administrator who is let in/ });
  t.equal(await seq(), before, 'what is refused leaves nothing in the audit log');
  t.ok(await store.beside.records.accounts.isStoreAdministrator('root'));

  await command(store, `account role ${store.ids.bob} store-admin`);
  t.match(await root.post('/internal/v1/accounts/root/disable'), { status: 200 }, 'with another there one may go');
  t.match(await command(store, `account role ${store.ids.bob} store-admin --remove --yes`), { code: 'conflict' });
  t.match(
    (await (await store.as('bob')).post(`/internal/v1/accounts/${store.ids.bob}/disable`)).body,
    { 'error-list': [{ code: 'conflict' }] },
    'a disabled administrator does not count',
  );
});
