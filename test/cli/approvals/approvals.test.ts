// Approvals as people at a host have them: ada proposes, bob and carol approve with password and one-time password.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { askingSite, configure, password } from '#test/fixtures/accounts/approvers.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { until } from '#test/fixtures/until.ts';

t.test('a release from the host waits for two people, and root is not one of them', async (t) => {
  const { store, run, judge } = await askingSite(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const number of [1, 2]) await addRevision(store, id, number);

  t.match(await run('approval policy'), { code: 0, out: /releases snap\/\*:\*\/stable .*2 of/ });
  const waits = await run('release snap/hello 1 stable --json');
  t.match(waits, { code: 1, err: /Waits for 2 more approvals \(proposal 1, until .*"approval-required"/ });
  t.match(await run('approval list'), { out: /^NUMBER .*\n1 +waits for 2 more +push_releases +snap\/hello/ });
  t.match(await run('approval show 1'), {
    out: /snap\/hello:latest\/stable.*: nothing → 1\n[^]*Who may approve:\n  bob/,
  });
  t.match(await run('release wait 1 --timeout 1s'), { code: 7, out: /waits for 2 more/ });

  t.match(await judge('approve', 'root', 1), { code: 1, err: /does not ask you/ });
  t.match(await run('approval approve 1'), { code: 2, err: /there is no terminal to ask at/ });
  const wrong = await run('approval approve 1 --as bob --password-stdin --one-time-password 000000', [password]);
  t.match(wrong, { code: 1, err: /one-time password is wrong/ });
  t.match(await judge('approve', 'bob', 1), { code: 0, out: /^Approved. Proposal 1 waits for 1 more\./ });
  const waiting = run('release wait 1 --timeout 60s');
  t.match(await judge('approve', 'carol', 1), { code: 0, out: /^Approved. Proposal 1 approved\./ });
  t.match(await waiting, { code: 0, out: /Proposal 1: approved/ });
  t.match(await run('release snap/hello 1 stable'), { code: 0, out: /is released to latest\/stable/ });

  t.match(await run('close snap/hello stable --yes'), { code: 1, err: /proposal 2/ });
  t.match(await judge('reject', 'dave', 2, " --reason 'Pumps need it.'"), { code: 0 });
  t.match(await run('release wait 2'), { code: 4, out: /rejected.*Pumps need it\./ });
  t.match(await run('close snap/hello stable --yes'), { code: 1, err: /Rejected by dave/ });
  t.match(await run('approval list --all --json'), { out: /"state":"done".*"may-approve":\[\]/ });
});

t.test('an approval of a recently changed account does not count, and this is shown', async (t) => {
  const { store, run, judge } = await askingSite(t, 'releases = ["1 of B, C for snap/*:*/stable"]');
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  await addRevision(store, id, 1);
  await run('release snap/hello 1 stable');
  t.match(await run(`account password ${store.ids.bob} --password-stdin`, [password]), { code: 0 });
  t.match(await judge('approve', 'bob', 1), {
    code: 1,
    err: /was changed by cli:\S+ \(set_account_password\).*approvals count from/,
  });
  t.match(await run('approval show 1'), { out: /bob \(counts from .*: the account was changed\)\n  carol$/m });
  t.match(await run(`account totp ${store.ids['carol'] ?? ''} --remove --yes`), { code: 0 });
  const without = await run('approval approve 1 --as carol --password-stdin --one-time-password 123456', [password]);
  t.match(without, { code: 1, err: /the account does not use them/ });
});

t.test('the file alone does not lower the policy', async (t) => {
  const { store, run, judge } = await askingSite(t);
  await configure(store, 'releases = []');
  const problems = async () => ((await store.anyone.get('/readyz')).body as { problems: string[] }).problems.join();
  // The process knows of the proposal a moment after its row is in the audit log.
  await until(async () => /not in force/.test(await problems()));
  t.match(await problems(), /larder\.toml says is not in force: Waits for 2 more approvals \(proposal 1/);
  t.match(await run('approval policy'), { out: /2 of .* 0$/m });
  t.match(await run('approval show 1'), { out: /change_approval_policy on approval policy, by larder/ });
  await judge('approve', 'bob', 1);
  await judge('approve', 'carol', 1);
  store.appliance.reload();
  await until(async () => !/not in force/.test(await problems()));
  t.match(await run('approval policy'), { out: /^No change needs approval\./ });
});

t.test('a policy that no approver could meet is refused', async (t) => {
  const store = await startStore(t);
  const problem = async (section: string): Promise<string> => {
    writeFileSync(join(store.directory, 'larder.toml'), `[approvals]\n${section}\n`);
    store.appliance.reload();
    let problems: string[] = [];
    await until(async () => (problems = (await store.anyone.get('/readyz')).body.problems as string[]).length > 0);
    return problems.join();
  };
  t.match(await problem('transfers = "2 of bob, carol"'), /names 'bob', and no account has this id/);
  t.match(
    await problem('delete_keys = "1"'),
    /asks for 1 person, and 0 enabled accounts .* have the role 'transfer-approver'/,
  );
});

t.test('a policy in force that cannot be met is a problem, and still holds all changes', async (t) => {
  const { store, run } = await askingSite(t, 'releases = ["2 of B, C for snap/*:*/stable"]');
  const problems = async () =>
    ((await store.anyone.get('/readyz')).body as { problems: string[] }).problems.filter((problem) =>
      /approval/.test(problem),
    );
  t.strictSame(await problems(), []);
  t.match(await run(`account disable ${store.ids['carol'] ?? ''} --yes`), { code: 0 });
  store.appliance.reload();
  await until(async () => (await problems()).length > 0);
  const unmet =
    /The approval policy in force cannot be met\. The policy asks for 2 people, and 1 of the accounts that it names is enabled/;
  t.match(await problems(), [unmet]);
  t.match(await run('approval policy'), { out: unmet });
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  await addRevision(store, id, 1);
  t.match(await run('release snap/hello 1 stable'), {
    code: 1,
    err: /Waits for 2 more approvals .* Who may approve: bob\./,
  });
  await run(`account enable ${store.ids['carol'] ?? ''}`);
  store.appliance.reload();
  await until(async () => (await problems()).length === 0);
});

t.test('a push to channels waits for approval after its review, and the approval releases it', async (t) => {
  const { store, judge } = await askingSite(t, 'releases = ["1 of B, C for snap/*:*/stable"]');
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  const upload = await ada.upload(await snapFixture('app-xz'));
  const body = { name: 'tiny-app', series: '16', updown_id: upload, binary_filesize: 1, channels: ['edge', 'stable'] };
  const pushed = await ada.post('/dev/api/snap-push/', body);
  const status = async () =>
    (await ada.get(new URL(pushed.body.status_details_url as string).pathname)).body as { processed: boolean };
  await store.appliance.reviewed();
  await until(async () => (await status()).processed);
  t.match(await status(), { errors: [{ message: /Revision 1 is there, but: .*'stable': Waits for 1 more approval/ }] });
  const held = async () =>
    ((await ada.get('/v1/snap/tiny-app/releases')).body['channel-map'] as { channel: string }[]).map(
      (release) => release.channel,
    );
  t.strictSame(await held(), ['latest/edge']);
  t.match(await judge('approve', 'bob', 1), { code: 0 });
  await until(async () => {
    await store.appliance.reviewed();
    await ada.post('/dev/api/snap-push/', { ...body, updown_id: upload });
    return (await held()).length === 2;
  });
  t.match(await status(), { processed: true, revision: 1, code: 'ready_to_release' });
});
