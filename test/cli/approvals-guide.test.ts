// The guide to approvals, typed as it stands: ada proposes, bob and carol approve.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { codeAt } from '#identity/totp.ts';
import { days } from '#domain/clock.ts';
import { fromBase32 } from '#test/fixtures/base32.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages.ts';
import { until } from '#test/fixtures/until.ts';
import { folder, serve } from './process.ts';
import { setUpWith } from './set-up.ts';
import { larder } from './world.ts';

const guide = readFileSync(join(import.meta.dirname, '../../src/api/documents/guides/approvals.html'), 'utf8');
const everyBlock = [...guide.matchAll(/<pre><code>([^]*?)<\/code><\/pre>/g)].map(([, text = '']) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').split('\n'),
);
/** A store of its own is made with the first approvers. */
const isFirstDay = ([line = '']: string[]): boolean => line.startsWith('larder init');
const blocks = everyBlock.filter((block) => !isFirstDay(block));
const password = 'four pumps at the harbour, 9';

/** ada has snap/hello, and nobody is called bob yet but in the guide. */
async function published(t: Parameters<typeof startStore>[0]) {
  const store = await startStore(t);
  await store.beside.records.change(
    { at: '2026-03-01T12:00:00.000Z', actor: 'test', action: 'test', object: 'bob' },
    // The store of the tests has a bob already.
    (tx) => tx.accounts.update({ ...bob(store.ids.bob), username: 'robert', email: 'robert@example.com' }),
  );
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  await addRevision(store, id, 1);
  store.clock.advance(Date.now() - store.clock.now.getTime());
  const run = (line: string, stdin: string[] = []) =>
    larder(`${line.replace(/^larder /, '')} --data ${store.directory}`, { stdin });
  const secrets = new Map<string, Buffer>();
  for (const line of blocks[0] ?? []) {
    const outcome = await (line.includes(' password ') ? run(`${line} --password-stdin`, [password]) : run(line));
    if (outcome.code !== 0) throw new Error(`${line}: ${outcome.err}`);
    const secret = /Secret: +(\w+)/.exec(outcome.out)?.[1];
    if (secret !== undefined) secrets.set(line.split(' ').at(-1) ?? '', fromBase32(secret));
  }
  const configured = (config: string[]): void => {
    const file = join(store.directory, 'larder.toml');
    const before = readFileSync(file, 'utf8').split('[approvals]')[0] ?? '';
    writeFileSync(file, before + config.join('\n'));
    store.appliance.reload();
  };
  /** As if all that was done to these accounts had been done four days ago. */
  const fourDaysLater = async (): Promise<void> => {
    const at = new Date(Date.now() - days(4)).toISOString();
    await store.beside.records.change({ at, actor: 'test', action: 'test', object: 'days' }, async (tx) => {
      for (const who of ['bob', 'carol']) await tx.accounts.touch(who, { at, by: 'cli:root', what: 'account role' });
    });
    store.clock.advance(60_000);
  };
  const codeOf = (who: string, steps = 0) =>
    codeAt(secrets.get(who) ?? Buffer.alloc(20), Math.floor(Date.now() / 30_000) + steps);
  const asPerson = (line: string, who: string, steps = 0) =>
    run(`${line} --as ${who} --password-stdin --one-time-password ${codeOf(who, steps)}`, [password]);
  return { run, configured, fourDaysLater, asPerson };
}

t.test('two people approve of a release as the guide says', async (t) => {
  const { run, configured, fourDaysLater, asPerson } = await published(t);
  const [, config = [], policy = [], proposing = [], approving = [], releasing = []] = blocks;
  configured(config);
  await until(async () => /^releases snap\/\*:\*\/stable +2 /m.test((await run(policy[1] ?? '')).out));

  const [release = '', ...looking] = proposing;
  t.match(await run(release), {
    code: 1,
    err: /Waits for 2 more approvals \(proposal 1, .*Not yet: bob \(from \S+\), carol \(from/s,
  });
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

t.test('and sign what they approve of, where the guide asks for that', async (t) => {
  const { run, configured, fourDaysLater, asPerson } = await published(t);
  const [making = [], registering = [], config = [], proposing = [], signing = [], approving = []] = blocks.slice(6);
  const home = folder(t);
  const atHome = ([, ...lines]: string[]): void => {
    for (const line of lines) {
      // Whoever makes a key is asked for a passphrase, and once more.
      const asked = line.includes(' -t ') ? "printf '\\n\\n' | " : '';
      execFileSync('sh', ['-c', asked + line], { cwd: home, stdio: 'ignore' });
    }
  };
  // The files are carried to and fro in a folder.
  const carried = (line: string): string => line.replace(/ (?=\S+\.(?:pub|sig)$|proposal-1$)/, ` ${home}/`);
  atHome(making);
  for (const line of registering) t.match(await run(carried(line)), { code: 0 }, line);
  configured(config);
  await until(async () => /^releases \S+ +2 signed /m.test((await run('approval policy')).out));
  await fourDaysLater();
  const [release = '', show = ''] = proposing;
  t.match(await run(release), { code: 1, err: /Waits for 2 more approvals .* They sign what they approve of\./ });
  t.match(await run(carried(show)), { code: 0, out: /proposal-1 is what whoever approves signs/ });
  atHome(signing);
  t.match(readFileSync(join(home, 'proposal-1'), 'utf8'), /^larder approval 1\nstore: "harbour"\n/);
  const [bobs = '', carols = '', again = ''] = approving;
  t.match((await run('approver-key list carol')).out, /SHA256:\S+ +ssh-ed25519/);
  t.match(await asPerson(carried(bobs), 'bob'), { code: 0, out: /bob, \S+, signed with SHA256:/ });
  t.match(await asPerson(carried(carols), 'carol'), { code: 0, out: /Proposal 1 approved/ });
  t.match(await run(again), { code: 0 });
});

t.test('the approvers of init approve on the first day, and not after a change of their account', async (t) => {
  const data = join(folder(t), 'data');
  const [init = ''] = everyBlock.find(isFirstDay) ?? [];
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
  // To ask nobody any more is a change that waits for two approvals.
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
  t.match(await approve(1), { code: 1, err: /was changed by cli:\S+ \(account invite\).*approvals count from/ });
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

const bob = (id: string) => ({ id, displayName: 'Bob', validation: 'unproven', createdAt: '2026-03-01T12:00:00.000Z' });
