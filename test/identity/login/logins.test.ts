// The audit entries of refused logins, and changes of an account during a login.
import t from 'tap';
import { disableAccount, enableAccount } from '#acts/accounts/accounts.ts';
import { itself } from '#acts/act.ts';
import { inviteAccount, setPassword } from '#acts/accounts/credentials.ts';
import { after, hours, seconds } from '#domain/clock.ts';
import { createLogins } from '#identity/login/logins.ts';
import { codeAt } from '#identity/credentials/totp.ts';
import { createPasswords, type Passwords } from '#identity/credentials/passwords.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { begin, logInAt, password, startIdentity, waysIn } from '../world.ts';

const host = (): string => 'store.test';

t.test('a delayed account or address is reported once, after any number of tries', async (t) => {
  const store = await startStore(t);
  await store.as('ada');
  const { records, acts, siteKey } = store.beside;
  const passwords: Passwords = {
    hash: () => Promise.resolve('x'),
    verify: () => Promise.resolve({ right: false, stale: false }),
  };
  const logins = createLogins({ records, acts, passwords, siteKey, now: () => store.clock.now, host });
  const attempt = (name: string, address: string) =>
    logins.checkPassword({ name, password: 'wrong', address, requestId: 'r1' }).then(
      () => 'let in',
      (error: unknown) => (error as { code: string }).code,
    );
  const refused = async () =>
    (await records.audit.newest(1e15, 1000)).filter(({ outcome }) => outcome === 'refused').reverse();

  for (let number = 0; number < 9; number++) t.equal(await attempt('ada', '10.0.0.1'), 'invalid-credentials');
  t.strictSame(await refused(), [], 'a few mistakes are nobody’s business');
  for (let number = 0; number < 5; number++) await attempt('ada', '10.0.0.1');
  for (let number = 0; number < 95; number++) await attempt(`a password ${number}`, '10.0.0.2');
  for (let number = 0; number < 15; number++) await attempt('typed into the wrong field', '10.0.0.2');
  const rows = await refused();
  t.match(rows, [
    { actor: 'unknown', action: 'log_in', object: /^account\//, requestId: 'r1' },
    { actor: 'unknown', action: 'log_in', object: 'login' },
  ]);
  t.strictSame(
    rows.map(({ details }) => JSON.parse(details) as unknown),
    [
      { address: '10.0.0.1', 'put-off': 'name' },
      { address: '10.0.0.2', 'put-off': 'address' },
    ],
  );
  t.notMatch(JSON.stringify(rows), /password|typed/, 'what was typed as a name is not there');
});

t.test('changes of an account while a password is verified or hashed count', async (t) => {
  const store = await startIdentity(t);
  const { records, acts, siteKey } = store.beside;
  const now = () => store.clock.now;
  const id = store.ids.ada;
  const about = { name: 'ada', password: 'right', address: '10.0.0.1', requestId: 'r1' };
  const rows = async () => (await records.audit.head())?.seq;
  let meanwhile = async (): Promise<unknown> => undefined;
  const passwords: Passwords = {
    hash: () => meanwhile().then(() => 'x'),
    verify: () => Promise.resolve({ right: true, stale: false }),
  };
  const find = async (accountId: string) => {
    const storedSecret = await records.totpSecrets.find(accountId);
    await meanwhile();
    return storedSecret;
  };
  const options = { acts, passwords, siteKey, now, host };
  const logins = createLogins({ ...options, records });
  const looking = createLogins({ ...options, records: { ...records, totpSecrets: { find } } });

  const { account } = await logins.checkPassword(about);
  await store.disable('ada');
  const before = await rows();
  await t.rejects(logins.finish(account, about), { code: 'invalid-credentials' }, 'disabled between the two pages');
  t.equal(await rows(), before, 'and no login is told of');
  await acts.do(enableAccount, itself, { id });

  store.clock.advance(1000);
  await store.setPassword('ada', 'another four words');
  const asWasSet = await rows();
  await t.rejects(logins.finish(account, about), { code: 'invalid-credentials' }, 'the password is another one by now');
  t.equal(await rows(), asWasSet);
  const { account: proven } = await logins.checkPassword(about);

  meanwhile = () => store.setTotp('ada');
  await t.rejects(looking.finish(proven, about), { code: 'twofactor-failure' }, 'asked for a code by now');
  meanwhile = async () => undefined;
  await t.rejects(looking.finish(proven, about), { code: 'twofactor-required' });
  const secret = await store.setTotp('ada');
  const code = { ...about, oneTimePassword: codeAt(secret, Math.floor(now().getTime() / seconds(30))) };
  meanwhile = () => store.setTotp('ada');
  await t.rejects(looking.finish(proven, code), { code: 'twofactor-failure' }, 'the authenticator is another by now');

  const storedHash = (await records.passwords.find(id))?.hash;
  const set = { requestId: 'r1', endTokens: true };
  for (const [name, change] of [
    ['voided', () => acts.do(disableAccount, itself, { id, moment: now().toISOString(), endTokens: false })],
    ['replaced', () => acts.do(inviteAccount, itself, { id, digest: 'another', until: '2030-01-01T00:00:00.000Z' })],
    [
      'run out',
      async () => {
        store.clock.advance(hours(1));
      },
    ],
  ] as const) {
    await acts.do(enableAccount, itself, { id });
    const link = await store.invite('ada', after(now(), hours(1)));
    meanwhile = change;
    await t.rejects(logins.setPassword(link, 'a good long password', set), { code: 'login-expired' }, name);
    t.equal((await records.passwords.find(id))?.hash, storedHash, `${name}: the password stays`);
  }
});

t.test('a password with an older hash is hashed again by the next login', async (t) => {
  const store = await startIdentity(t);
  const { records, acts } = store.beside;
  const { ada: id } = store.ids;
  const older = await createPasswords().hash(password);
  await acts.do(setPassword, itself, { id, hash: older, endTokensAt: null });
  const logInOnce = async () => {
    const { caveatId } = await begin(store);
    const info = await waysIn(store, caveatId);
    return logInAt(info.InteractionMethods['browser-window'].VisitURL, { username: 'ada', password });
  };
  t.match(await logInOnce(), { status: 200 });
  const anew = (await records.passwords.find(id))!.hash;
  t.not(anew, older);
  t.match(
    await records.audit.newest(1e15, 2),
    [{ action: 'log_in' }, { action: 'rehash_password' }],
    'and the audit log tells so',
  );
  t.match(await logInOnce(), { status: 200 }, 'the password is the same');
  t.equal((await records.passwords.find(id))!.hash, anew, 'once is enough');
});
