// Trust in a source is checked when it takes effect: changes between the arrival of a transfer and its acceptance
// count.
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { approveProposal } from '#acts/approvals/proposals.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import { changeConfig } from '#configuration/config.ts';
import { folder } from '#test/cli/process.ts';
import { askingSite, configure } from '#test/fixtures/accounts/approvers.ts';
import { isLongLane, largeTest } from '#test/fixtures/large.ts';
import { offered, snapOf } from '#test/fixtures/packages/online-store.ts';
import { serializeSignatures, mergeSignatures } from '#transfers/statement/signatures.ts';
import { idOf } from '#transfers/statement/statement.ts';
import { twoSites, trust } from './sites.ts';
import { example, goodNow, helloWith, seedOf, signatureOf, written } from './statement/example.ts';

t.setTimeout(600_000);

const long = process.env['LARDER_LONG'] === '1';

const stages = ['received', 'previewed', 'proposed', 'approved'] as const;
type Stage = (typeof stages)[number];

type Seed = ReturnType<typeof seedOf>;
const [first, second, third] = [seedOf(1), seedOf(2), seedOf(3)];
const [thief, station, otherStation] = [seedOf(4), seedOf(5), seedOf(6)];

/** A 2-of-3 source with one scanning station; two of its keys and the station have signed the transfer. */
const trusted = (name: string): TransferSource => ({
  name,
  keys: [first, second, third].map((seed) => seed.publicKey),
  threshold: 2,
  packages: ['*/*'],
  mayRelease: true,
  accept: 'people',
  floor: 0,
  floorInDoubt: false,
  scanners: [station.publicKey],
  scans: 1,
  rotation: 0,
  keysBefore: [],
  keyCopiedAt: null,
  addedAt: '2026-01-01T00:00:00Z',
  addedBy: 'cli:root',
});

/** The result of an acceptance after the trust has changed: a refusal, or a proposal to the approvers. */
interface Row {
  /** The settings of the record of a source that it is about. */
  settings: (keyof TransferSource)[];
  change(source: TransferSource): Partial<TransferSource> | 'distrust';
  expected: RegExp;
}

const again = /Waits for 1 more approval/;

const rows: Record<string, Row> = {
  'the keys are others after a theft': {
    settings: ['keys', 'rotation'],
    change: () => ({ keys: [third.publicKey, thief.publicKey, seedOf(7).publicKey], rotation: 1 }),
    expected: /signed with 0 of the keys/,
  },
  'one of the keys that signed is trusted no more': {
    settings: ['keys'],
    change: () => ({ keys: [first.publicKey, third.publicKey] }),
    expected: /signed with 1 of the keys/,
  },
  'more signatures are asked for': {
    settings: ['threshold'],
    change: () => ({ threshold: 3 }),
    expected: /requires 3/,
  },
  'another scanning station must sign': {
    settings: ['scanners', 'scans'],
    change: () => ({ scanners: [otherStation.publicKey] }),
    expected: /signed by 0 of the scanning stations/,
  },
  'two scanning stations must sign': {
    settings: ['scanners', 'scans'],
    change: ({ scanners }) => ({ scanners: [...scanners, otherStation.publicKey], scans: 2 }),
    expected: /signed by 1 of the scanning stations, but this site requires 2/,
  },
  'the scope leaves the package out': {
    settings: ['packages'],
    change: () => ({ packages: ['charm/*'] }),
    expected: /may bring charm\/\*, and not this/,
  },
  'a later transfer was accepted': {
    settings: ['floor'],
    change: () => ({ floor: 1 }),
    expected: /number 1 was already accepted/,
  },
  'the store was restored': {
    settings: ['floorInDoubt'],
    change: () => ({ floorInDoubt: true }),
    expected: /--last-receipt/,
  },
  'it may release nothing': { settings: ['mayRelease'], change: () => ({ mayRelease: false }), expected: again },
  'its transfers are accepted automatically': {
    settings: ['accept'],
    change: () => ({ accept: 'automatic' }),
    expected: again,
  },
  'a key of it was copied': {
    settings: ['keyCopiedAt'],
    change: () => ({ keyCopiedAt: '2026-01-01T00:00:00Z' }),
    expected: /prove that a key of 'source-\d+' was copied/,
  },
  'the source is distrusted': { settings: [], change: () => 'distrust', expected: /does not trust/ },
};

