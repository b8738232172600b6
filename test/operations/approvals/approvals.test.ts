// Approvals over HTTP: the readers of pending proposals, and valid approvals.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { changeRole } from '#acts/accounts/accounts.ts';
import { itself } from '#acts/act.ts';
import { setPassword, setTotpSecret } from '#acts/accounts/credentials.ts';
import { changeApprovalPolicy } from '#acts/approvals/proposals.ts';
import { noPolicy, readReleaseRule } from '#domain/approvals/approval-policy.ts';
import { hours, seconds } from '#domain/clock.ts';
import { addApproverKey } from '#acts/approvals/approver-keys.ts';
import { nameSite } from '#acts/sites/sites.ts';
import { readSshKey } from '#domain/approvals/ssh-key.ts';
import { folder } from '#test/cli/process.ts';
import { sshKeyPair, sshSigned } from '#test/fixtures/accounts/ssh-keys.ts';
import { sitePasswords } from '#identity/identity.ts';
import { totpPurpose } from '#identity/login/logins.ts';
import { codeAt, newTotpSecret } from '#identity/credentials/totp.ts';
import { seal } from '#macaroons/sealing.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

const password = 'four pumps at the harbour, 9';

/**
 * ada publishes snap/hello; its channel stable waits for one approval by the role. bob has the role, and carol reads
 * the log.
 */
async function site(t: Parameters<typeof startStore>[0], people = '1') {
  const store = await startStore(t);
  for (const username of ['carol', 'dave']) await store.join(username);
  const { acts, siteKey } = store.beside;
  const hash = await sitePasswords(siteKey).hash(password);
  const secret = newTotpSecret();
  for (const who of ['ada', 'bob', 'carol', 'root']) {
    const id = store.ids[who] ?? '';
    await acts.do(setPassword, itself, { id, hash, endTokensAt: null });
    await acts.do(setTotpSecret, itself, { id, secret: seal(siteKey, secret, totpPurpose(id)), replace: false });
  }
  const role = (who: string, is: 'transfer-approver' | 'auditor') =>
    acts.do(changeRole, itself, { id: store.ids[who] ?? '', role: is, remove: false });
  await role('bob', 'transfer-approver');
  await role('root', 'transfer-approver');
  await role('carol', 'auditor');
  const rule = readReleaseRule(`${people} for snap/*:*/stable`);
  const bobs = sshKeyPair(folder(t), 'bob');
  await acts.do(addApproverKey, itself, { id: store.ids.bob, key: readSshKey(bobs.publicKey)?.line ?? '' });
  await acts.do(nameSite, itself, { name: 'site-b', keyId: 'k', sealedKey: 'sealed' });
  await acts.do(changeApprovalPolicy, itself, { ...noPolicy, releases: rule === undefined ? [] : [rule] });
  store.clock.advance(hours(73));
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const number of [1, 2]) await addRevision(store, id, number);
  const proof = () => {
    store.clock.advance(seconds(60)); // each code is good once
    return { password, 'one-time-password': codeAt(secret, Math.floor(store.clock.now.getTime() / 30_000)) };
  };
  const release = (revision: number) => ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision }]);
  return { store, ada, proof, release, bobs };
}

const code = ({ status, body }: { status: number; body: unknown }): [number, string] => [
  status,
  (body as { 'error-list'?: { code: string }[] })['error-list']?.[0]?.code ?? '',
];

