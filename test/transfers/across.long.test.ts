// A transfer from one site to another: made, exported, received, previewed, accepted, rolled back.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import type { ExaminedStore } from '#examinations/examination.ts';
import { transfers } from '#examinations/transfers.ts';
import { openStore } from '#data/store.ts';
import { changeConfig } from '#configuration/config.ts';
import { newStore } from '#test/cli/process.ts';
import { offered, trust, twoSites, site, type Sites } from './sites.ts';

t.setTimeout(600_000);

t.test('the content of the depot is the same at the other site', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  await carry(offered('other-on', 3), 'edge');
  const made = await depot.done(`transfer make ${stick} --media disc-17`);
  t.match(made, { sequence: 1, files: [join(stick, 'depot-1.tar')], packages: 2, revisions: 2 });
  t.match(await receiver.done(`transfer check ${stick}`), {
    transfers: [
      { id: made.id, source: 'depot', lacking: [], packages: [{ name: 'snap/hello-on' }, { name: 'snap/other-on' }] },
    ],
  });
  t.match(await receiver.done(`transfer receive ${stick} --media disc-17`), { id: made.id, lacking: [] });
  await receiver.done(`transfer receive ${stick} --media 'the disc in the safe'`);
  t.match(await receiver.json('package list'), { packages: [] }, 'nothing is visible before the transfer is accepted');
  const seen = await receiver.done(`transfer preview ${made.id}`);
  t.match(seen.problems, []);
  t.match(seen.lines, [
    { package: 'snap/hello-on', kind: 'package', to: 'published by maker' },
    { package: 'snap/hello-on', kind: 'revision', what: 'revision 12', word: 'upstream' },
    { package: 'snap/hello-on', kind: 'release', what: 'latest/stable (amd64)', from: null, to: '12' },
    { package: 'snap/hello-on', kind: 'account', what: 'account maker', from: null, word: 'upstream' },
    { package: 'snap/other-on', kind: 'package' },
    { package: 'snap/other-on', kind: 'revision', what: 'revision 3', word: 'upstream' },
    { package: 'snap/other-on', kind: 'release', what: 'latest/edge (amd64)', from: null, to: '3' },
  ]);
  const receipt = await receiver.done(`transfer accept ${made.id} --yes --seen ${seen.digest}`);
  t.match(receipt, { transfer: made.id, source: 'depot', lines: seen.lines });
  const store = await openStore({ directory: receiver.data });
  t.teardown(store.close);
  const hello = await store.records.packages.find('snap', 'hello-on');
  t.match(hello, { id: offered('hello-on', 12).id, publisherId: 'maker', status: 'published' });
  t.match(await store.records.releases.current(hello!.id, '2026'), [{ channel: 'latest/stable', revision: 12 }]);
  t.match(await receiver.done('transfer list'), { transfers: [{ id: made.id, status: 'accepted' }] });
  await tellsOf(t, { depot, here: receiver, stick, made });
  const again = await receiver.larder(`transfer receive ${stick}`);
  t.match(
    again,
    { code: 0, out: /was already accepted; nothing was received/ },
    'the same transfer again brings nothing',
  );
  t.same(await receiver.done(`transfer accept ${made.id} --yes`), receipt, 'and letting it in again is done already');
});

/** The written evidence for readers a year later: the receipt, and the reports at both ends. */
async function tellsOf(
  t: Test,
  { depot, here: receiver, stick, made }: Pick<Sites, 'depot' | 'here' | 'stick'> & { made: { id: string } },
): Promise<void> {
  const file = join(stick, 'receipt.json');
  await receiver.done(`transfer receipt ${made.id} ${file}`);
  const { payload } = JSON.parse(readFileSync(file, 'utf8')) as { payload: string };
  const receipt = JSON.parse(Buffer.from(payload, 'base64').toString('utf8')) as Record<string, object[]>;
  t.match(receipt, {
    media: ['disc-17', 'the disc in the safe'],
    signatures: [{ keyid: /^[0-9a-f]{64}$/, sig: /^\S{88}$/ }],
    policy: {},
    sources: [{ name: 'depot', threshold: 1, packages: ['*/*'], 'may-release': true }],
    'audit-head': { seq: Number },
  });
  const archive = readFileSync(join(stick, 'depot-1.tar'));
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const left = { what: 'transfer', name: made.id, sha256, bytes: archive.length, media: 'disc-17' };
  t.match(await depot.done('audit report --from 2020-01-01'), { exports: [left], arrivals: [] });
  const moved = join(stick, 'moved.csv');
  const html = join(stick, 'report.html');
  const came = await receiver.done(`audit report --from 2020-01-01 --moved ${moved} --html ${html}`);
  const changes = receipt['lines']?.length ?? 0;
  t.match(came, { arrivals: [{ source: 'depot', sequence: 1, transfer: made.id, changes, withdrawnAt: null }] });
  t.match(
    readFileSync(moved, 'utf8'),
    /^"in","[^"]+","cli:[^"]+","transfer","depot 1","[0-9a-f]{64}","","disc-17; the/m,
  );
  t.match(readFileSync(html, 'utf8'), /Accepted transfers[^]*depot 1[^]*disc-17, the disc in the safe[^]*All entries/);
  t.match(await receiver.done('audit report --from 2020-01-01 --to 2020-02-01'), { arrivals: [] });
}

