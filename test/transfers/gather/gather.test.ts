// The output of official tools in a folder is gathered without a store, and is received at a site with the right types.
import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import t from 'tap';

import { folder } from '#test/cli/process.ts';
import { tar } from '#test/fixtures/packages/archives.ts';
import { charmAnswers, fetchedCharm, snapInfo } from '#test/fixtures/packages/fetched.ts';
import { assertionsOf, download, offered } from '#test/fixtures/packages/online-store.ts';
import { squashfsImage } from '#test/fixtures/packages/squashfs-image.ts';
import { made, timestamp } from '#test/assertions/world.ts';
import { trustSource } from '#acts/sites/sites.ts';
import type { TransferPackage, TransferStatement } from '#contract/wire.ts';
import { stream } from '#assertions/format/assertion.ts';
import { openStore } from '#data/store.ts';
import { openPart } from '#transfers/parts/open-part.ts';
import { example, seedOf, written } from '#test/transfers/statement/example.ts';
import { collector, believing } from './gather-world.ts';

t.setTimeout(600_000);

t.test('both steps of the plan make the same transfer, and packages that were sent before are left out', async (t) => {
  const [fetched, stick] = [folder(t), folder(t)];
  await download(fetched, offered('hello-on', 12));
  const desk = await collector(t);
  t.match((await desk.larder(`transfer make ${stick}`)).err, /No folder was gathered yet/);
  t.match(await desk.done(`transfer gather ${fetched}`), {
    gathered: [{ name: 'snap/hello-on', revisions: [12], channels: [] }],
  });
  const first = await desk.done(`transfer make ${stick} --for site-a`);
  t.match(first, { sequence: 1, files: [join(stick, 'desk-1.tar')], carried: 2 });
  t.match(await desk.done(`transfer check ${stick}`), { transfers: [{ source: 'desk', lacking: [] }] });
  await desk.done(`transfer make ${join(stick, 'again.tar')} --again 1 --media 'disc 4'`);
  t.ok(
    readFileSync(join(stick, 'again.tar')).equals(readFileSync(join(stick, 'desk-1.tar'))),
    'a lost part is made again',
  );
  await download(fetched, offered('other-on', 3));
  const second = await desk.done(`transfer gather ${fetched} ${stick} --for site-a --since-sent`);
  t.match(second, { sequence: 2, revisions: 2, carried: 2, contents: 3 });
  t.match(await desk.done(`transfer gather ${fetched} ${stick} --for site-b --since-sent`), {
    sequence: 3,
    carried: 3,
  });
  const left = (await desk.done('transfer list')) as { exports: { sha256: string; bytes: number }[] };
  const first1 = readFileSync(join(stick, 'desk-1.tar'));
  const about = { sha256: createHash('sha256').update(first1).digest('hex'), bytes: first1.length, by: /^cli:/ };
  t.match(left.exports, [
    { sequence: 3, for: ['site-b'] },
    { sequence: 2, for: ['site-a'] },
    { ...about, sequence: 1, id: first.id, media: 'disc 4' },
    { ...about, sequence: 1, id: first.id, part: 1, of: 1, for: ['site-a'], media: null },
  ]);
  t.equal(left.exports.length, 4, 'each file that left is in a list');
  t.match((await desk.larder('transfer list')).out, /^AT +BY +NUMBER .*\n.* cli:\S+ +3 +- +site-b/);
  t.match(await desk.json('site show'), { site: { site: 'desk' }, collector: { 'last-made': 3 } });
  t.equal(statSync(join(desk.data, 'collector.key')).mode & 0o777, 0o600);
  t.match((await desk.larder('site init other --collector')).err, /There is a collector/);
  writeFileSync(join(fetched, 'hello-on_12.snap'), 'gone');
  t.match(
    (await desk.larder(`transfer make ${join(stick, 'third.tar')} --again 1`)).err,
    /has changed since it was gathered/,
  );
});

