// An operation and a command on accounts and tokens are one act: the same rows, the same entry, the same refusal.
import t from 'tap';

import type { Acts, Actor } from '#acts/act.ts';
import { changeRole, createAccount, disableAccount, enableAccount } from '#acts/accounts/accounts.ts';
import { registerAgent } from '#acts/accounts/agents.ts';
import { changeCredential, inviteAccount, setPassword, setTotpSecret } from '#acts/accounts/credentials.ts';
import { endTokens, issueToken } from '#acts/tokens/tokens.ts';
import { startStore } from '#test/fixtures/appliance.ts';

import { command, newest, startNow } from '../ways.ts';

t.test('an operation and a command do the same to an account and to its tokens', async (t) => {
  const store = await startNow(t);
  const root = await store.as('root');
  const account = `/internal/v1/accounts/${store.ids.ada}`;
  const sessionsOfAda = () => store.beside.records.macaroons.list(store.ids.ada, '', false);
  const state = async () => ({
    disabled: (await store.beside.records.accounts.disabledAt(store.ids.ada)) !== null,
    good: (await sessionsOfAda()).length,
  });

  /** Lets ada have two tokens, runs the act, and returns the effect on both. */
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
    const [first, other] = [await after(byOperation), await after(() => command(store, byCommand))];
    t.same(other, first, name);
    t.match(first.entry, { object: `account/${store.ids.ada}`, outcome: 'done' }, name);
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
  t.match(demoted, {
    code: 'conflict',
    error: /^The account 'root' is the only store administrator who is not disabled/,
  });
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

t.test('an act repeats the checks of its callers', async (t) => {
  const { beside: writableStore, ids } = await startStore(t);
  const { acts, records, newId } = writableStore;
  const [actor, moment] = [{ actor: 'test' }, '2026-03-01T12:00:00.000Z'];
  const eve = { id: newId.id(), username: 'eve', displayName: 'Eve', email: 'eve@example.org', idMadeHere: true };
  const nobody = { id: 'nobody' };
  const session = { sessionId: newId.uuid(), accountId: 'nobody', rootKeyId: 'x', description: null };
  const before = (await records.audit.head())?.seq;
  for (const [name, code, doing] of [
    ['a user name', 'api-error', () => acts.do(createAccount, actor, { ...eve, username: 'Eve!' })],
    ['a display name', 'api-error', () => acts.do(createAccount, actor, { ...eve, displayName: ' ' })],
    ['an address', 'api-error', () => acts.do(createAccount, actor, { ...eve, email: 'Eve@example.org' })],
    ['an id', 'api-error', () => acts.do(createAccount, actor, { ...eve, id: '?' })],
    ['a name that is taken', 'conflict', () => acts.do(createAccount, actor, { ...eve, username: 'ada' })],
    ['disable', 'resource-not-found', () => acts.do(disableAccount, actor, { ...nobody, moment, endTokens: false })],
    ['enable', 'resource-not-found', () => acts.do(enableAccount, actor, nobody)],
    ['role', 'resource-not-found', () => acts.do(changeRole, actor, { ...nobody, role: 'store-admin', remove: false })],
    [
      'role of no brand',
      'resource-not-found',
      () => acts.do(changeRole, actor, { id: ids.ada, role: 'brand-admin:bob', remove: false }),
    ],
    ['password', 'resource-not-found', () => acts.do(setPassword, actor, { ...nobody, hash: 'x', endTokensAt: null })],
    ['invite', 'resource-not-found', () => acts.do(inviteAccount, actor, { ...nobody, digest: 'x', until: moment })],
    ['code', 'resource-not-found', () => acts.do(setTotpSecret, actor, { ...nobody, secret: 'x', replace: false })],
    [
      'no code',
      'resource-not-found',
      () => acts.do(setTotpSecret, actor, { id: ids.ada, secret: null, replace: false }),
    ],
    ['credential', 'conflict', () => acts.do(changeCredential, actor, { id: ids.ada, digest: 'x', added: false })],
    [
      'agent',
      'resource-not-found',
      () => acts.do(registerAgent, actor, { username: 'x', accountId: 'nobody', publicKey: 'x' }),
    ],
    ['tokens', 'resource-not-found', () => acts.do(endTokens, actor, { ...nobody, moment, issuedBefore: null })],
    [
      'token',
      'resource-not-found',
      () => acts.do(issueToken, actor, { session: { ...session, validSince: moment, validUntil: moment } }),
    ],
  ] as [string, string, () => Promise<unknown>][]) {
    await t.rejects(doing(), { code }, name);
  }
  await acts.do(disableAccount, actor, { id: ids.bob, moment, endTokens: false });
  await t.rejects(acts.do(inviteAccount, actor, { id: ids.bob, digest: 'x', until: moment }), { code: 'conflict' });
  t.equal(
    (await records.audit.head())?.seq,
    (before ?? 0) + 1,
    'none of it is in the audit log but that bob is disabled',
  );
});

/** Never called: that the compiler holds what each act needs to know. */
export const doesNotCompile = ({ acts, by: actor }: { acts: Acts; by: Actor }): unknown => [
  // @ts-expect-error -- an account is named by its id
  acts.do(enableAccount, actor, {}),
  // @ts-expect-error -- a disabled account needs more fields
  acts.do(disableAccount, actor, { id: 'ada' }),
];