t.test('the next transfer contains the unsent packages, and a withdrawal restores the channels', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  await carry(offered('other-on', 3));
  await carry(offered('hello-on', 12));
  const first = await depot.done(`transfer make ${join(stick, 'one.tar')} --for site-a`);
  await receiver.done(`transfer receive ${join(stick, 'one.tar')}`);
  await receiver.done(`transfer accept ${first.id} --yes`);
  await carry(offered('hello-on', 13));
  const second = await depot.done(`transfer make ${join(stick, 'two.tar')} --for site-a --since-sent`);
  t.match(second, { packages: 1, revisions: 1 }, 'of what has not changed nothing is said');
  await receiver.done(`transfer receive ${join(stick, 'two.tar')}`);
  const seen = await receiver.done(`transfer preview ${second.id}`);
  t.match(seen.lines, [
    { kind: 'revision', what: 'revision 13' },
    { kind: 'release', from: '12', to: '13' },
  ]);
  t.equal(seen.lines.length, 2);
  await receiver.done(`transfer accept ${second.id} --yes`);
  const store = await openStore({ directory: receiver.data });
  t.teardown(store.close);
  const { id } = (await store.records.packages.find('snap', 'hello-on'))!;
  t.match(await store.records.releases.current(id, '2026'), [{ revision: 13 }]);
  await receiver.done(`transfer withdraw ${second.id} --yes`);
  t.match(await store.records.releases.current(id, '2026'), [{ revision: 12 }]);
  t.ok(await store.records.revisions.find(id, 13), 'the revision stays');
  const twice = await receiver.larder(`transfer withdraw ${second.id} --yes`);
  t.match(twice.err, /withdrawn already/);

  const third = await depot.done(`transfer make ${join(stick, 'three.tar')} --packages snap/hello-on`);
  await receiver.done(`transfer receive ${join(stick, 'three.tar')}`);
  const elsewhere = '--as-channel stable=stable/site-test';
  const tried = await receiver.done(`transfer preview ${third.id} ${elsewhere}`);
  t.match(tried.lines, [{ kind: 'release', what: 'latest/stable/site-test (amd64)', from: null, to: '13' }]);
  t.equal(tried.lines.length, 1);
  t.match(
    (await receiver.larder(`transfer preview ${third.id} --as-channel stable=2.0/stable`)).err,
    /does not name two channels/,
  );
  await receiver.done(`transfer accept ${third.id} ${elsewhere} --seen ${tried.digest} --yes`);
  t.match(
    (await store.records.releases.current(id, '2026')).map(({ channel, revision }) => `${channel} ${String(revision)}`),
    ['latest/stable 12', 'latest/stable/site-test 13'],
  );
});

t.test('a transfer without changes is empty, and a transfer that depends on a lost one says so', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  const carried = async (name: string): Promise<{ id: string; file: string }> => {
    const file = join(stick, `${name}.tar`);
    return { file, id: (await depot.done(`transfer make ${file} --for site-a --since-sent`)).id };
  };
  await carry(offered('hello-on', 12));
  await carried('lost');
  await carry(offered('other-on', 3));
  const second = await carried('second');
  await receiver.done(`transfer receive ${second.file}`);
  const seen = await receiver.done(`transfer preview ${second.id}`);
  t.match(seen['left-out'], [{ what: 'number 1 of depot', why: /that one was not accepted here/ }]);
  t.match(seen.lines, [{ package: 'snap/other-on' }, {}, {}]);
  await receiver.done(`transfer accept ${second.id} --yes`);
  const third = await carried('third');
  t.match(await receiver.done(`transfer check ${third.file}`), { transfers: [{ packages: [] }] });
  await receiver.done(`transfer receive ${third.file}`);
  t.match(await receiver.done(`transfer accept ${third.id} --yes`), { lines: [], 'left-out': [{}] });
  await carry(offered('hello-on', 13));
  const fourth = await carried('fourth');
  await receiver.done(`transfer receive ${fourth.file}`);
  t.match(await receiver.done(`transfer preview ${fourth.id}`), { 'left-out': [], problems: [] });
});

t.test('a transfer in parts comes on many visits, in any order; a lost part is made again', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  for (const number of [1, 2, 3]) await carry(offered(`part-on${String(number)}`, number));
  const made = await depot.done(`transfer make ${join(stick, 'in.tar')}`);
  t.equal(made.parts, 1);
  const whole = statSync(join(stick, 'in.tar')).size;
  t.ok(whole > 0);
  t.match(await receiver.done(`transfer receive ${join(stick, 'in.tar')}`), { lacking: [] });
  await depot.done(`transfer make ${join(stick, 'again.tar')} --again 1`);
  t.same(readdirSync(stick).includes('again.tar'), true);
  t.match(await receiver.done(`transfer check ${join(stick, 'again.tar')}`), { transfers: [{ id: made.id }] });
});