t.test('a pending proposal is shown to its approvers, and approved with password and one-time password', async (t) => {
  const { store, ada, proof, release } = await site(t);
  t.strictSame(code(await release(1)), [403, 'approval-required']);
  const [bob, carol, dave, root] = await Promise.all(['bob', 'carol', 'dave', 'root'].map((who) => store.as(who)));
  const [list, proposalPath] = ['/internal/v1/proposals', '/internal/v1/proposals/1'];
  for (const who of [bob, carol, root]) {
    const { status, body } = (await who?.get(list)) ?? {};
    t.match({ status, body }, { status: 200, body: { proposals: [{ proposal: 1, state: 'waits', missing: 1 }] } });
  }
  t.strictSame(code(await ada.get(list)), [401, 'permission-required']);
  t.match(await ada.get(proposalPath), {
    status: 200,
    body: {
      lines: [{ kind: 'releases', on: 'snap/hello:latest/stable', from: null, to: '1' }],
      'may-approve': [{ username: 'bob', from: null }],
    },
  });
  t.strictSame(code((await dave?.get(proposalPath))!), [404, 'resource-not-found']);

  const approve = (client: typeof bob, body: object) => client!.post(`${proposalPath}/approve`, body);
  t.strictSame(code(await approve(bob, {})), [400, 'api-error'], 'a token alone approves of nothing');
  const guessed = { ...proof(), password: 'a guess of somebody with the token' };
  t.strictSame(code(await approve(bob, guessed)), [401, 'invalid-credentials']);
  t.strictSame(code(await approve(bob, { ...proof(), 'one-time-password': '000000' })), [401, 'twofactor-failure']);
  t.strictSame(code(await approve(ada, proof())), [403, 'forbidden']);
  t.strictSame(code(await approve(carol, proof())), [403, 'forbidden'], 'who reads the log is not asked');
  t.strictSame(
    code(await approve(root, proof())),
    [403, 'forbidden'],
    'an administrator counts only where he is named',
  );
  const both = await Promise.all([approve(bob, proof()), approve(bob, proof())]);
  t.equal(both.filter(({ status }) => status === 200).length, 1, 'of two at once one counts');
  t.match((await ada.get(proposalPath)).body, { state: 'approved', approvals: [{ username: 'bob' }] });
  t.equal((await release(1)).status, 200);
  t.match((await carol?.get(`${list}?all=true`))?.body, { proposals: [{ state: 'done' }] });
});

t.test('a proposal with required signatures is approved with a signature of the given text', async (t) => {
  const { store, ada, proof, release, bobs } = await site(t, '1 signed');
  await release(1);
  const [bob, dave] = [await store.as('bob'), await store.as('dave')];
  const [proposalPath, approve] = ['/internal/v1/proposals/1', '/internal/v1/proposals/1/approve'];
  t.strictSame(code(await dave.get(`${proposalPath}/text`)), [404, 'resource-not-found']);
  const { status, headers, body: text } = await bob.get(`${proposalPath}/text`);
  t.match({ status, type: headers.get('content-type') }, { status: 200, type: 'text/plain; charset=utf-8' });
  t.strictSame(code(await bob.post(approve, proof())), [403, 'forbidden'], 'not without one');
  const file = join(folder(t), 'text');
  writeFileSync(file, text as string);
  const signature = sshSigned(bobs, file);
  t.strictSame(code(await bob.post(approve, { ...proof(), signature: 'none' })), [403, 'forbidden']);
  t.strictSame(code(await bob.post(approve, { ...proof(), signature: signature.repeat(40) })), [400, 'api-error']);
  const done = await bob.post(approve, { ...proof(), signature });
  const { fingerprint } = readSshKey(bobs.publicKey)!;
  t.match(done, {
    status: 200,
    body: { state: 'approved', approvals: [{ username: 'bob', 'signed-with': fingerprint }] },
  });
  t.match((await ada.get(proposalPath)).body, { missing: 0 });
  t.equal((await release(1)).status, 200);
});

t.test('a rejected proposal is not done', async (t) => {
  const { store, proof, release } = await site(t);
  await release(1);
  const bob = await store.as('bob');
  const reject = () => bob.post('/internal/v1/proposals/1/reject', { ...proof(), reason: 'It crashes.' });
  const both = await Promise.all([reject(), reject()]);
  t.equal(both.filter(({ status }) => status === 200).length, 1);
  t.strictSame(code(await release(1)), [403, 'forbidden']);
  t.strictSame(code(await bob.get('/internal/v1/proposals/none')), [404, 'resource-not-found']);
});

t.test('an auditor reads the log and the exports, and nothing else of the store', async (t) => {
  const { store } = await site(t);
  const carol = await store.as('carol');
  t.equal((await carol.get('/internal/v1/audit')).status, 200);
  t.equal((await carol.get('/internal/v1/exports')).status, 200);
  t.strictSame(code(await carol.get('/internal/v1/accounts')), [401, 'permission-required']);
  const bob = await store.as('bob');
  t.strictSame(code(await bob.get('/internal/v1/audit')), [401, 'permission-required']);
});
