// Releases of larder travel in transfers: verified at both sites, previewed, accepted by people, and kept until they are removed.
import { appendFileSync, cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import type { TransferLarderRelease } from '#contract/wire.ts';
import { approveProposal } from '#acts/approvals/proposals.ts';
import { withBlobs } from '#data/blobs.ts';
import { openStore } from '#data/store.ts';
import { hours } from '#domain/clock.ts';
import { sweepBlobs } from '#jobs/store/sweep-blobs.ts';
import { version as installed } from '#platform/version.ts';
import { folder } from '#test/cli/process.ts';
import { askingSite, configure } from '#test/fixtures/accounts/approvers.ts';
import { rowsOf, unapproved } from '#test/fixtures/records/approved-rows.ts';
import { buildIn, forced, keysOf, makeRelease, newSigner, rotateReleaseKeys } from '../larder-release/releases.ts';
import { seenByMac } from '../desktop.ts';
import { contentOf } from '../statement/example.ts';
import { offered, twoSites, type SiteUnderTest } from '../sites.ts';

t.setTimeout(600_000);

const place = folder(t);
const signer = newSigner(place);
const keys = keysOf(signer);
const components = (...list: [name: string, version: string][]) => ({
  components: list.map(([name, version]) => ({ name, version })),
});
/** Builds these release keys into the programs of a test, with a bill of materials. */
const trusting = (t: Test, more = keys): void =>
  buildIn(t, more, components(['koa', '3.0.0'], ['left', '1.0.0'], ['tar', '1']));

const texts = {
  'CHANGELOG.md': [
    '# Changelog',
    '## [Unreleased]',
    '- not yet',
    '## [1.2.0] - 2026-03-01',
    '### Added',
    '- Carries releases\n  in transfers.',
    '## [1.1.0] - 2026-02-01',
    '- \u001b[31m<b>',
    `- Long: ${'x'.repeat(500)}`,
    `## [${installed}] - 2026-01-01`,
    '- Old.',
  ].join('\n'),
  'larder-1.2.0.cdx.json': JSON.stringify(components(['koa', '3.1.0'], ['added', '2.0.0'], ['tar', '1'])),
  'larder-1.2.0.openvex.json': JSON.stringify({
    statements: [
      { vulnerability: { name: 'CVE-2026-0001' }, status: 'fixed' },
      { vulnerability: { name: 'CVE-2026-0002' }, status: 'not_affected' },
    ],
  }),
};
const release = makeRelease(place, signer, { texts });
let count = 0;
const fresh = (name: string): string => join(place, `${String(++count)}-${name}`);

/** Makes a transfer at the depot with these options, and receives it at the site. */
async function carry(depot: SiteUnderTest, site: SiteUnderTest, options: string) {
  const file = fresh('in.tar');
  const made = (await depot.done(`transfer make ${file} ${options}`)) as { id: string };
  const received = await site.json(`transfer receive ${file}`);
  return { ...made, received };
}

async function swept(directory: string): Promise<unknown> {
  const store = await openStore({ directory });
  try {
    const later = () => new Date(Date.now() + hours(2));
    return await withBlobs(store, ({ blobs }) => sweepBlobs(store.records, blobs, later).run());
  } finally {
    await store.close();
  }
}

t.test('a release is previewed against the installed one, accepted, kept, saved and carried on', async (t) => {
  trusting(t);
  const { depot, here: site, stick } = await twoSites(t);
  const file = join(stick, 'in.tar');
  // The depot reads the release from a stick that a Mac has seen.
  const seen = fresh('seen');
  cpSync(release, seen, { recursive: true });
  seenByMac(seen);
  const made = await depot.larder(`transfer make ${file} --release ${seen}`);
  t.match(made, { code: 0, out: /It holds 0 packages[^]*It holds release 1\.2\.0 of larder\./ });
  const received = await site.larder(`transfer receive ${file} --preview`);
  t.equal(received.code, 0, received.err);
  t.match(received.out, /larder\/1\.2\.0 .*is installed/);
  t.match(received.out, /1\.2\.0, Added: Carries releases in transfers\./);
  t.match(received.out, /1\.1\.0: \\u001b\[31m<b>/, 'its text is shown as text');
  t.notMatch(received.out, /\u001b|not yet|Old\./);
  const { transfers } = await site.json('transfer list');
  const { id } = transfers[0] as { id: string };
  const preview = await site.json(`transfer preview ${id}`);
  t.match(preview, {
    problems: [],
    lines: [
      {
        package: 'larder/1.2.0',
        kind: 'larder-release',
        from: `${installed} is installed`,
        to: /^1\.2\.0 of 2026-03-01 is kept, manifest sha256:[0-9a-f]{64}$/,
        notes: ['new release of larder'],
      },
    ],
    'larder-releases': [
      {
        version: '1.2.0',
        commit: '6f'.repeat(20),
        installed,
        components: ['added: added 2.0.0', 'changed: koa 3.0.0 → 3.1.0', 'removed: left 1.0.0'],
        fixed: ['CVE-2026-0001'],
      },
    ],
  });
  const [{ changelog }] = preview['larder-releases'];
  t.equal(changelog[0], '1.2.0, Added: Carries releases in transfers.');
  t.ok(changelog.length === 3 && changelog[2].length < 450, 'the lines between the versions, each with a limit');
  t.match(await site.json('release list'), { releases: [] }, 'nothing is kept before it is accepted');

  const accepted = await site.larder(`transfer accept ${id} --seen ${preview.digest} --yes`);
  t.match(
    accepted,
    { code: 0, out: /transfer receipt \w+' writes its receipt\.\n/ },
    'a withdrawal would undo nothing',
  );
  t.match(await site.json('release list'), {
    installed,
    releases: [{ version: '1.2.0', source: 'depot', commit: '6f'.repeat(20), 'accepted-by': /^cli:/ }],
  });
  t.match((await site.larder('release list')).out, /^RELEASE +DAY[^\n]+\n1\.2\.0 +2026-03-01/);
  t.match(await swept(site.data), { swept: 0 }, 'the sweep keeps it');
  t.match(await site.larder('verify'), { code: 0 });

  const saved = fresh('saved');
  t.match(await site.larder(`release save 1.2.0 ${saved}`), { code: 0, out: /Release 1\.2\.0 is in/ });
  t.same(readdirSync(saved).sort(), readdirSync(release).sort());
  for (const name of readdirSync(release))
    t.ok(readFileSync(join(saved, name)).equals(readFileSync(join(release, name))));
  t.match(await site.larder(`release verify ${saved}`), { code: 0, out: /Release 1\.2\.0 .* is genuine/ });
  t.match(await site.larder(`release save 1.2.0 ${saved}`), { code: 1, err: /is there already/ });
  t.match(await site.larder(`release save 9.9.9 ${fresh('none')}`), { code: 1, err: /not kept here/ });

  const backup = fresh('backup.tar');
  t.match(await site.larder(`backup ${backup} --check`), { code: 0 });
  const restored = fresh('restored');
  t.match(await site.larder(`restore ${backup} --data ${restored} --keys ${site.data}`), { code: 0 });
  t.match(await site.larder(`release save 1.2.0 ${fresh('again')} --data ${restored}`), { code: 0 }, 'a backup has it');

  t.match(await site.larder(`transfer make ${fresh('on.tar')} --release 1.2.0`), {
    code: 0,
    out: /holds release 1\.2\.0/,
  });
  t.match(await site.larder(`transfer make ${fresh('on.tar')} --release 1.3.0`), { code: 1, err: /not kept here/ });
  t.match(await site.larder('release remove 1.2.0'), { code: 2 }, 'it asks first');
  t.match(await site.larder('release remove 1.2.0 --yes'), { code: 0 });
  t.match(await site.larder('release remove 1.2.0 --yes'), { code: 1, err: /not kept here/ });
  t.not(((await swept(site.data)) as { swept: number }).swept, 0, 'the sweep removes what nothing needs');
  t.match(await site.larder('verify'), { code: 0 });
});

t.test('a release travels beside packages, and can be left out', async (t) => {
  trusting(t);
  const { depot, here: site, carry: take } = await twoSites(t);
  await take(offered('hello-on', 12));
  const { id, received } = await carry(depot, site, `--release ${release} --packages 'snap/*' --part-size 2`);
  t.match(received, { lacking: [] });
  t.match(await site.json(`transfer preview ${id} --without 'larder/*'`), {
    'left-out': [{ what: 'larder/1.2.0', why: /left it out/ }],
  });
  t.match(await site.json(`transfer preview ${id} --without larder/1.1.0`), {
    error: /Nothing in this transfer matches/,
  });
  await site.done(`transfer accept ${id} --without larder/1.2.0 --yes`);
  t.match(await site.json('release list'), { releases: [] });
});

t.test('a folder that does not verify makes no transfer', async (t) => {
  trusting(t);
  const { depot } = await twoSites(t);
  const refused = async (folder: string, reason: RegExp): Promise<void> => {
    const file = fresh('out.tar');
    t.match(await depot.larder(`transfer make ${file} --release ${folder}`), { code: 1, err: reason });
    t.notOk(existsSync(file));
  };
  const copy = (change: (folder: string) => void): string => {
    const to = makeRelease(fresh('copy'), signer, { texts });
    change(to);
    return to;
  };
  await refused(
    copy((to) => appendFileSync(join(to, 'CHANGELOG.md'), 'x')),
    /CHANGELOG\.md has another size/,
  );
  await refused(
    copy((to) => rmSync(join(to, 'larder-1.2.0-amd64'))),
    /These files are missing: larder-1\.2\.0-amd64/,
  );
  await refused(
    copy((to) => writeFileSync(join(to, 'more'), '')),
    /do not belong to it: more/,
  );
  await refused(makeRelease(place, newSigner(place, 'other'), { version: '1.2.9' }), /not signed with a release key/);
  await refused(join(place, 'none'), /cannot read .*none/);
  const large = { ...texts, 'CHANGELOG.md': 'x'.repeat(1024 * 1024 + 1) };
  await refused(
    makeRelease(fresh('large'), signer, { texts: large }),
    /CHANGELOG\.md is too large: it may have at most 1 MiB/,
  );
  trusting(t, { ...keys, keys: [] });
  await refused(release, /This larder has no release keys, because it was built without them\./);
});

t.test(
  'a site accepts a release only with the keys that its program has, when it arrives and when it is accepted',
  async (t) => {
    trusting(t);
    const { depot, here: site } = await twoSites(t);
    const { id } = await carry(depot, site, `--release ${release}`);
    const next = newSigner(place, 'next');
    const rotated = await rotateReleaseKeys(keys, signer, next.publicKey);
    const { digest } = await site.json(`transfer preview ${id}`);

    trusting(t, { ...keys, keys: [] });
    const none = { problems: [{ package: 'larder/1.2.0', why: /This larder has no release keys/ }], lines: [] };
    t.match(await site.json(`transfer preview ${id}`), none);
    t.match(await site.json(`transfer accept ${id} --seen ${digest} --yes`), {
      error: /no release keys.*Nothing was accepted/,
    });
    trusting(t, rotated.keys);
    t.match(await site.json(`transfer accept ${id} --yes`), { error: /signed with a release key that was withdrawn/ });
    t.match(await site.json('release list'), { releases: [] });

    const rotations = [rotated.statement];
    const newer = await carry(depot, site, `--release ${makeRelease(place, next, { version: '1.3.0', rotations })}`);
    trusting(t);
    t.match(await site.json(`transfer preview ${newer.id}`), { problems: [], lines: [{ package: 'larder/1.3.0' }] });
    await site.done(`transfer accept ${newer.id} --yes`);
    t.match(await site.json('release list'), { releases: [{ version: '1.3.0' }] }, 'a rotation is followed');

    const { files } = (await depot.done(`transfer make ${fresh('late.tar')} --release ${release}`)) as {
      files: string[];
    };
    // It arrives at a program that does not trust it.
    trusting(t, keysOf(newSigner(place, 'stranger')));
    const late = (await site.done(`transfer receive ${files[0]}`)) as { id: string };
    t.match(await site.json(`transfer preview ${late.id}`), { problems: [{ why: /not signed with a release key/ }] });
    trusting(t);
    t.match(await site.json(`transfer preview ${late.id}`), { problems: [{ why: /not been reviewed yet\. Receive/ }] });
    await site.done(`transfer receive ${files[0]}`);
    t.match(await site.json(`transfer preview ${late.id}`), { problems: [] }, 'the same transfer, received again');
  },
);

t.test('a release that is not newer than the installed one needs --older', async (t) => {
  trusting(t);
  const { depot, here: site } = await twoSites(t);
  for (const version of ['0.0.9', installed]) {
    const { id } = await carry(depot, site, `--release ${makeRelease(place, signer, { version, texts: {} })}`);
    t.match(await site.json(`transfer preview ${id}`), {
      problems: [{ package: `larder/${version}`, why: /is not older\. '--older' accepts such a release/ }],
    });
    t.match(await site.json(`transfer accept ${id} --yes`), { error: /--older/ });
    t.match(await site.json(`transfer preview ${id} --older`), {
      problems: [],
      lines: [{ notes: [/not newer than the installed/] }],
      'larder-releases': [{ changelog: [], components: null, fixed: [] }],
    });
    await site.done(`transfer accept ${id} --older --yes`);
  }
  t.match(await site.json('release list'), { releases: [{ version: installed }, { version: '0.0.9' }] });
});

t.test('a kept release is left out, and a removal between preview and acceptance counts', async (t) => {
  trusting(t);
  const { depot, here: site } = await twoSites(t);
  const first = await carry(depot, site, `--release ${release}`);
  await site.done(`transfer accept ${first.id} --yes`);
  const again = await carry(depot, site, `--release ${release}`);
  const preview = await site.json(`transfer preview ${again.id}`);
  t.match(preview, { lines: [], 'left-out': [{ what: 'larder/1.2.0', why: 'It is kept here already.' }] });
  const another = await carry(depot, site, `--release ${makeRelease(place, signer, { day: '2026-03-05' })}`);
  t.match(await site.json(`transfer preview ${another.id}`), {
    problems: [{ why: /Another release 1\.2\.0 is kept here\. 'larder release remove 1\.2\.0' removes it/ }],
  });
  await site.done('release remove 1.2.0 --yes');
  t.match(await site.json(`transfer accept ${again.id} --seen ${preview.digest} --yes`), {
    error: /would now make other changes than the preview showed/,
  });
  const { id } = await carry(depot, site, `--release ${makeRelease(place, signer, { version: '1.4.0' })}`);
  await site.done(`transfer discard ${id}`);
  t.match(await site.json('release list'), { releases: [] });
});

t.test('a source that verifies nothing brings no release that its publisher did not sign', async (t) => {
  trusting(t);
  const { here: site } = await twoSites(t);
  const newer = makeRelease(place, signer, { version: '1.5.0' });
  const swap = (from: string, to: string, name: string): string => {
    const copy = makeRelease(fresh('forced'), signer, { texts });
    writeFileSync(join(copy, to), readFileSync(join(from, name)));
    return copy;
  };
  const tampered = makeRelease(fresh('tampered'), signer, { texts });
  writeFileSync(join(tampered, 'larder-1.2.0-amd64'), 'another program');
  const half = makeRelease(fresh('half'), signer, { texts });
  for (const name of readdirSync(half).slice(0, 4)) rmSync(join(half, name));
  const large = makeRelease(fresh('large'), signer, {
    version: '1.2.0',
    texts: { ...texts, 'larder-1.2.0.cdx.json': 'x'.repeat(8 * 1024 * 1024 + 1) },
  });
  const cases: [string, string, RegExp, ((sent: TransferLarderRelease) => void)?][] = [
    ['a tampered file', tampered, /larder-1\.2\.0-amd64 is not the file that was signed/],
    [
      'another manifest',
      swap(newer, 'manifest.json', 'manifest.json'),
      /is of another manifest/,
      (sent) => (sent.version = '1.2.0'),
    ],
    ['a signature over another file', swap(newer, 'manifest.json.sig', 'manifest.json.sig'), /is of another manifest/],
    ['half a folder', half, /These files are missing/],
    ['a huge bill of materials', large, /larder-1\.2\.0\.cdx\.json is too large/],
    ['another version', newer, /The transfer calls it 1\.6\.0/, (sent) => (sent.version = '1.6.0')],
    ['another day', release, /its manifest says otherwise/, (sent) => (sent.released = '2027-01-01')],
    [
      'a file without its name',
      release,
      /There are files that do not belong to it: other|These files are missing/,
      ({ files }) => (files[0]!.name = 'other'),
    ],
  ];
  for (const [name, from, reason, change = () => undefined] of cases) {
    const { id, file, trust } = await forced(fresh('stick'), from, change);
    await site.done(trust);
    await site.done(`transfer receive ${file}`);
    const { problems, lines } = await site.json(`transfer preview ${id}`);
    t.match(problems, [{ package: /^larder\//, why: reason }], name);
    t.same(lines, [], name);
    t.match(await site.json(`transfer accept ${id} --older --yes`), { error: /Nothing was accepted/ }, name);
    await site.done(`transfer discard ${id}`);
  }
  t.match(await site.json('release list'), { releases: [] });
  t.not(((await swept(site.data)) as { swept: number }).swept, 0);
});

t.test('a file that the store has already does not pass as a file of a release', async (t) => {
  trusting(t);
  const { here: site } = await twoSites(t);
  const name = 'larder-1.2.0-amd64';
  const held = readFileSync(join(release, name)).toString().replace('the bytes', 'THE BYTES');
  const first = makeRelease(place, signer, { version: '1.1.9', texts: { 'larder-1.1.9-amd64': held } });
  const accepted = await forced(fresh('stick'), first);
  await site.done(accepted.trust);
  await site.done(`transfer receive ${accepted.file}`);
  await site.done(`transfer accept ${accepted.id} --yes`);

  const substitute = ({ files }: TransferLarderRelease): void => {
    files.find((file) => file.name === name)!.content['sha3-384'] = contentOf(Buffer.from(held))['sha3-384'];
  };
  const { id, file } = await forced(fresh('stick'), release, substitute, { absent: name, sequence: 2 });
  await site.done(`transfer receive ${file}`);
  t.match(await site.json(`transfer preview ${id}`), {
    problems: [{ package: 'larder/1.2.0', why: `${name} is not the file that was signed.` }],
    lines: [],
  });
});

t.test('each row of a kept release has a line that people approve, in the console too', async (t) => {
  trusting(t);
  const { store, run } = await askingSite(t, '');
  await run('site init here');
  const { id, file, trust } = await forced(fresh('stick'), release);
  await run(trust);
  await configure(store, `transfers = "1 of ${store.ids.bob}"`);
  t.match(await run(`transfer receive ${file}`), { code: 0 });
  const before = await rowsOf(store);
  const waits = await run(`transfer accept ${id} --yes`);
  t.match(waits.err, /Waits for 1 more approval/);
  const [proposal] = await store.beside.records.proposals.list({ before: 1e9, openAt: undefined }, 1);
  t.match(proposal!.lines, [{}, { kind: 'transfers', on: 'larder/1.2.0 release', from: `${installed} is installed` }]);
  const login = { accountId: store.ids.bob, at: store.clock.now.toISOString() };
  await store.beside.acts.do(approveProposal, { actor: store.ids.bob }, { number: proposal!.number, login });
  t.match(await run(`transfer accept ${id} --yes`), { code: 0 });
  const { act, lines } = (await store.beside.records.proposals.find(proposal!.number))!;
  const after = await rowsOf(store);
  t.strictSame(unapproved(act, { lines, before, after }), []);
  t.equal(after.get('larder_release_files')?.size, readdirSync(release).length);
});