/** Settings of the record that say nothing of trust. */
const descriptive = ['name', 'addedAt', 'addedBy', 'keysBefore'];

t.test('each trust setting of a source is a row of this table', async (t) => {
  const { store } = await askingSite(t, '');
  await setSource(store, trusted('depot'));
  const [source] = await store.beside.records.transferSources.list();
  const covered = new Set<string>([...descriptive, ...Object.values(rows).flatMap(({ settings }) => settings)]);
  t.same(
    Object.keys(source ?? {}).filter((name) => !covered.has(name)),
    [],
    'a setting that has no row is not tested between arrival and acceptance',
  );
});

type Site = Awaited<ReturnType<typeof askingSite>>;

/** Writes the record of a source as it is from now on, without asking the policy. */
const setSource = async (
  { beside: hostStore }: Pick<Site['store'], 'beside'>,
  { name, ...to }: TransferSource | (Partial<TransferSource> & { name: string }),
) => {
  const entry = { at: new Date().toISOString(), actor: 'cli:root', sessionId: null, requestId: null };
  const log = { ...entry, action: 'trust_source', object: `source/${name}`, outcome: 'done' as const };
  await hostStore.records.change(log, async ({ transferSources }) => {
    const before = (await transferSources.find(name)) ?? trusted(name);
    const source = { ...before, ...to, name };
    await transferSources.set(source);
    await transferSources.rotate(source);
    await transferSources.raiseFloor(name, source.floor);
    if (source.floorInDoubt) await transferSources.doubtFloors();
    else await transferSources.believeFloor(name);
    if (source.keyCopiedAt !== null) await transferSources.noteCopiedKey(name, source.keyCopiedAt);
  });
};

const distrust = ({ beside: hostStore }: Pick<Site['store'], 'beside'>, name: string): Promise<unknown> => {
  const entry = { at: new Date().toISOString(), actor: 'cli:root', sessionId: null, requestId: null };
  const log = { ...entry, action: 'distrust_source', object: `source/${name}`, outcome: 'done' as const };
  return hostStore.records.change(log, ({ transferSources }) => transferSources.remove(name));
};

let made = 0;

/** A transfer of a source that two of its keys and the station have signed; its file, and its id. */
async function carried(
  t: Parameters<typeof folder>[0],
  name: string,
  seeds: readonly Seed[] = [first, second, station],
) {
  const snap = `snap-${String(++made).padStart(3, '0')}`;
  const file = snapOf(offered(snap, 1));
  const release = { channel: 'latest/stable', slot: 'amd64', architecture: 'amd64', revision: 1 };
  const hello = { ...helloWith([file]), name: snap, id: snap.padEnd(32, 'x') };
  const channels = [{ ...release, 'released-at': new Date().toISOString() }];
  const transfer = example([file], { source: name, ...goodNow(), packages: [{ ...hello, channels }] });
  const into = folder(t);
  const write = async (signers: readonly Seed[], to: string): Promise<string> => {
    const lists = signers.map((signer) => [signatureOf(transfer.bytes, signer)]);
    const [part = ''] = await written({ ...transfer, signatures: serializeSignatures(mergeSignatures(lists)) }, to);
    return part;
  };
  return {
    part: await write(seeds, into),
    id: idOf(transfer.bytes),
    signedBy: (more: readonly Seed[]) => write(more, folder(t)),
  };
}

/** Brings a transfer to a stage; the digest of the preview, if it was looked at. */
async function bring({ run, store }: Site, { part, id }: { part: string; id: string }, stage: Stage) {
  const did = async (line: string): Promise<string> => {
    const { code, out, err } = await run(line);
    if (code !== 0) throw new Error(`${line}: ${err || out}`);
    return out;
  };
  await did(`transfer receive ${part}`);
  if (stage === 'received') return '';
  const { digest } = JSON.parse(await did(`transfer preview ${id} --json`)) as { digest: string };
  if (stage === 'previewed') return ` --seen ${digest}`;
  const { err } = await run(`transfer accept ${id} --yes --seen ${digest}`);
  const number = Number(/proposal (\d+)/.exec(err)?.[1]);
  if (stage === 'approved') await approve(store, number);
  return ` --seen ${digest}`;
}

