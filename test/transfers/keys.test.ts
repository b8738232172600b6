// Changed keys of a source, missing signatures, signatures of scanning stations, and doubtful transfers after a
// restore.
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { trustSource } from '#acts/sites/sites.ts';
import { recordLatestTime } from '#acts/store/clock.ts';
import { openStore } from '#data/store.ts';
import { commandsOn, folder, start } from '#test/cli/process.ts';
import { serializeSignatures, mergeSignatures } from '#transfers/statement/signatures.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { example, goodNow, seedOf, signatureOf, written } from './statement/example.ts';
import { receiver } from './receive/receiver.ts';
import { offered, site, twoSites } from './sites.ts';

t.setTimeout(600_000);

t.test('the keys of a source rotate by what those before have signed, and by nothing else', async (t) => {
  const { depot, here: siteA, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  const rotated = join(stick, 'rotated.json');
  const { fingerprint } = await depot.done(`site rotate ${rotated} --yes`);
  await depot.done(`site rotate ${join(stick, 'copy.json')} --again --yes`);
  const second = join(stick, 'second.json');
  await depot.done(`site rotate ${second} --yes`);
  const file = join(stick, 'in.tar');
  const { id } = await depot.done(`transfer make ${file}`);
  const refused = async (line: string): Promise<string> => (await siteA.larder(line)).err;
  t.match(await refused(`transfer receive ${file}`), /signed with 0 of the keys of 'depot'.*site trust FILE/);
  t.match(await refused(`site trust ${second}`), /signed by 0 of the trusted keys of 'depot'/);
  const stranger = await site(t, 'depot');
  const forged = join(stick, 'forged.json');
  await stranger.done(`site rotate ${forged} --yes`);
  t.match(
    await refused(`site trust ${forged}`),
    /signed by 0 of the trusted keys/,
    'another site of that name has not signed',
  );
  t.match(await siteA.done(`site trust ${rotated}`), { name: 'depot', rotation: 1, fingerprints: [fingerprint] });
  t.match(
    await siteA.done(`site trust ${join(stick, 'copy.json')}`),
    { rotation: 1 },
    'the same once more is no fault',
  );
  await siteA.done(`site trust ${second}`);
  t.match(await refused(`site trust ${rotated}`), /rotation 1 of 'depot', and 2 is known already/);
  t.match(await siteA.done(`transfer receive ${file}`), { id, lacking: [] });
  const strange = await site(t, 'site-c');
  t.match((await strange.larder(`site trust ${second}`)).err, /does not trust a source 'depot'/);
});

t.test('the required number of keys must have signed, a scanning station beside them', async (t) => {
  const siteA = await site(t, 'site-a');
  const { attempt, store } = await receiver(t, siteA);
  const statement = { source: 'maker', ...goodNow() };
  const transfer = example([Buffer.from('hello')], statement);
  const [first, two, station] = [seedOf(1), seedOf(2), seedOf(3)];
  const source = {
    name: 'maker',
    threshold: 2,
    packages: ['*/*'],
    mayRelease: true,
    scanners: [station.publicKey],
    scans: 1,
  };
  await store.acts.do(trustSource, { actor: 'cli:ada' }, { ...source, keys: [first.publicKey, two.publicKey] });
  const signWith = async (...seeds: (typeof first)[]): Promise<string[]> => {
    const lists = seeds.map((seed) => [signatureOf(transfer.bytes, seed)]);
    const into = folder(t);
    return written({ ...transfer, signatures: serializeSignatures(mergeSignatures(lists)) }, into);
  };
  await t.rejects(attempt(await signWith(first)), {
    message: /signed with 1 of the keys of 'maker', but this site requires 2/,
  });
  await t.rejects(attempt(await signWith(first, first, station)), { message: /signed with 1 of the keys/ });
  await t.rejects(attempt(await signWith(first, two)), {
    message: /signed by 0 of the scanning stations.*transfer sign/,
  });
  t.match(await attempt(await signWith(first, two, station)), {
    lacking: [],
    signers: [first.publicKey, two.publicKey, station.publicKey],
  });
});

t.test('a scanning station signs the transfers that it has scanned, and the site requires that', async (t) => {
  const { depot, here: siteA, stick, carry } = await twoSites(t);
  const station = await site(t, 'station');
  await carry(offered('hello-on', 12));
  const [of, scanned] = [join(stick, 'station.json'), join(stick, 'to-scan')];
  await station.done(`site show --export ${of}`);
  const fingerprints = [];
  for (const signer of [depot, station]) fingerprints.push(...(await signer.done('site show')).site.fingerprints);
  const typed = fingerprints.map((fingerprint: string) => `--fingerprint ${fingerprint}`).join(' ');
  await siteA.done(`site trust ${join(stick, 'depot.json')} ${typed} --scanner ${of}`);
  const file = join(stick, 'in.tar');
  const { id } = await depot.done(`transfer make ${file}`);
  t.match((await siteA.larder(`transfer receive ${file}`)).err, /signed by 0 of the scanning stations/);
  await station.done(`transfer unpack ${file} ${scanned}`);
  await station.done(`transfer sign ${scanned}`);
  await station.done(`transfer pack ${scanned} ${join(stick, 'scanned.tar')}`);
  const received = await siteA.done(`transfer receive ${join(stick, 'scanned.tar')}`);
  t.match(received, { id, lacking: [] });
  t.same(received['signed-with'], fingerprints.sort());
});

t.test('after a restore no transfer is accepted before the last accepted number is given', async (t) => {
  const { depot, here: siteA, stick, carry } = await twoSites(t);
  const made: { id: string; file: string }[] = [];
  for (const number of [1, 2, 3, 4]) {
    await carry(offered('hello-on', number));
    const file = join(stick, `${String(number)}.tar`);
    made.push({ file, id: (await depot.done(`transfer make ${file}`)).id });
  }
  const [first, second, third, fourth] = made as [
    (typeof made)[0],
    (typeof made)[0],
    (typeof made)[0],
    (typeof made)[0],
  ];
  const comesIn = async (at: typeof siteA, { file, id }: (typeof made)[0], more = ''): Promise<void> => {
    await at.done(`transfer receive ${file} ${more}`);
    await at.done(`transfer accept ${id} --yes`);
  };
  await comesIn(siteA, first);
  const [backup, keys, restored] = [join(stick, 'backup.tar'), join(stick, 'keys'), join(folder(t), 'data')];
  await siteA.done(`backup ${backup}`);
  mkdirSync(keys);
  for (const key of ['site.key', 'master.key']) cpSync(join(siteA.data, key), join(keys, key));
  await comesIn(siteA, second);
  await comesIn(siteA, third);
  const receipt = join(stick, 'receipt.json');
  await siteA.done(`transfer receipt ${third.id} ${receipt}`);
  t.match(await siteA.larder(`restore ${backup} --keys ${keys} --data ${restored}`), { code: 0 });
  const again = { ...siteA, ...commandsOn(restored) };
  again.done = async (line) => {
    const { code, out, err } = await again.larder(`${line} --json`);
    if (code !== 0) throw new Error(`${line}: ${err || out}`);
    return JSON.parse(out) as unknown;
  };
  const refused = async (line: string): Promise<string> => (await again.larder(line)).err;
  t.match(await refused(`transfer receive ${second.file}`), /restored from a backup.*--last-receipt FILE/s);
  t.match(
    await refused(`transfer receive ${second.file} --last-receipt ${join(stick, 'depot.json')}`),
    /is not a receipt/,
  );
  t.match(
    await refused(`transfer receive ${second.file} --last-receipt ${receipt}`),
    /number 2 of 'depot', and number 3/,
  );
  await comesIn(again, fourth);
  const other = { ...again, ...commandsOn(join(folder(t), 'data')) };
  other.done = async (line) => JSON.parse((await other.larder(`${line} --json`)).out) as unknown;
  t.match(await other.larder(`restore ${backup} --keys ${keys} --data ${other.data}`), { code: 0 });
  t.match(await other.done(`transfer receive ${second.file} --floor-lost`), { id: second.id, lacking: [] });
});

largeTest(
  'two officers accept the same transfer at the same time: it is done once; with a doubtful clock nothing is accepted',
  async (t) => {
    const { depot, here: siteA, stick, carry } = await twoSites(t);
    await carry(offered('hello-on', 12));
    const file = join(stick, 'in.tar');
    const { id } = await depot.done(`transfer make ${file}`);
    const both = async (...line: string[]) =>
      Promise.all([1, 2].map(() => start(t, [...line, '--data', siteA.data, '--json']).ended));
    for (const { code, err } of await both('transfer', 'receive', file)) t.equal(code, 0, err);
    const store = await openStore({ directory: siteA.data });
    t.teardown(store.close);
    const year = 365 * 24 * 60 * 60 * 1000;
    for (const off of [-2 * year, 2 * year]) {
      const seen = new Date(Date.now() + off).toISOString();
      await store.acts.do(recordLatestTime, { actor: 'system:clock' }, { seen, accepted: undefined });
      t.match((await siteA.larder(`transfer accept ${id} --yes`)).err, /clock says .* 'larder clock accept'/);
    }
    await siteA.done('clock accept --yes');
    for (const { code, err } of await both('transfer', 'accept', id, '--yes')) t.equal(code, 0, err);
    const done = (await store.records.audit.list(0, 1000)).filter(({ action }) => action === 'accept_transfer');
    t.equal(done.length, 1);
    t.match(await siteA.json('package list'), { packages: [{ name: 'hello-on' }] });
  },
);
