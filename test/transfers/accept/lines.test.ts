// People have seen every change of a transfer: each change has a line, the same in preview, proposal, receipt, audit
// log and history.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import type { TransferAccount, TransferPackage, TransferRelease } from '#contract/wire.ts';
import { approveProposal } from '#acts/approvals/proposals.ts';
import { everywhere } from '#domain/resources/resource-base.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { charm } from '#test/fixtures/packages/archives.ts';
import { rowsOf, unapproved } from '#test/fixtures/records/approved-rows.ts';
import { askingSite } from '#test/fixtures/accounts/approvers.ts';
import { offered, snapOf } from '#test/fixtures/packages/online-store.ts';
import { startNow } from '#test/acts/ways.ts';
import { withdrawRevision } from '#acts/revisions/revisions.ts';
import { logIn, pushImage, uploadLogin } from '#test/fixtures/packages/images.ts';
import { commandsOn, folder } from '#test/cli/process.ts';
import { idOf } from '#transfers/statement/statement.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { contentOf, example, goodNow, helloWith, seedOf, written } from '#test/transfers/statement/example.ts';

t.setTimeout(600_000);

interface Line {
  kind: string;
  what: string;
  from: string | null;
  to: string | null;
  notes: string[];
}

/** A site that trusts a depot, and requires the approval of bob for releases to stable only. */
async function asking(t: Test, more = '', policy = 'releases = ["1 of B for */*:*/stable"]') {
  const { store, run } = await askingSite(t, policy);
  const [stick, { publicKey }] = [folder(t), seedOf(1)];
  const identity = join(stick, 'depot.json');
  writeFileSync(identity, JSON.stringify({ format: 1, site: 'depot', keys: [publicKey], threshold: 1 }));
  await run('site init site-b');
  const trust = `site trust ${identity} --fingerprint ${fingerprintOf([publicKey])[0] ?? ''} ${more}`;
  await run(trust);
  const approve = async (number: number): Promise<void> => {
    const login = { accountId: store.ids.bob, at: store.clock.now.toISOString() };
    await store.beside.acts.do(approveProposal, { actor: store.ids.bob }, { number, login });
  };
  await approve(1);
  const trusted = await run(trust);
  if (trusted.code !== 0) throw new Error(trusted.err);
  let [sequence, proposals] = [0, 1];
  /** Receives a transfer of these packages; returns its preview, and a function that accepts it. */
  const receive = async (
    files: readonly Uint8Array[],
    packages: TransferPackage[],
    accounts: TransferAccount[] = [
      { id: 'ada', username: 'ada-there', 'display-name': 'Ada There', validation: 'verified' },
    ],
  ) => {
    const transfer = example([...files], { ...goodNow(), sequence: ++sequence, packages, accounts });
    const [part = ''] = await written(transfer, folder(t));
    return take(part, idOf(transfer.bytes));
  };
  const take = async (part: string, id: string) => {
    const received = await run(`transfer receive ${part} --json`);
    if (received.code !== 0) throw new Error(received.err);
    const seen = JSON.parse((await run(`transfer preview ${id} --json`)).out) as {
      lines: Line[];
      problems: { what: string; why: string }[];
      'left-out': { what: string; why: string }[];
      digest: string;
    };
    const accept = () => run(`transfer accept ${id} --yes --json`);
    return { id, accept, ...seen };
  };
  type Received = Awaited<ReturnType<typeof receive>>;
  /** Lets a transfer in about which bob is asked; the lines of the proposal. */
  const approved = async ({ accept }: Received): Promise<string[]> => {
    const waits = await accept();
    if (!/Waits for 1 more approval/.test(waits.err)) throw new Error(`it does not wait: ${waits.err}${waits.out}`);
    const number = ++proposals;
    const shown = JSON.parse((await run(`approval show ${String(number)} --json`)).out) as {
      lines: { on: string; part: string | null; from: string | null; to: string | null; kind: string }[];
    };
    await approve(number);
    const before = await rowsOf(store);
    const done = await accept();
    if (done.code !== 0) throw new Error(done.err);
    const { lines } = (await store.beside.records.proposals.find(number))!;
    t.strictSame(
      unapproved('accept_transfer', { lines, before, after: await rowsOf(store) }),
      [],
      'no row changes unseen',
    );
    return shown.lines
      .filter(({ kind }) => kind === 'releases')
      .map(({ on, part, from, to }) => `${on} ${part ?? ''}: ${from ?? '-'} → ${to ?? '-'}`);
  };
  const channelLines = ({ lines }: Received): string[] =>
    lines
      .filter(({ kind }) => kind === 'release' || kind === 'close')
      .map(({ what: object, from, to }) => `${object}: ${from ?? '-'} → ${to ?? '-'}`);
  /** Does a command about which bob is asked. */
  const approvedRun = async (line: string): Promise<void> => {
    if (!/Waits for 1 more approval/.test((await run(line)).err)) throw new Error(`${line} does not wait`);
    await approve(++proposals);
    const done = await run(line);
    if (done.code !== 0) throw new Error(done.err);
  };
  return { store, run, receive, take, approved, approvedRun, channelLines };
}