t.test('an export that is packed together, and another transfer, are looked into', async (t) => {
  const [fetched, stick, scratch] = [folder(t), folder(t), folder(t)];
  const { snap, assert } = await download(scratch, offered('hello-on', 12));
  const packed = tar([
    { name: 'export/snaps/one', content: readFileSync(snap) },
    { name: 'export/assertions', content: readFileSync(assert) },
    { name: 'export/channel-map.json', content: JSON.stringify(snapInfo(offered('hello-on', 12), 'beta')) },
  ]);
  writeFileSync(join(fetched, 'export.tar.gz'), gzipSync(packed));
  const [first, second] = [await collector(t), await collector(t, 'other')];
  const gathered = await first.done(`transfer gather ${fetched} ${join(scratch, 'first.tar')}`);
  t.match(gathered, { packages: 1, 'left-out': [] });
  const again = folder(t);
  writeFileSync(join(again, 'a-transfer'), readFileSync(join(scratch, 'first.tar')));
  await download(again, offered('other-on', 3));
  const two = await second.done(`transfer gather ${again} ${join(stick, 'in.tar')}`);
  t.match(two.gathered, [
    { name: 'snap/hello-on', revisions: [12], channels: [{ channel: 'latest/beta', slot: 'amd64', revision: 12 }] },
    { name: 'snap/other-on', revisions: [3] },
  ]);
  const receiver = await believing(t, second, stick);
  await receiver.done(`transfer receive ${join(stick, 'in.tar')}`);
  t.match(await receiver.done(`transfer preview ${two.id}`), { problems: [] });
});

/** A library in lib/charms, as charmcraft stores it, and its description by the charm store. */
function libraryOf(charm: string, name: string, patch: number) {
  const id = createHash('md5').update(`${charm} ${name}`).digest('hex');
  const content = `"""Use ${name}."""\n\nLIBID = "${id}"\n\nLIBAPI = 0\nLIBPATCH = ${String(patch)}\n\nprint("${name}")\n`;
  const hash = createHash('sha256').update(content).digest('hex');
  const about = { 'charm-name': charm, 'library-id': id, 'library-name': name, api: 0, patch, hash };
  return { id, content, about };
}

t.test('libraries of charms are transferred, from files and responses, without guessing their owner', async (t) => {
  const [fetched, stick] = [folder(t), folder(t)];
  writeFileSync(
    join(fetched, 'info.json'),
    JSON.stringify({ ...charmAnswers(fetchedCharm('ingress', 1, '')).info, 'channel-map': [] }),
  );
  const lay = (name: string, content: string) => {
    mkdirSync(join(fetched, 'lib/charms/ingress/v0'), { recursive: true });
    writeFileSync(join(fetched, 'lib/charms/ingress/v0', name), content);
  };
  const [older, whole, other] = [
    libraryOf('ingress', 'ingress', 5),
    libraryOf('ingress', 'tracing', 2),
    libraryOf('ingress', 'ingress', 6),
  ];
  const [changed, unknown, elsewhere] = [
    libraryOf('ingress', 'changed', 1),
    libraryOf('nobodys', 'lost', 1),
    libraryOf('far', 'away', 3),
  ];
  lay('ingress.py', older.content);
  lay('newer.py', other.content);
  lay('changed.py', `${changed.content}# mine\n`);
  lay('lost.py', unknown.content);
  lay('away.py', elsewhere.content);
  lay('setup.py', 'LIBAPI = 0\nprint("no library")\n');
  const published = [older, other, elsewhere].map(({ about }) => about);
  writeFileSync(join(fetched, 'libraries.json'), JSON.stringify({ libraries: published }));
  for (const { about, content } of [whole, changed])
    writeFileSync(join(fetched, `${about['library-name']}.json`), JSON.stringify({ ...about, content }));
  const desk = await collector(t);
  const file = join(stick, 'in.tar');
  const made = await desk.done(`transfer gather ${fetched} ${file}`);
  const reasons = Object.fromEntries(
    made['left-out'].map((left: { what: string; why: string }) => [left.what, left.why]),
  );
  t.match(reasons, {
    'lib/charms/ingress/v0/changed.py':
      /differs from the text that the charm store has as version 0\.1 of the library changed/,
    'lib/charms/ingress/v0/lost.py': /version 0\.1 of the library .*no response in the folder names its charm/,
    'lib/charms/ingress/v0/away.py': /library of charm\/far, but no response to info in the folder names the publisher/,
    'lib/charms/ingress/v0/setup.py': /Its format is not known/,
  });
  t.equal(made['left-out'].length, 4);

  const receiver = await believing(t, desk, stick);
  await receiver.done(`transfer receive ${file}`);
  const seen = await receiver.done(`transfer preview ${made.id}`);
  t.same(seen.problems, []);
  const lines = seen.lines.filter(({ kind }: { kind: string }) => kind === 'library');
  t.same(lines.map(({ what: object, to }: { what: string; to: string }) => `${object} ${to}`).sort(), [
    'library changed 0.1 published',
    'library ingress 0.5 published',
    'library ingress 0.6 published',
    'library tracing 0.2 published',
  ]);
  await receiver.done(`transfer accept ${made.id} --yes`);
});