const approve = async ({ beside: hostStore, ids }: Site['store'], number: number) => {
  const login = { accountId: ids.bob, at: new Date().toISOString() };
  return hostStore.acts.do(approveProposal, { actor: ids.bob }, { number, login });
};

largeTest('each change of a source while its transfer waits counts when the transfer is accepted', async (t) => {
  const site = await askingSite(t, 'transfers = "1 of B"');
  const { run, store } = site;
  let at = 0;
  for (const [row, [title, { change, expected }]] of Object.entries(rows).entries()) {
    // With LARDER_LONG=1 each change at each stage; otherwise a change that ends in a refusal at one of them, the stages in turn.
    for (const stage of long || expected === again ? stages : [stages[row % stages.length]!]) {
      const name = `source-${String(++at)}`;
      await setSource(store, trusted(name));
      const transfer = await carried(t, name);
      const seen = await bring(site, transfer, stage);
      const to = change(trusted(name));
      if (to === 'distrust') await distrust(store, name);
      else await setSource(store, { name, ...to });
      const accepted = await run(`transfer accept ${transfer.id} --yes${seen}`);
      const label = `${title}, ${stage}`;
      t.equal(accepted.code, 1, label);
      // A preview that showed a release is not what would be changed now.
      t.match(
        accepted.err,
        title === 'it may release nothing' && seen !== '' ? /other changes than the preview showed/ : expected,
        label,
      );
      const { status } = (await store.beside.records.transfers.find(transfer.id)) ?? {};
      t.equal(status, 'waiting', label);
      if (expected !== again)
        t.match((await run(`transfer preview ${transfer.id}`)).code, 1, `${label}: the preview says so`);
      if (to !== 'distrust' && to.floorInDoubt === true) await setSource(store, { name, floorInDoubt: false });
    }
  }
  t.match(await run('package list --json'), { out: /"packages":\[\]/ }, 'nothing came in');
});

t.test('an unchanged source is accepted at each of the same stages', async (t) => {
  const site = await askingSite(t, 'transfers = "1 of B"');
  for (const stage of stages) {
    const name = `depot-${stage}`;
    await setSource(site.store, trusted(name));
    const transfer = await carried(t, name);
    const seen = await bring(site, transfer, stage);
    if (stage !== 'approved') {
      const { err } = await site.run(`transfer accept ${transfer.id} --yes${seen}`);
      await approve(site.store, Number(/proposal (\d+)/.exec(err)?.[1]));
    }
    t.match(await site.run(`transfer accept ${transfer.id} --yes${seen}`), { code: 0 }, stage);
  }
});

t.test('an approver is told if the source is trusted on other terms than at the proposal', async (t) => {
  const site = await askingSite(t, 'transfers = "1 of B"');
  await setSource(site.store, trusted('depot'));
  await bring(site, await carried(t, 'depot'), 'proposed');
  t.match(await site.run('approval show 1'), { out: /source\/depot.*2 of the keys/ });
  await setSource(site.store, { name: 'depot', packages: ['snap/*'] });
  t.match(await approve(site.store, 1), { fell: true });
});

t.test('a source that is trusted again with another key does not vouch for earlier transfers', async (t) => {
  const site = await askingSite(t, 'transfers = "1 of B"');
  await setSource(site.store, trusted('depot'));
  const transfer = await carried(t, 'depot');
  await bring(site, transfer, 'approved');
  await distrust(site.store, 'depot');
  await setSource(site.store, { ...trusted('depot'), keys: [thief.publicKey], threshold: 1, scanners: [], scans: 0 });
  t.match(await site.run(`transfer accept ${transfer.id} --yes`), {
    code: 1,
    err: /signed with 0 of the keys of 'depot'/,
  });
});

