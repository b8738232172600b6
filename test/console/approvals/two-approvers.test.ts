// One administrator with a browser cannot make two approvers that count at once, nor become one.
import t from 'tap';

import { itself } from '#acts/act.ts';
import { changeRole } from '#acts/accounts/accounts.ts';
import { changeApprovalPolicy } from '#acts/approvals/proposals.ts';
import { noPolicy, readReleaseRule } from '#domain/approvals/approval-policy.ts';
import { hours, minutes, seconds } from '#domain/clock.ts';
import { codeAt } from '#identity/credentials/totp.ts';
import { fromBase32 } from '#test/fixtures/accounts/base32.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { password } from '#test/identity/world.ts';
import { startConsole, type ConsoleStore, type Visitor } from '#test/console/world.ts';

const own = 'four words of mallory';

/** ada publishes snap/hello; two people with the role approve releases to stable. */
async function guarded(t: Parameters<typeof startConsole>[0]) {
  const store = await startConsole(t);
  const { acts } = store.beside;
  for (const who of ['bob', 'carol']) {
    if (who === 'carol') await store.join(who);
    await acts.do(changeRole, itself, { id: store.ids[who] ?? '', role: 'transfer-approver', remove: false });
  }
  await acts.do(changeApprovalPolicy, itself, { ...noPolicy, releases: [readReleaseRule('2 for snap/*:*/stable')!] });
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  await addRevision(store, id, 1);
  const release = () => ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 1 }]);
  return { store, release };
}

/** Makes an approver in the console as an administrator can, and takes over the account; its one-time passwords. */
async function makeApprover(
  store: ConsoleStore,
  root: Visitor,
  username: string,
): Promise<{ mallory: Visitor; secret: Buffer }> {
  const typed = {
    username,
    'display-name': username,
    email: `${username}@example.org`,
    id: `${username}-id`,
    password,
  };
  const made = await root.send(await root.open('/console/people'), '/console/people', typed);
  const [, key = ''] = /\/identity\/set-up\/([\w-]{43})/.exec(made.html) ?? [];
  const body = new URLSearchParams({ key, password: own, again: own });
  await fetch(`${store.url}/identity/set-up`, { method: 'POST', body, redirect: 'manual' });
  const role = `/console/people/${username}-id/role`;
  for (const name of ['transfer-approver', 'store-admin']) {
    await root.send(await root.open(`${role}?role=${name}`), role, { password });
  }
  const mallory = store.visitor();
  await mallory.logIn(username, { password: own });
  const address = '/console/myself/one-time-passwords';
  const shown = await mallory.send(await mallory.open(address), `${address}/begin`, { password: own });
  const secret = fromBase32((/<code>([A-Z2-7 ]+)<\/code>/.exec(shown.html)?.[1] ?? '').replaceAll(' ', ''));
  await mallory.send(shown, `${address}/switch-on`, { code: codeNow(store, secret) });
  store.clock.advance(minutes(1));
  const leaving = await mallory.open(`${role}?role=store-admin&remove=yes`);
  await mallory.send(leaving, role, { password: own, code: codeNow(store, secret) });
  store.clock.advance(minutes(1));
  return { mallory, secret };
}

const codeNow = (store: ConsoleStore, secret: Buffer): string =>
  codeAt(secret, Math.floor(store.clock.now.getTime() / seconds(30)));

t.test('approvers that one administrator makes in a browser do not count for 72 hours', async (t) => {
  const { store, release } = await guarded(t);
  const root = await store.visit('root');
  const made = [await makeApprover(store, root, 'mallory'), await makeApprover(store, root, 'mullory')];
  t.same(
    await store.beside.records.accounts.rolesOf('mallory-id'),
    ['transfer-approver'],
    'they are what they look like',
  );
  t.equal((await release()).status, 403);
  const address = '/console/waiting/proposals/1';
  for (const { mallory } of made) {
    const page = await mallory.open(address);
    t.match(page.text, /Your account was changed\. Your approvals count again from/);
    t.notMatch(page.html, /value="approve"/);
  }
  // The same over the interface, without a page.
  for (const [at, { secret }] of made.entries()) {
    const id = at === 0 ? 'mallory-id' : 'mullory-id';
    const { token } = await store.beside.authority.issue({ accountId: id }, { actor: id });
    store.clock.advance(minutes(1));
    const proof = { password: own, 'one-time-password': codeNow(store, secret) };
    const refused = await store.with(token).post('/internal/v1/proposals/1/approve', proof);
    t.match(refused, {
      status: 403,
      body: { 'error-list': [{ message: /^Your account was changed by .* Your approvals count from/ }] },
    });
  }
  t.match(
    (await release()).body['error-list'][0].message,
    /Waits for 2 more .* Not yet: .*mallory \(from .*mullory \(from/,
  );
  store.clock.advance(hours(73));
  const { mallory } = made[0]!;
  await mallory.logIn('mallory', { password: own, code: codeNow(store, made[0]!.secret) });
  t.match((await mallory.open(address)).html, /value="approve"/);
  t.match((await release()).body['error-list'][0].message, /Who may approve: .*mallory, mullory/);
});