const file = snapOf(offered('hello-on', 1));
const hello = { ...helloWith([file]), name: 'hello-on', id: 'h'.repeat(32) };
const at = { channel: 'latest/stable', slot: 'amd64', architecture: 'amd64', revision: 1 };
const released = (more: Partial<TransferRelease> = {}): TransferPackage => ({
  ...hello,
  channels: [{ ...at, 'released-at': '2026-01-01T00:00:00Z', ...more }],
});
const share = (percentage: number, paused = false) => ({ progressive: { percentage, paused } });

t.test('a released rollout percentage is part of what people approve, and so is a pause', async (t) => {
  const { run, receive, approved, channelLines } = await asking(t);
  const first = await receive([file], [released(share(1))]);
  t.same(channelLines(first), ['latest/stable (amd64): - → 1 for 1 %']);
  t.same(await approved(first), ['snap/hello-on:latest/stable amd64: - → 1 for 1 %']);
  const wider = await receive([file], [released(share(99))]);
  t.same(channelLines(wider), ['latest/stable (amd64): 1 for 1 % → 1 for 99 %']);
  t.same(await approved(wider), ['snap/hello-on:latest/stable amd64: 1 for 1 % → 1 for 99 %']);
  const paused = await receive([file], [released(share(99, true))]);
  t.same(await approved(paused), ['snap/hello-on:latest/stable amd64: 1 for 99 % → 1 for 99 %, paused']);
  const history = JSON.parse((await run('release history snap/hello-on --json')).out) as {
    releases: { text: string }[];
  };
  t.same(
    history.releases.map(({ text }) => text),
    ['1 for 99 %, paused', '1 for 99 %', '1 for 1 %'],
    'the history says the same',
  );
  const same = await receive([file], [released(share(99, true))]);
  t.same([same.lines, (await same.accept()).code], [[], 0], 'the same again is no change');
});

t.test('the end of a release is part of what people approve', async (t) => {
  const { run, receive, approved, channelLines } = await asking(t);
  await approved(await receive([file], [released()]));
  const ending = { 'expires-at': '2099-01-01T00:00:00Z' };
  const seen = await receive([file], [released(ending)]);
  t.same(channelLines(seen), ['latest/stable (amd64): 1 → 1, until 2099-01-01T00:00:00Z']);
  t.match(seen.lines, [{ notes: ['ends by itself at 2099-01-01T00:00:00Z'] }]);
  t.same(await approved(seen), ['snap/hello-on:latest/stable amd64: 1 → 1, until 2099-01-01T00:00:00Z']);
  t.match(await run('release history snap/hello-on'), { out: /1, until 2099-01-01T00:00:00Z/ });
});