t.test('a mistake in making or accepting a transfer is reported, and changes nothing', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  const nameless = await newStore(t);
  const file = join(stick, 'nameless.json');
  t.match(await nameless.larder(`site show --export ${file}`), {
    code: 1,
    err: /no name yet\. Give it a name and a key with 'larder site init NAME'/,
  });
  t.notOk(existsSync(file));
  const { id } = await depot.done(`transfer make ${join(stick, 'in.tar')}`);
  t.match(await depot.larder(`transfer receive ${join(stick, 'in.tar')}`), {
    code: 1,
    err: /was made here, at 'depot'/,
  });
  await receiver.done(`transfer receive ${join(stick, 'in.tar')}`);
  t.match(await receiver.larder(`transfer preview ${id.slice(0, 4)}`), {
    code: 1,
    err: /is too short\. Give at least six digits/,
  });
  const idle = { code: 1, err: /Nothing in this transfer matches '(?:snap\/helo-on|charm\/\*)'/ };
  for (const slip of ['--without snap/helo-on', '--without snap/hello-on --without charm/*', '--only charm/*']) {
    t.match(await receiver.larder(`transfer preview ${id} ${slip}`), idle);
    t.match(await receiver.larder(`transfer accept ${id} ${slip} --yes`), idle);
  }
  t.match(await receiver.json('transfer list'), { transfers: [{ status: 'waiting' }] });
  const left = '--without snap/* --without assertion/model';
  t.match(await receiver.json(`transfer preview ${id} ${left}`), { 'left-out': [{ package: 'snap/hello-on' }] });
  t.match((await receiver.larder(`transfer accept ${id} --yes`)).out, /undoes its release/);
});

t.test('a source without trust is refused, and each refusal states the reason', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  const stranger = await site(t, 'stranger');
  const made = await depot.done(`transfer make ${join(stick, 'in.tar')} --for site-b`);
  const refused = async (line: string): Promise<string> => (await receiver.larder(line)).err;
  t.match(
    await refused(`transfer receive ${join(stick, 'in.tar')}`),
    /The transfer is for site-b, and this site is 'site-a'/,
  );
  t.match(
    (await stranger.larder(`transfer receive ${join(stick, 'in.tar')}`)).err,
    /comes from 'depot', and this site does not trust/,
  );
  t.match(await refused(`transfer preview ${made.id}`), /No transfer/);
  await receiver.done('site distrust depot --yes');
  t.match(await refused(`transfer receive ${join(stick, 'in.tar')}`), /this site does not trust that source/);
  await trust(receiver, depot, join(stick, 'again.json'), '--packages charm/*');
  const open = await depot.done(`transfer make ${join(stick, 'open.tar')}`);
  await receiver.done(`transfer receive ${join(stick, 'open.tar')}`);
  t.match(await receiver.json(`transfer preview ${open.id}`), {
    problems: [{ package: 'snap/hello-on', why: "'depot' may bring charm/*, and not this." }],
  });
  t.match(await refused(`transfer accept ${open.id} --yes`), /Nothing was accepted/);
  await trust(receiver, depot, join(stick, 'third.json'), '--no-releases');
  const seen = await receiver.done(`transfer preview ${open.id}`);
  await receiver.done(`transfer discard ${open.id}`);
  t.match(await refused(`transfer accept ${open.id} --yes`), /was discarded/);
  t.same(
    seen.lines.map(({ kind }: { kind: string }) => kind),
    ['package', 'revision', 'account'],
  );
});

t.test('doctor reports it if no transfer has arrived for longer than expected', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  const says = async (): Promise<unknown> => {
    const { out } = await receiver.larder('doctor --json');
    return (JSON.parse(out) as { findings: { what: string }[] }).findings.find(
      ({ what: title }) => title === 'Transfers',
    );
  };
  t.match(await says(), { level: 'well', says: /none is expected/ });
  changeConfig(join(receiver.data, 'larder.toml'), { 'transfers.expected_days': 30 });
  t.match(await says(), { level: 'notice', says: /No transfer was ever accepted here/ });
  await carry(offered('hello-on', 12));
  const { id } = await depot.done(`transfer make ${stick}/one.tar`);
  await receiver.done(`transfer receive ${stick}/one.tar`);
  t.match(await says(), { level: 'notice' }, 'what waits has not come in');
  await receiver.done(`transfer accept ${id} --yes`);
  t.match(await says(), { level: 'well', says: /the last was accepted at/ });
  const store = await openStore({ directory: receiver.data });
  t.teardown(store.close);
  const look = async (later: number) => {
    const now = () => new Date(Date.now() + later * 24 * 60 * 60 * 1000);
    const patient = {
      data: receiver.data,
      config: () => store.config,
      store: async () => ({ ...store, now }),
    } as unknown as ExaminedStore;
    return transfers.look(patient);
  };
  t.match(await look(29), { level: 'well' });
  t.match(await look(31), {
    level: 'notice',
    says: /No transfer was accepted for 31 days, and one is expected every 30 days/,
  });
});
