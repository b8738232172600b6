// Between sites, by commands alone: a site makes a request; a collector without a store gathers the output of official
// tools; two people accept the transfer; a device installs. The next request reports it, the next transfer contains
// only new packages, and the same collector serves other sites.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { stream } from '#assertions/format/assertion.ts';
import { commandsOn, folder } from '#test/cli/process.ts';
import { snapFixture } from '#test/fixtures/appliance.ts';
import { askingSite } from '#test/fixtures/accounts/approvers.ts';
import { refresh, servingSnaps } from '#test/fixtures/devices.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import {
  assertionsOf,
  download,
  offered,
  rootsFile,
  snapOf,
  type Offered,
} from '#test/fixtures/packages/online-store.ts';
import { snapPath } from '#test/review/fixtures.ts';
import { site } from '#test/transfers/sites.ts';
import { readRequest } from '#transfers/request/request-file.ts';

t.setTimeout(600_000);

/** A collector at a machine that is online; it has no store. */
async function collector(t: Test) {
  const { larder } = commandsOn(join(folder(t), 'collector'));
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the caller knows the shape
  const done = async (line: string): Promise<any> => {
    const { code, out, err } = await larder(`${line} --json`);
    if (code !== 0) throw new Error(`${line}: ${err || out}`);
    return JSON.parse(out) as unknown;
  };
  const { fingerprints } = await done('site init desk --collector');
  return { done, fingerprint: fingerprints[0] as string };
}