/** A squashfs with one file in it. */
const squashed = (name: string, text: string): Buffer => squashfsImage({ [`meta/${name}`]: text });

/** The component at a site if a source contradicts its assertions. */
async function retold(receiver: Awaited<ReturnType<typeof believing>>, stick: string): Promise<void> {
  const part = await openPart(join(stick, 'in.tar'));
  const files: Buffer[] = [];
  for await (const { bytes } of part.pieces()) files.push(Buffer.concat(await Array.fromAsync(bytes())));
  await part.close();
  const statement = JSON.parse(String(part.bytes)) as Partial<TransferStatement>;
  // The result for the same files.
  delete statement.parts;
  delete statement.blobs;
  const seed = seedOf(7);
  const store = await openStore({ directory: receiver.data });
  const trusted = { name: 'teller', keys: [seed.publicKey], threshold: 1, packages: ['*/*'], mayRelease: true };
  await store.acts.do(trustSource, { actor: 'cli:ada' }, trusted);
  await store.close();
  let sequence = 0;
  const seen = async (
    component: Partial<TransferPackage['resources'][number]['revisions'][number]>,
    release: Partial<TransferPackage['channels'][number]> = {},
  ) => {
    const packages = statement.packages!.map((entry) => ({
      ...entry,
      channels: entry.channels.map((channel) => ({ ...channel, ...release })),
      resources: entry.resources.map((resource) => ({
        ...resource,
        revisions: resource.revisions.map((revision) => ({ ...revision, ...component })),
      })),
    }));
    const transfer = example(files, { ...statement, packages, source: 'teller', sequence: ++sequence, seed });
    const [file] = await written(transfer, folder(t));
    const { id } = await receiver.done(`transfer receive ${file!}`);
    // With an obstacle it ends with 1.
    const { problems, lines } = await receiver.json(`transfer preview ${id}`);
    const line = (of: string) => lines.find(({ kind }: { kind: string }) => kind === of);
    return { id, problems, component: line('resource'), release: line('release') };
  };
  t.match(await seen({}), { problems: [], component: { what: 'more revision 9', word: 'upstream' } });
  const other = await seen({ revision: 10 });
  const reason = 'Its assertion and the transfer contradict each other.';
  t.match(other, {
    problems: [{ package: 'snap/with-com', what: 'more revision 10', why: reason }],
    component: undefined,
  });
  t.match(
    await receiver.larder(`transfer accept ${other.id} --yes`),
    { code: 1, err: /more revision 10/ },
    'it stays out',
  );
  const notes = ['no assertion that this site believes'];
  t.match(
    await seen({ serves: [4, 5] }),
    { problems: [], component: { word: 'source', notes } },
    'that it goes with another revision is the word of the source alone',
  );
  const type = 'component/standard';
  t.match(
    await seen({}, { resources: [{ name: 'more', type, revision: null }] }),
    { problems: [], release: { to: '4 with more none', notes: ['released without its more'] } },
    'a source from before releases had components gives devices none',
  );
  t.match((await seen({}, { resources: [{ name: 'more', type, revision: 8 }] })).problems, [
    { why: 'The revision 8 of its resource more is neither here nor in the transfer.' },
  ]);
}