t.test('a stricter approval policy counts for earlier approvals', async (t) => {
  // `npm test` has the last stage alone.
  for (const stage of isLongLane ? stages : (['approved'] as const)) {
    const site = await askingSite(t, 'transfers = "1 of B"');
    await setSource(site.store, trusted('depot'));
    const transfer = await carried(t, 'depot');
    await bring(site, transfer, stage);
    const { bob, carol = '' } = site.store.ids;
    await configure(site.store, `transfers = "1 of ${bob}"\nreleases = ["1 of ${carol} for */*:*/stable"]`);
    t.match(
      await site.run(`transfer accept ${transfer.id} --yes`),
      {
        code: 1,
        err: stage === 'approved' ? /Waits for 1 more.*: carol\./ : /Waits for 1 more.*: bob, carol\./,
      },
      stage,
    );
  }
});

t.test('the label of the site at the time of acceptance counts', async (t) => {
  for (const stage of isLongLane ? stages : (['approved'] as const)) {
    const site = await askingSite(t, 'transfers = "1 of B"');
    const config = join(site.store.directory, 'larder.toml');
    changeConfig(config, { 'site.levels': ['open', 'inner'], 'site.label': 'inner' });
    await setSource(site.store, { ...trusted('depot'), keys: [first.publicKey], threshold: 1, scanners: [], scans: 0 });
    const file = snapOf(offered('hello-on', 1));
    const statement = { ...goodNow(), label: 'inner', packages: [{ ...helloWith([file]), name: 'hello-on' }] };
    const transfer = example([file], statement);
    const [part = ''] = await written(transfer, folder(t));
    await bring(site, { part, id: idOf(transfer.bytes) }, stage);
    changeConfig(config, { 'site.label': 'open' });
    const refused = /has the label 'inner', which is higher than the label of this site/;
    t.match(await site.run(`transfer accept ${idOf(transfer.bytes)} --yes`), { code: 1, err: refused });
    t.match((await site.run(`transfer preview ${idOf(transfer.bytes)}`)).out, /which is higher than the label of/);
  }
});

largeTest('automatic acceptance that ends while content is still to come accepts nothing automatically', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  const sent = async (revision: number) => {
    await carry(offered('hello-on', revision));
    const part = join(stick, `${String(revision)}.tar`);
    return { part, id: ((await depot.done(`transfer make ${part}`)) as { id: string }).id };
  };
  const accepted = await sent(1);
  await receiver.done(`transfer receive ${accepted.part}`);
  await receiver.done(`transfer accept ${accepted.id} --yes`);
  await trust(receiver, depot, join(stick, 'automatic.json'), '--accept automatic');
  t.match(await receiver.done(`transfer receive ${(await sent(2)).part}`), { automatic: /accepted automatically/ });
  const { part, id } = await sent(3);
  const unpacked = join(stick, 'unpacked');
  await receiver.done(`transfer unpack ${part} ${unpacked}`);
  rmSync(join(unpacked, 'snap/hello-on_3.snap'));
  t.match(await receiver.larder(`transfer receive ${unpacked}`), { code: 1, out: /Without snap\/hello-on_3\.snap/ });
  await trust(receiver, depot, join(stick, 'people.json'));
  t.notMatch(await receiver.done(`transfer receive ${part}`), { automatic: /./ });
  t.match(await receiver.done('transfer list'), { transfers: [{ id, status: 'waiting' }] });
});

t.test('a copy with the signatures that are missing now makes a waiting transfer acceptable', async (t) => {
  const site = await askingSite(t, '');
  await setSource(site.store, { ...trusted('depot'), scanners: [], scans: 0 });
  const transfer = await carried(t, 'depot', [first, second]);
  await bring(site, transfer, 'received');
  await setSource(site.store, { name: 'depot', threshold: 3, scanners: [station.publicKey], scans: 1 });
  t.match(await site.run(`transfer accept ${transfer.id} --yes`), { code: 1, err: /signed with 2 of the keys/ });
  t.match(
    await site.run(`transfer receive ${await transfer.signedBy([third, station])}`),
    { code: 1 },
    'a copy counts alone',
  );
  const all = await transfer.signedBy([first, second, third, station]);
  t.match(await site.run(`transfer receive ${all}`), { code: 0 });
  t.match(await site.run(`transfer accept ${transfer.id} --yes`), { code: 0 });
});