t.test('the resources of a released charm are part of what people approve', async (t) => {
  const { receive, approved, channelLines } = await asking(t);
  const declared = 'resources:\n  config: {type: file, filename: a}\n';
  const files = [charm('hello', {}, declared), Buffer.from('one'), Buffer.from('two')];
  const base = { name: 'ubuntu', channel: '22.04' };
  const template = { ...helloWith([files[0]!]), id: 'c'.repeat(32), namespace: 'charm' as const, type: 'charm' };
  const withConfig = (revision: number, type = 'file'): TransferPackage => ({
    ...template,
    resources: [
      {
        name: 'config',
        type: 'file',
        revisions: [1, 2].map((number) => ({
          revision: number,
          content: contentOf(files[number]!),
          'created-at': '2026-01-01T00:00:00Z',
          'created-by': 'ada',
          bases: everywhere,
          architectures: null,
          serves: [],
        })),
      },
    ],
    channels: [
      {
        channel: 'latest/stable',
        slot: 'ubuntu/22.04/amd64',
        architecture: 'amd64',
        base,
        revision: 1,
        resources: [{ name: 'config', type, revision }],
        'released-at': '2026-01-01T00:00:00Z',
      },
    ],
  });
  const first = await receive(files, [withConfig(1)]);
  t.same(first.problems, []);
  const on = 'charm/hello:latest/stable ubuntu/22.04/amd64';
  t.same(await approved(first), [`${on}: - → 1 with config 1`]);
  const other = await receive(files, [withConfig(2)]);
  t.same(channelLines(other), ['latest/stable (ubuntu/22.04/amd64): 1 with config 1 → 1 with config 2']);
  t.same(await approved(other), [`${on}: 1 with config 1 → 1 with config 2`]);
  const misnamed = withConfig(1).channels.map((channel) => ({
    ...channel,
    resources: [{ name: 'config 1 for 1 %, x', type: 'file', revision: null }],
  }));
  t.match((await receive(files, [{ ...withConfig(1), channels: misnamed }])).problems, [
    { why: 'This is not a valid resource name.' },
  ]);
  const retyped = await receive(files, [{ ...withConfig(1, 'oci-image') }]);
  t.match(retyped.problems, [{ why: 'Its resource config has the type file, not oci-image.' }]);
});

t.test(
  'another publisher is a line that shows whether it is an account of this site, and is in the audit log',
  async (t) => {
    const { store, run, receive, approved } = await asking(t, '', 'transfers = "1 of B"');
    await approved(await receive([file], [hello]));
    const moved = await receive([file], [{ ...hello, publisher: store.ids.bob }]);
    const line = {
      kind: 'publisher',
      what: 'publisher',
      from: 'ada-there (ada)',
      to: `bob (${store.ids.bob})`,
      notes: ['its publisher becomes an account of this site'],
    };
    t.match(moved.lines, [line]);
    t.equal(moved.lines.length, 1);
    await approved(moved);
    t.match(await run('package show snap/hello-on --json'), { out: new RegExp(store.ids.bob) });
    const [entry] = await store.beside.records.audit.newest(Number.MAX_SAFE_INTEGER, 1);
    t.match(JSON.parse(entry?.details ?? ''), {
      digest: moved.digest,
      lines: [`snap/hello-on (publisher): ada-there (ada) → bob (${store.ids.bob})`],
    });
  },
);

const eve = (displayName: string): TransferAccount[] => [
  { id: 'ada', username: 'ada-there', 'display-name': displayName, validation: 'starred' },
];