/** The requesting site: it serves devices, and two of three people accept transfers. */
async function asking(t: Test) {
  const [port, roots] = [await freePort(), rootsFile(folder(t))];
  const { store, run, judge } = await askingSite(t, 'transfers = "2 of B, C, D"', (text) =>
    servingSnaps(text)
      .replace('127.0.0.1:0', `127.0.0.1:${String(port)}`)
      .replaceAll(':8080', `:${String(port)}`)
      .replace(/^# trusted = .*$/m, `trusted = ["${roots}"]`),
  );
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the caller knows the shape
  const done = async (line: string): Promise<any> => {
    const { code, out, err } = await run(`${line} --json`);
    if (code !== 0) throw new Error(`${line}: ${err || out}`);
    return JSON.parse(out) as unknown;
  };
  let proposals = 0;
  /** Does what waits for two people. */
  const together = async (line: string) => {
    const waits = await run(`${line} --json`);
    if (!waits.err.includes('approval-required')) throw new Error(`${line}: ${waits.err || waits.out}`);
    proposals++;
    // A code is valid once, so each approver approves only some changes.
    for (const who of proposals === 1 ? ['bob', 'carol'] : ['dave', 'bob']) {
      const judged = await judge('approve', who, proposals);
      if (judged.code !== 0) throw new Error(judged.err);
    }
    return done(line);
  };
  return { store, run, done, together };
}

/** The output of official tools for a snap that is too large for one part. */
async function downloadLarge(fetched: string, offer: Offered): Promise<void> {
  const file = Buffer.concat([snapOf(offer), Buffer.alloc(3 * 1024 * 1024, String(offer.revision))]);
  const path = join(fetched, `${offer.name}_${String(offer.revision)}`);
  writeFileSync(`${path}.snap`, file);
  writeFileSync(`${path}.assert`, stream(await assertionsOf(offer, file)));
}

t.test('a site requests its missing packages, gets them from an online collector, and reports it', async (t) => {
  const [fetched, stick] = [folder(t), folder(t)];
  const [receiver, desk] = [await asking(t), await collector(t)];
  await receiver.done('site init site-a');
  await desk.done(`site show --export ${stick}/desk.json`);
  await receiver.together(`site trust ${stick}/desk.json --fingerprint ${desk.fingerprint}`);

  // The content of the first request of a new site.
  const { ada } = receiver.store.ids;
  await receiver.done(`brand create --account ${ada} --name Harbour`);
  await receiver.done(`key create ${ada} default`);
  await receiver.done(`key request default --brand ${ada} --local`);
  const publisher = await receiver.store.as('ada');
  await publisher.post('/v1/snap', { name: 'foo' });
  await publisher.push('snap', 'foo', await snapFixture('delegated'));
  await receiver.done('subscription add --set ubuntu-core --architecture amd64');
  await receiver.done('subscription add snap/hello-on --architecture amd64');
  const first = await receiver.done(`transfer request ${stick} --yes`);
  const { statement, files } = await readRequest(first.file as string);
  t.match(statement['key-requests'], [{ account: ada, name: 'default', text: /^type: account-key-request\n/ }]);
  t.match(statement.provenance, [{ name: 'foo', accounts: [ada] }]);
  t.match(
    files['wishes.tsv'].toString(),
    /\nsnap\tcore24\tlatest\/stable\tamd64\nsnap\thello-on\tlatest\/stable\tamd64\n/,
  );
  t.match(files['wishes.tsv'].toString(), /\nassertion\taccount-key\tpublic-key-sha3-384=/);

  await downloadLarge(fetched, offered('hello-on', 12));
  const snapd = { ...offered('snapd-on', 7), name: 'snapd' };
  copyFileSync(snapPath('snapd'), join(fetched, 'snapd_7.snap'));
  writeFileSync(join(fetched, 'snapd_7.assert'), stream(await assertionsOf(snapd, readFileSync(snapPath('snapd')))));
  const made = await desk.done(
    `transfer gather ${fetched} ${stick}/in.tar --request ${first.file} --release stable --part-size 2`,
  );
  t.ok(made.parts > 1);
  const parts = made.files as string[];

  // One part is lost on the way; it is made again.
  const lost = readFileSync(parts[1]!);
  rmSync(parts[1]!);
  t.match(await receiver.run(`transfer receive ${parts[0]}`), { code: 1, out: /Part 2.* is missing/ });
  await desk.done(`transfer make ${stick}/again.tar --again ${made.sequence} --part 2`);
  t.ok(readFileSync(join(stick, 'again.tar')).equals(lost), 'the same bytes');
  for (const part of [join(stick, 'again.tar'), ...parts.slice(2)]) await receiver.run(`transfer receive ${part}`);
  const seen = await receiver.done(`transfer preview ${made.id}`);
  t.same(seen.problems, []);
  t.match(seen.needed, [{ kind: 'base', name: 'core22' }], 'what would still be missing is told before');
  const receipt = await receiver.together(`transfer accept ${made.id} --yes`);
  t.equal(receipt.approvals.length, 2);

  await t.test('a device installs it', async (t) => {
    const [result] = await refresh(receiver.store, [{ action: 'install', name: 'hello-on', channel: 'stable' }]);
    t.match(result, { snap: { name: 'hello-on', revision: 12 } });
    const file = await fetch(result?.snap?.download?.url ?? '');
    t.ok(Buffer.from(await file.arrayBuffer()).equals(readFileSync(join(fetched, 'hello-on_12.snap'))));
  });

  // The next request reports that, and brings the new packages.
  const second = await receiver.done(`transfer request ${stick} --yes`);
  t.match((await readRequest(second.file as string)).statement.receipts, [
    { transfer: made.id, source: 'desk', status: 'accepted' },
  ]);
  await download(fetched, offered('hello-on', 13));
  const later = await desk.done(
    `transfer gather ${fetched} ${stick}/in2.tar --request ${second.file} --release stable`,
  );
  t.ok(later.bytes < 200_000, 'what is there is not carried again');
  await receiver.done(`transfer receive ${stick}/in2.tar`);
  const news = await receiver.done(`transfer preview ${later.id}`);
  t.match(news.lines, [{ what: 'revision 13' }, { kind: 'release', from: '12', to: '13' }]);
  t.equal(news.lines.length, 2);

  await t.test('the same file is good for a second site in another state', async (t) => {
    const other = await site(t, 'site-b');
    await other.done(`site trust ${stick}/desk.json --fingerprint ${desk.fingerprint}`);
    const own = join(stick, 'own');
    mkdirSync(own);
    await download(own, offered('hello-on', 13));
    await other.done(`package import ${own} --release candidate --yes`);
    const open = await desk.done(`transfer gather ${fetched} ${stick}/open.tar --release stable`);
    for (const target of [receiver, other]) await target.done(`transfer receive ${stick}/open.tar`);
    const kinds = async (target: { done: typeof other.done }) =>
      (await target.done(`transfer preview ${open.id}`)).lines.map(
        ({ kind, what: subject }: Record<string, string>) => `${kind} ${subject}`,
      );
    t.same(
      await kinds(receiver),
      ['revision revision 13', 'release latest/stable (amd64)'],
      'the first has all but one',
    );
    const lines = await kinds(other);
    t.ok(lines.includes('release latest/stable (amd64)') && !lines.includes('revision revision 13'), String(lines));
    await other.done(`transfer accept ${open.id} --yes`);
  });
});

t.test('a site that lets nothing out is served one way, five times', async (t) => {
  const [fetched, stick] = [folder(t), folder(t)];
  const [receiver, desk] = [await site(t, 'ship'), await collector(t)];
  await desk.done(`site show --export ${stick}/desk.json`);
  await receiver.done(`site trust ${stick}/desk.json --fingerprint ${desk.fingerprint}`);
  await downloadLarge(fetched, offered('hello-on', 1));
  for (const number of [1, 2, 3, 4, 5]) {
    await download(fetched, offered('other-on', number));
    const made = await desk.done(
      `transfer gather ${fetched} ${stick}/in${String(number)}.tar --for ship --since-sent --release stable`,
    );
    t.equal(made.bytes > 3_000_000, number === 1, 'the large one goes once');
    await receiver.done(`transfer receive ${stick}/in${String(number)}.tar`);
    await receiver.done(`transfer accept ${made.id} --yes`);
  }
  const shown = await receiver.done('package show snap/other-on');
  t.match(JSON.stringify(shown), /"revision":5/);
});