t.test('components of snaps are carried with the assertions that pair them', async (t) => {
  const [fetched, stick] = [folder(t), folder(t)];
  const snap = offered('with-com', 4);
  const yaml =
    "name: with-com\nversion: '1'\nsummary: One\ndescription: One\ncomponents:\n  more:\n    type: standard\n";
  const file = squashed('snap.yaml', yaml);
  const component = (version: string) =>
    squashed('component.yaml', `component: with-com+more\ntype: standard\nversion: '${version}'\n`);
  const resource = { 'snap-id': snap.id, 'resource-name': 'more', 'developer-id': 'maker', timestamp };
  const revision = (bytes: Buffer, number: number) =>
    made('store', 'authority', 'snap-resource-revision', {
      ...resource,
      'resource-sha3-384': createHash('sha3-384').update(bytes).digest('base64url'),
      'resource-size': String(bytes.length),
      'resource-revision': String(number),
    });
  const pair = (number: number, of: number) =>
    made('store', 'authority', 'snap-resource-pair', {
      ...resource,
      'resource-revision': String(number),
      'snap-revision': String(of),
    });
  const [good, unpaired, unknown] = [component('1'), component('2'), component('3')];
  const assertions = [
    ...(await assertionsOf(snap, file)),
    ...[await revision(good, 9), await revision(unpaired, 8), await pair(9, 4), await pair(9, 3), await pair(8, 3)],
  ];
  writeFileSync(join(fetched, 'a.assert'), stream(assertions));
  const files: Record<string, Buffer> = { 'a.snap': file, 'b.comp': good, 'c.comp': unpaired, 'd.comp': unknown };
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(fetched, name), bytes);
  const desk = await collector(t);
  const gathered = await desk.done(`transfer gather ${fetched} ${join(stick, 'in.tar')} --release stable`);
  const reasons = Object.fromEntries(
    gathered['left-out'].map((left: { what: string; why: string }) => [left.what, left.why]),
  );
  t.match(reasons, {
    'c.comp': /revision 8 of the component more of snap\/with-com, but no snap-resource-pair assigns/,
    'd.comp': /./,
  });
  t.equal(gathered['left-out'].length, 2);

  const receiver = await believing(t, desk, stick);
  await receiver.done(`transfer receive ${join(stick, 'in.tar')}`);
  const seen = await receiver.done(`transfer preview ${gathered.id}`);
  t.same([seen.problems, seen.disbelieved], [[], []]);
  t.match(
    seen.lines.filter(({ kind }: { kind: string }) => kind === 'resource'),
    [{ package: 'snap/with-com', what: 'more revision 9', to: 'component/standard', word: 'upstream', notes: [] }],
  );
  const [release] = seen.lines.filter(({ kind }: { kind: string }) => kind === 'release');
  t.match(release, { from: null, to: '4 with more 9', notes: [] }, 'the release gives its component');
  await retold(receiver, stick);
  await receiver.done(`transfer accept ${gathered.id} --yes`);
  const pairs = [`${snap.id} more 9 4 global-upload`, `${snap.id} more 9 3 global-upload`];
  for (const pair of pairs)
    t.match(await receiver.done(`assertion export snap-resource-pair ${pair}`), { stream: /./ });
  const again = folder(t);
  t.match(await receiver.done(`transfer make ${join(again, 'on.tar')}`), { carried: 3 }, 'and go on from there');
  const second = await collector(t, 'second');
  t.match(await second.done(`transfer gather ${again} ${join(stick, 'second.tar')}`), { revisions: 1, carried: 3 });
});