t.test('the display name of an account is a line, and only the source of its packages changes it', async (t) => {
  const { store, run, receive, approvedRun } = await asking(t);
  const first = await receive([file], [hello]);
  t.match(
    first.lines.find(({ kind }) => kind === 'account'),
    { what: 'account ada', from: null, to: 'ada-there, verified, called Ada There' },
  );
  await first.accept();
  const renamed = await receive([file], [hello], eve('Ada Lovelace'));
  t.match(renamed.lines, [
    { kind: 'account', from: 'ada-there, verified, called Ada There', to: 'ada-there, starred, called Ada Lovelace' },
  ]);
  await renamed.accept();
  const name = async () => (await store.beside.records.accounts.find('ada'))?.displayName;
  t.equal(await name(), 'Ada Lovelace');

  await t.test('not a transfer that may contain other packages', async (t) => {
    const identity = join(folder(t), 'depot.json');
    writeFileSync(identity, JSON.stringify({ format: 1, site: 'depot', keys: [seedOf(1).publicKey], threshold: 1 }));
    const fingerprint = fingerprintOf([seedOf(1).publicKey])[0] ?? '';
    await approvedRun(`site trust ${identity} --fingerprint ${fingerprint} --packages snap/bad-*`);
    const bad = { ...helloWith([snapOf(offered('bad-one1', 1))]), name: 'bad-one1', id: 'b'.repeat(32) };
    const seen = await receive([snapOf(offered('bad-one1', 1))], [bad], eve('Mallory'));
    t.notOk(seen.lines.some(({ kind }) => kind === 'account'));
    t.match(seen['left-out'], [
      { what: 'snap/bad-one1 account ada', why: /^It is ada-there, starred, called Ada Lovelace here/ },
    ]);
    t.match(await seen.accept(), { code: 0 });
    t.equal(await name(), 'Ada Lovelace');
  });

  await t.test('nor a transfer of a source that is not the only one for its packages', async (t) => {
    for (const [site, seed] of [
      ['depot', 1],
      ['other', 2],
    ] as const) {
      const identity = join(folder(t), `${site}.json`);
      const { publicKey } = seedOf(seed);
      writeFileSync(identity, JSON.stringify({ format: 1, site, keys: [publicKey], threshold: 1 }));
      await approvedRun(
        `site trust ${identity} --fingerprint ${fingerprintOf([publicKey])[0] ?? ''} --packages snap/*`,
      );
    }
    const seen = await receive([file], [hello], eve('Eve'));
    t.notOk(seen.lines.some(({ kind }) => kind === 'account'));
    t.match(seen['left-out'], [{ why: /this source is not the only one with packages of it/ }]);
    t.match(await run('site distrust other --yes'), { code: 0 });
    const alone = await receive([file], [hello], eve('Eve'));
    t.match(alone.lines, [{ kind: 'account', from: 'ada-there, starred, called Ada Lovelace' }]);
  });
});

t.test('a source that may release nothing withdraws no revision of a channel', async (t) => {
  const { run, receive } = await asking(t, '--no-releases');
  await (await receive([file], [hello])).accept();
  t.match(await run('release snap/hello-on 1 edge'), { code: 0 });
  const withdrawn = [{ revision: 1, why: 'it is bad' }];
  const seen = await receive([file], [{ ...hello, withdrawn }]);
  t.same(seen.lines, []);
  t.match(seen['left-out'], [
    { what: 'snap/hello-on revision 1', why: /may not change channels, and latest\/edge hold/ },
  ]);
  t.match(await seen.accept(), { code: 0 });
  t.match(await run('release history snap/hello-on --json'), { out: /^(?!.*"revision":null)/ });
  t.match(await run('close snap/hello-on edge --yes'), { code: 0 });
  const later = await receive([file], [{ ...hello, withdrawn }]);
  t.match(later.lines, [{ kind: 'withdrawal', what: 'revision 1' }]);
});

t.test('a channel that a withdrawal empties is a line', async (t) => {
  const { receive, approved, channelLines } = await asking(t);
  await approved(await receive([file], [released()]));
  const seen = await receive([file], [{ ...hello, withdrawn: [{ revision: 1, why: 'it is bad' }] }]);
  t.same(channelLines(seen), ['latest/stable (amd64): 1 → -']);
  t.same(await approved(seen), ['snap/hello-on:latest/stable amd64: 1 → -']);
});

t.test('a transfer leaves enough numbers for local pushes', async (t) => {
  const { receive } = await asking(t);
  const numbered = (revision: number): TransferPackage => ({
    ...hello,
    revisions: hello.revisions.map((entry) => ({ ...entry, revision })),
  });
  const seen = await receive([file], [numbered(2147483647)]);
  t.match(seen.problems, [
    { what: 'revision 2147483647', why: /^Its number is above 2000000000, .* for a lower number\.$/ },
  ]);
  t.match(await seen.accept(), { code: 1, err: /above 2000000000/ });
  const good = await receive([file], [numbered(2_000_000_000)]);
  t.same(good.problems, []);
});

