// What the audit log tells of logins that were refused.
import t from 'tap';
import { createLogins } from '#identity/logins.ts';
import type { Passwords } from '#identity/passwords.ts';
import { startStore } from '#test/fixtures/appliance.ts';

t.test('an account or an address that is put off is told of once, however often somebody tries', async (t) => {
  const store = await startStore(t);
  await store.as('ada');
  const { records, acts, siteKey } = store.beside;
  const passwords: Passwords = {
    hash: () => Promise.resolve('x'),
    verify: () => Promise.resolve({ right: false, stale: false }),
  };
  const logins = createLogins({ records, acts, passwords, siteKey, now: () => store.clock.now });
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
