// A transfer that waits for approval: two people approve its changes, and the same command then accepts it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { askingSite, configure } from '#test/fixtures/accounts/approvers.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { rootsFile } from '#test/fixtures/packages/online-store.ts';
import { folder } from '#test/cli/process.ts';
import { until } from '#test/fixtures/until.ts';
import { idOf } from '#transfers/statement/statement.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { snapOf } from '#test/fixtures/packages/online-store.ts';
import { example, goodNow, helloWith, seedOf, written } from '#test/transfers/statement/example.ts';
import { offered, twoSites } from '#test/transfers/sites.ts';

t.setTimeout(600_000);

t.test('the changes of a transfer wait for two people, and its receipt names them', async (t) => {
  const { depot, stick, carry } = await twoSites(t);
  const { store, run, judge } = await askingSite(t, 'transfers = "2 of B, C, D"');
  changeConfig(join(store.directory, 'larder.toml'), { 'assertions.trusted': [rootsFile(folder(t))] });
  await run('site init site-b');
  const shown = (await depot.done(`site show --export ${join(stick, 'source.json')}`)) as {
    site: { fingerprints: string[] };
  };
  const trust = `site trust ${join(stick, 'source.json')} --fingerprint ${shown.site.fingerprints[0] ?? ''}`;
  t.match(await run(trust), { code: 1, err: /Waits for 2 more approvals/ }, 'whom to believe is no easier');
  for (const who of ['bob', 'carol']) t.match(await judge('approve', who, 1), { code: 0 });
  t.match(await run(trust), { code: 0 });

  await carry(offered('hello-on', 12));
  const { id } = (await depot.done(`transfer make ${join(stick, 'one.tar')}`)) as { id: string };
  await run(`transfer receive ${join(stick, 'one.tar')}`);
  const waits = await run(`transfer accept ${id} --yes --json`);
  t.match(waits, { code: 1, err: /Waits for 2 more approvals \(proposal 2, .*"approval-required"/ });
  t.match(await run(`transfer accept ${id} --yes`), { code: 1, err: /proposal 2/ }, 'the same again adds nothing');
  t.match(await run('approval show 2'), { out: /snap\/hello-on revision 12/ });
  t.match(await run('package list --json'), { out: /"packages":\[\]/ }, 'nothing came in meanwhile');
  for (const who of ['dave', 'bob']) t.match(await judge('approve', who, 2), { code: 0 });
  const came = await run(`transfer accept ${id} --yes --json`);
  t.match(came, { code: 0 });
  const { approvals } = JSON.parse(came.out) as { approvals: { accountId: string }[] };
  t.same(approvals.map(({ accountId }) => accountId).sort(), [store.ids.bob, store.ids['dave']].sort());

  const back = await run(`transfer withdraw ${id} --yes`);
  t.match(back, { code: 1, err: /Waits for 2 more approvals/ }, 'to put it back waits as well');
  const changes = (await run('approval show 3')).out.split('\n').filter((line) => line.includes('latest/stable'));
  t.equal(new Set(changes).size, changes.length, 'each change is listed once');
  t.ok(changes.length > 0);
  t.match(await run('site reset-floor depot --to 0 --yes'), { code: 1, err: /Waits for 2 more approvals/ });
  t.match((await run('approval show 4')).out, /number 1\b.*number 0; later numbers can be accepted again/s);
});

t.test('a policy that cannot be met lets no transfer in, until it is in force', async (t) => {
  const { depot, stick, carry } = await twoSites(t);
  const { store, run } = await askingSite(t, '');
  changeConfig(join(store.directory, 'larder.toml'), { 'assertions.trusted': [rootsFile(folder(t))] });
  const shown = (await depot.done(`site show --export ${join(stick, 'source.json')}`)) as {
    site: { fingerprints: string[] };
  };
  const trust = `site trust ${join(stick, 'source.json')} --fingerprint ${shown.site.fingerprints[0] ?? ''}`;
  t.match(await run(trust), { code: 0 });
  await carry(offered('hello-on', 12));
  const { id } = (await depot.done(`transfer make ${join(stick, 'one.tar')}`)) as { id: string };
  await run(`transfer receive ${join(stick, 'one.tar')}`);
  const section = (lines: string): void => {
    const file = join(store.directory, 'larder.toml');
    const [before = ''] = readFileSync(file, 'utf8').split('[approvals]');
    writeFileSync(file, `${before}[approvals]\n${lines}\n`);
  };
  const refused =
    /The approval policy in larder\.toml covers this and is not in force\. The policy asks for 2 people, and 0 enabled/;
  for (const rule of ['transfers = "2"', 'releases = ["2 for snap/*:*/stable"]']) {
    section(rule);
    t.match(await run(`transfer accept ${id} --yes`), { code: 1, err: refused }, 'also before the server has read it');
    store.appliance.reload();
    await until(async () => ((await store.anyone.get('/readyz')).body as { problems: string[] }).problems.length > 0);
    t.match(await run(`transfer accept ${id} --yes`), { code: 1, err: refused });
    t.match(await run('approval policy'), {
      out: /0 +2\n\[approvals\] in larder\.toml is not in force\. The policy asks for 2/,
    });
    t.match(await run('approval list'), { out: /Nothing waits/ }, 'nothing is proposed that could not be approved');
  }
  t.match(await run('package list --json'), { out: /"packages":\[\]/ });
  for (const who of ['B', 'C']) {
    const account = who === 'B' ? store.ids.bob : (store.ids['carol'] ?? '');
    t.match(await run(`account role ${account} transfer-approver`), { code: 0 }, 'what brings it into force is done');
  }
  t.match(await run(`transfer accept ${id} --yes`), {
    code: 1,
    err: /puts it into force when it starts or reads its/,
  });
  await configure(store, 'transfers = "2"');
  t.match(await run(`transfer accept ${id} --yes`), {
    code: 1,
    err: /Waits for 2 more approvals .* Not yet: bob \(from/,
  });
});

largeTest('if releases to a channel need approval, a transfer to it does too', async (t) => {
  const { depot, stick, carry } = await twoSites(t);
  const { store, run, judge } = await askingSite(t, 'releases = ["1 of B for snap/*:*/stable"]');
  changeConfig(join(store.directory, 'larder.toml'), { 'assertions.trusted': [rootsFile(folder(t))] });
  const shown = (await depot.done(`site show --export ${join(stick, 'source.json')}`)) as {
    site: { fingerprints: string[] };
  };
  const trust = `site trust ${join(stick, 'source.json')} --fingerprint ${shown.site.fingerprints[0] ?? ''}`;
  await run(trust);
  t.match(await judge('approve', 'bob', 1), { code: 0 });
  t.match(await run(trust), { code: 0 });
  await carry(offered('hello-on', 12));
  await carry(offered('edge-onl', 3), 'edge');
  const made = async (name: string): Promise<string> => {
    const file = join(stick, `${name}.tar`);
    const { id } = (await depot.done(`transfer make ${file} --packages snap/${name}`)) as { id: string };
    await run(`transfer receive ${file}`);
    return id;
  };
  t.match(await run(`transfer accept ${await made('edge-onl')} --yes`), { code: 0 }, 'edge waits for nobody');
  const id = await made('hello-on');
  t.match(await run(`transfer accept ${id} --yes`), { code: 1, err: /Waits for 1 more approval \(proposal 2/ });
  t.match(await run('approval show 2'), { out: /snap\/hello-on:latest\/stable \(amd64\): nothing → 12/ });
  t.match(await judge('approve', 'bob', 2), { code: 0 });
  t.match(await run(`transfer accept ${id} --yes`), { code: 0 });
});

/** A transfer of a trusted depot, approved by bob. */
async function fromDepot(
  t: Parameters<typeof folder>[0],
  { run, judge }: Pick<Awaited<ReturnType<typeof askingSite>>, 'run' | 'judge'>,
  statement: Parameters<typeof example>[1] = {},
): Promise<{ part: string; id: string }> {
  const stick = folder(t);
  const { publicKey } = seedOf(1);
  const identity = join(stick, 'depot.json');
  writeFileSync(identity, JSON.stringify({ format: 1, site: 'depot', keys: [publicKey], threshold: 1 }));
  await run('site init site-b');
  const trust = `site trust ${identity} --fingerprint ${fingerprintOf([publicKey])[0] ?? ''}`;
  await run(trust);
  await judge('approve', 'bob', 1);
  await run(trust);
  const file = snapOf(offered('hello-on', 1));
  const transfer = example([file], { packages: [{ ...helloWith([file]), name: 'hello-on' }], ...statement });
  const [part = ''] = await written(transfer, stick);
  return { part, id: idOf(transfer.bytes) };
}

t.test('an expired transfer is accepted only with an approval policy, and approval of exactly that', async (t) => {
  const { store, run, judge } = await askingSite(t, 'requests = "1 of B"');
  const { part, id } = await fromDepot(t, { run, judge });
  t.match(await run(`transfer receive ${part}`), {
    code: 1,
    err: /The transfer expired at 2026-10-28.* make it again/,
  });
  await configure(store, `requests = "1 of ${store.ids.bob}"\nunsigned_folders = "1 of ${store.ids.bob}"`);
  t.match(await run(`transfer receive ${part}`), { code: 0 });
  t.match(await run(`transfer preview ${id}`), { out: /It has expired: it can be accepted only with the approvals/ });
  t.match(await run(`transfer accept ${id} --yes`), { code: 1, err: /Waits for 1 more approval \(proposal 2/ });
  t.match(await run('approval show 2'), { out: /transfer 1 of depot.*good until 2026-10-28.*let in later than that/ });
  t.match(await judge('approve', 'bob', 2), { code: 0 });
  const came = await run(`transfer accept ${id} --yes --json`);
  t.match(JSON.parse(came.out), { expired: '2026-10-28T12:00:00Z', approvals: [{ accountId: store.ids.bob }] });
});

t.test('a stricter policy after an approval counts', async (t) => {
  const { store, run, judge } = await askingSite(t, 'transfers = "1 of B, C, D"');
  const { part, id } = await fromDepot(t, { run, judge }, goodNow());
  await run(`transfer receive ${part}`);
  const accept = () => run(`transfer accept ${id} --yes`);
  t.match(await accept(), { code: 1, err: /Waits for 1 more approval \(proposal 2/ });
  t.match(await judge('approve', 'dave', 2), { code: 0 });
  const people = [store.ids.bob, store.ids['carol'], store.ids['dave']].join(', ');
  await configure(store, `transfers = "2 of ${people}"`);
  t.match(await accept(), { code: 1, err: /Waits for 1 more approval \(proposal 2.*carol/ });
  t.match(await judge('approve', 'carol', 2), { code: 0 });
  t.match(await accept(), { code: 0 });
});