largeTest('each row that a transfer changes has a line, and so has each row of a later change', async (t) => {
  const depot = await startNow(t);
  const { larder } = commandsOn(depot.directory);
  await larder('site init other-depot');
  const stick = folder(t);
  await larder(`site show --export ${join(stick, 'other.json')}`);
  const [fingerprint = ''] = (JSON.parse((await larder('site show --json')).out) as Shown).site.fingerprints;
  const site = await asking(t, '', 'transfers = "1 of B"\nreleases = ["1 of B for */*:*/*"]');
  await site.approvedRun(`site trust ${join(stick, 'other.json')} --fingerprint ${fingerprint}`);
  let transfers = 0;
  const carried = async (): Promise<string[]> => {
    const file = join(stick, `${String(++transfers)}.tar`);
    const { out, err } = await larder(`transfer make ${file} --json`);
    if (out === '') throw new Error(err);
    return site.approved(await site.take(file, (JSON.parse(out) as { id: string }).id));
  };

  const ada = await depot.as('ada');
  const ask = async (method: 'post' | 'patch', path: string, body: unknown): Promise<Record<string, unknown>> => {
    const reply = await ada[method](path, body);
    if (reply.status !== 200) throw new Error(`${path}: ${JSON.stringify(reply.body)}`);
    return reply.body as Record<string, unknown>;
  };
  await ask('post', '/v1/charm', { name: 'hello' });
  const declared = 'resources:\n  config: {type: file, filename: a}\n  image: {type: oci-image}\n';
  await ada.push('charm', 'hello', charm('hello', {}, declared));
  const resource = async (name: string, content: string): Promise<void> => {
    const id = await ada.upload(content);
    await ask('post', `/v1/charm/hello/resources/${name}/revisions`, { 'upload-id': id });
    await depot.appliance.reviewed();
  };
  const client = await logIn(depot, await uploadLogin(ada, 'hello'));
  const image = async (layer: string): Promise<void> => {
    const digest = await pushImage(client, 'latest', layer);
    const blob = await ask('post', '/v1/charm/hello/resources/image/oci-image/blob', { 'image-digest': digest });
    await resource('image', JSON.stringify(blob));
  };
  const release = (revision: number, more: object) =>
    ask('post', '/v1/charm/hello/releases', [{ revision, channel: 'stable', ...more }]);
  const both = (config: number, of: number) => ({
    resources: [
      { name: 'config', revision: config },
      { name: 'image', revision: of },
    ],
  });
  const created = await ask('post', '/v1/charm/libraries/hello', { 'library-name': 'greeting' });
  const library = (patch: number) =>
    ask('post', `/v1/charm/libraries/hello/${String(created['library-id'])}`, {
      api: 0,
      patch,
      content: `LIBPATCH = ${String(patch)}`,
      hash: String(patch).repeat(64),
    });
  await resource('config', 'one');
  await image('layer one');
  await library(1);
  await ask('patch', '/v1/charm/hello', { title: 'Hello', links: { website: ['https://hello.site/'] } });
  await release(1, both(1, 1));
  const on = 'charm/hello:latest/stable';
  t.ok((await carried()).includes(`${on} ubuntu/22.04/amd64: - → 1 with config 1, image 1`));

  await resource('config', 'two');
  await image('layer two');
  await library(2);
  await ask('patch', '/v1/charm/hello', { title: 'Hello again', summary: 'Short', description: 'Long', links: {} });
  await ada.push('charm', 'hello', charm('hello', { version: '2' }, declared));
  await release(2, { ...both(2, 2), progressive: { percentage: 20 } });
  t.ok(
    (await carried()).includes(
      `${on} ubuntu/22.04/amd64: 1 with config 1, image 1 → 1 with config 1, image 1, and 2 with config 2, image 2 for 20 %`,
    ),
  );
  await release(2, { ...both(1, 2) });
  await ask('post', '/v1/charm/hello/releases', [{ revision: 2, channel: 'edge/fix' }]);
  const ends = await carried();
  t.match(
    ends.join('\n'),
    /hello:latest\/edge\/fix ubuntu\/22\.04\/amd64: - → 2 with config 1, image 2, until 20\d\d-/,
  );
  const root = { actor: 'cli:root' };
  const subject = (await depot.beside.records.packages.find('charm', 'hello'))!;
  await depot.beside.acts.do(withdrawRevision, root, { package: subject, revision: 1, reason: 'it is bad' });
  t.same(await carried(), [], 'no channel holds what is withdrawn');
  await ask('post', '/v1/charm/hello/releases', [{ revision: null, channel: 'stable' }]);
  t.ok((await carried()).includes(`${on} ubuntu/22.04/amd64: 2 with config 1, image 2 → -`));
});

interface Shown {
  site: { fingerprints: string[] };
}
