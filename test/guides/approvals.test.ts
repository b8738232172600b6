// The guide to approvals, typed unchanged: ada proposes, bob and carol approve.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { codeAt } from '#identity/credentials/totp.ts';
import { fromBase32 } from '#test/fixtures/accounts/base32.ts';
import { examplesIn, missingOutput } from '#test/fixtures/guides.ts';
import { until } from '#test/fixtures/until.ts';
import { folder, serve } from '#test/cli/process.ts';
import { setUpWith } from '#test/cli/accounts/set-up.ts';
import { larder } from '#test/cli/world.ts';
import { password, published } from './approvals-world.ts';

t.test('two people approve a release with the lines of the guide', async (t) => {
  const { run, configured, fourDaysLater, asPerson } = await published(t);
  const [config = [], policy = []] = examplesIn('approvals', 'Set the policy', 2);
  const [proposing = [], approving = [], releasing = []] = examplesIn('approvals', 'Propose, approve, release', 3);
  configured(config);
  await until(async () => /^releases snap\/\*:\*\/stable +2 /m.test((await run(policy[1] ?? '')).out));

  const [release = '', ...looking] = proposing;
  const { code, err } = await run(release);
  t.match({ code, err }, { code: 1, err: /Not yet: bob \(from \S+\), carol \(from/ });
  t.same(missingOutput('approvals', 'Propose, approve, release', err), []);
  for (const line of looking) t.match(await run(line), { code: 0, out: /snap\/hello/ }, line);
  t.match(
    await asPerson(approving[0] ?? '', 'bob'),
    { code: 1, err: /approvals count from/ },
    'three days have not gone by',
  );
  await fourDaysLater();
  // bob's code was used by the attempt that did not count; the next step's is taken as well.
  const bobs = await asPerson(approving[0] ?? '', 'bob', 1);
  t.equal(bobs.code, 0, bobs.err);
  t.equal((await asPerson(approving[1] ?? '', 'carol')).code, 0);
  for (const line of releasing) t.match(await run(line), { code: 0 }, line);
});

t.test('the approvers of init approve on the first day, and not after a change of their account', async (t) => {
  const data = join(folder(t), 'data');
  const [[init = ''] = []] = examplesIn('approvals', 'Two approvers on the first day', 1);
  const run = (line: string, stdin: string[] = []) => larder(`${line} --data ${data}`, { stdin });
  const made = await run(`${init.replace(/^larder /, '')} --json`);
  t.match(made, { code: 0, err: '' });
  const { approvers } = JSON.parse(made.out) as {
    approvers: { id: string; username: string; link: string; secret: string }[];
  };
  t.match(approvers, [{ username: 'bob' }, { username: 'carol' }]);

  const configured = (section: string): void => {
    const file = join(data, 'larder.toml');
    const before = readFileSync(file, 'utf8').split('\n[approvals]')[0] ?? '';
    writeFileSync(file, `${before}\n[approvals]\n${section}\n`);
  };
  configured('transfers = "2"');
  const serving = await serve(t, data);
  t.match(await run('approval policy'), { out: /^transfers +2 +2$/m }, 'two approvers are there');
  for (const { link } of approvers) t.equal(await setUpWith(link, serving.url, password), 303);
  // Turning approvals off is a change that needs two approvals.
  configured('');
  serving.child.kill('SIGHUP');
  await serving.says(
    /is not in force: Waits for 2 more approvals \(proposal 1, until \S+\. Who may approve: bob, carol\./,
  );
  const approve = (who: number) => {
    const { username, secret } = approvers[who]!;
    const code = codeAt(fromBase32(secret), Math.floor(Date.now() / 30_000));
    return run(`approval approve 1 --as ${username} --password-stdin --one-time-password ${code}`, [password]);
  };
  t.match(await approve(0), { code: 0, out: /^Approved\. Proposal 1 waits for 1 more/ });
  const link = (await run(`account invite ${approvers[1]!.id}`)).out.trim();
  t.match(await approve(1), { code: 1, err: /was changed by cli:\S+ \(invite_account\).*approvals count from/ });
  t.equal(await setUpWith(link, serving.url, `${password} again`), 303);
  t.match(await run('approval show 1'), { out: /carol \(counts from \S+ on: the account was changed\)/ });
});

t.test('init makes no single approver, and none with a name that is taken or is none', async (t) => {
  const data = join(folder(t), 'data');
  for (const [names, problem] of [
    [['bob'], /given twice or more/],
    [['bob', 'bob'], /'bob' is taken/],
    [['bob', 'admin'], /'admin' is taken/],
    [['bob', 'a b'], /--approver: /],
  ] as const) {
    const options = names.map((name) => `--approver '${name}'`).join(' ');
    t.match(await larder(`init --data ${data} ${options}`), { code: 2, err: problem });
  }
  t.notOk(existsSync(data), 'and nothing is made');
});
