// Feeds that are damaged, hostile or invalid: each is refused in one sentence, and the previous feed stays in force.
import { closeSync, ftruncateSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import t from 'tap';

import { openStore } from '#data/store.ts';
import { folder, newStore } from '#test/cli/process.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { tar, zip } from '#test/fixtures/packages/archives.ts';
import {
  kevCatalog,
  osvRecord,
  osvZip,
  vexDocument,
  type AdvisorySketch,
  osvTarXz,
} from '#test/fixtures/vulnerabilities/feeds.ts';

t.setTimeout(600_000);

const good: AdvisorySketch = {
  id: 'USN-1-1',
  aliases: ['UBUNTU-CVE-2026-1'],
  fixes: { 'Ubuntu:22.04:LTS openssl': '3.0.2-0ubuntu1.20' },
};
const withEvents = (events: object[]): Record<string, unknown> => ({
  affected: [{ package: { ecosystem: 'Ubuntu:22.04:LTS', name: 'openssl' }, ranges: [{ type: 'ECOSYSTEM', events }] }],
});
const zipRecord = (record: unknown): Buffer => zip({ 'one.json': JSON.stringify(record) });
const changed = (more: Record<string, unknown>): Buffer => zipRecord(osvRecord({ ...good, more }));
const affected = (entry: object): Buffer =>
  changed({ affected: [{ package: { ecosystem: 'Ubuntu:22.04:LTS', name: 'openssl' }, ...entry }] });

const spoiled = (content: Buffer): Buffer => {
  content[content.length - 60]! ^= 1;
  return content;
};

/** Files, each with the sentence that refuses it. */
const refused: readonly [name: string, content: Buffer | string, sentence: RegExp][] = [
  ['no feed at all', 'words, and no JSON', /The file is no feed: it is no zip archive, no tar archive and no JSON\./],
  ['a torn xz', osvTarXz().subarray(0, -40), /cannot be read to its end/],
  ['an xz with another check than its bytes', spoiled(osvTarXz()), /cannot be read to its end/],
  ['a zip without documents', zip({ 'README.md': 'words' }), /The feed has no JSON documents\./],
  ['a torn zip', osvZip([good]).subarray(0, 300), /no zip archive that can be read/],
  [
    'a torn gzip',
    gzipSync(tar([{ name: 'a.json', content: 'x'.repeat(9000) }])).subarray(0, 60),
    /cannot be read to its end/,
  ],
  ['torn JSON', zip({ 'a.json': '{"id": "USN' }), /'a\.json' in the feed is no JSON\./],
  ['Latin-1', zip({ 'a.json': Buffer.from([0x22, 0xe4, 0x22]) }), /'a\.json' in the feed is no text in UTF-8\./],
  [
    'an entry twice',
    zip({ 'a.json': JSON.stringify(osvRecord(good)), 'b.json': JSON.stringify(osvRecord(good)) }),
    /has the advisory USN-1-1 twice/,
  ],
  [
    'two formats',
    zip({ 'a.json': JSON.stringify(osvRecord(good)), 'b.json': kevCatalog(['CVE-2026-1']) }),
    /documents of several formats; 'b\.json'/,
  ],
  [
    'another ecosystem',
    zipRecord(osvRecord({ id: 'GHSA-1', fixes: { 'npm left-pad': '1.0.0' } })),
    /no advisories about releases of Ubuntu, Debian or Alpine/,
  ],
  ['no id', changed({ id: undefined }), /a record has no valid id/],
  ['a list as record', zipRecord([osvRecord(good)]), /a record has no valid id/],
  ['an invalid time', changed({ modified: 'yesterday' }), /USN-1-1 has no valid time of its last change/],
  [
    'a time to come',
    changed({ modified: '2999-01-01T00:00:00Z' }),
    /USN-1-1 is dated 2999-01-01T00:00:00\.000Z, after the clock/,
  ],
  ['an invalid alias', changed({ aliases: ['CVE 1'] }), /USN-1-1 has an invalid alias/],
  ['aliases that are no list', changed({ aliases: 'CVE-2026-1' }), /USN-1-1 has a member that is no list/],
  [
    'ten thousand aliases',
    changed({ aliases: Array.from({ length: 10_000 }, (_, at) => `CVE-2026-${String(at + 1000)}`) }),
    /USN-1-1 has a list of more than 5000 entries/,
  ],
  [
    'an invalid name',
    changed({ affected: [{ package: { ecosystem: 'Ubuntu:22.04:LTS', name: '../x' } }] }),
    /a package without a valid name/,
  ],
  [
    'a range that ends before it begins',
    changed(withEvents([{ introduced: '2.0' }, { fixed: '1.0' }])),
    /USN-1-1 has a range that ends \(at 1\.0\) before it begins/,
  ],
  [
    'a range without a begin',
    changed(withEvents([{ fixed: '1.0' }])),
    /has a range that ends \(at 1\.0\) before it begins/,
  ],
  [
    'an invalid version',
    changed(withEvents([{ introduced: '0' }, { fixed: 'one\u0007' }])),
    /has the invalid version 'one\ufffd'/,
  ],
  [
    'a version that is no text',
    changed(withEvents([{ introduced: '0' }, { fixed: 3 }])),
    /has the invalid version a value that is no text/,
  ],
  [
    'an invalid version of Alpine',
    zipRecord(osvRecord({ id: 'ALPINE-CVE-2026-1', fixes: { 'Alpine:v3.18 openssl': '1:2-r1' } })),
    /has the invalid version '1:2-r1'/,
  ],
  ['an invalid affected version', affected({ versions: ['x y'] }), /has the invalid version 'x y'/],
  [
    'an invalid binary',
    affected({
      ranges: [{ type: 'ECOSYSTEM', events: [{ introduced: '0' }] }],
      ecosystem_specific: { binaries: [{ binary_name: '', binary_version: '1' }] },
    }),
    /lists a binary package without a valid name/,
  ],
  ['a catalog without a date', kevCatalog(['CVE-2026-1'], 'today'), /the catalog has no valid date of its release/],
  ['a catalog with a wrong number', kevCatalog(['CVE-1']), /the catalog has an entry without a valid CVE number/],
  [
    'an unjustified statement',
    vexDocument([{ vulnerability: 'CVE-2026-1', products: [], status: 'not_affected' }]),
    /says not_affected without a justification/,
  ],
  [
    'an unknown status',
    vexDocument([{ vulnerability: 'CVE-2026-1', products: [], status: 'fine' }]),
    /has a statement without a valid status/,
  ],
];

const padded = (): Buffer =>
  Buffer.from(
    JSON.stringify(osvRecord({ ...good, more: { withdrawn: '2026-01-01T00:00:00Z' } })) + ' '.repeat(16 << 20),
  );
/** A tar archive of one long file, in many members of gzip. */
const growing = (): Buffer => {
  const zeros = gzipSync(Buffer.alloc(16 << 20));
  return Buffer.concat([
    gzipSync(tar([{ name: 'a.txt', size: 400 << 20 }]).subarray(0, 512)),
    ...Array.from({ length: 25 }, () => zeros),
  ]);
};

function grown(): Buffer {
  const content = padded();
  return zip(Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${String(at)}.json`, content])));
}

/** Bombs: of the archive, of one document, and of its members. */
const bombs = (): typeof refused => [
  ['a zip that grows', grown(), /unpacks to much more than feeds do/],
  ['a gzip that grows', growing(), /unpacks to much more than feeds do/],
  [
    'a long document',
    zip({ 'a.json': Buffer.alloc(33 << 20, ' ') }),
    /'a\.json' in the feed has 34603008 bytes of JSON, but at most 33554432/,
  ],
  [
    'many members',
    zip({ 'a.json': `[${'[],'.repeat(2_000_000)}[]]` }),
    /'a\.json' in the feed has more than 3000000 members/,
  ],
  ['deep members', zip({ 'a.json': '['.repeat(2_000_000) }), /'a\.json' in the feed is no JSON/],
];

t.test('a feed that cannot be used is refused in a sentence, and the previous one stays in force', async (t) => {
  const store = await newStore(t);
  const file = join(folder(t), 'feed');
  const importing = (content: Buffer | string, more = '') => {
    writeFileSync(file, content);
    return store.json(`feed import ${file} --quiet ${more}`);
  };
  await importing(osvZip([good, { ...good, id: 'USN-2-1' }]));
  const { feeds } = await store.json('feed list');
  const isSame = async (name: string) => t.same((await store.json('feed list')).feeds, feeds, name);

  for (const [name, content, sentence] of refused) {
    const { code, error } = await importing(content);
    t.match({ code, error }, { code: 'api-error', error: sentence }, name);
    t.match(error, / No feed was changed\.$/, name);
  }
  await isSame('after all of these');

  const handle = openSync(file, 'w');
  ftruncateSync(handle, 2 ** 31);
  closeSync(handle);
  t.match(await store.json(`feed import ${file} --quiet`), {
    code: 'request-too-large',
    error: /The feed has 2147483648 bytes, but at most 1073741824 are read/,
  });

  const older = { ...good, modified: '2026-04-01T00:00:00Z' };
  t.match(await importing(osvZip([older, { ...older, id: 'USN-2-1' }])), {
    code: 'conflict',
    error: /of 2026-04-01T00:00:00\.000Z, older than the present feed 'ubuntu' of 2026-04-30/,
  });
  const elsewhere = { ...good, id: 'USN-3-1', fixes: { 'Ubuntu:24.04:LTS openssl': '3.0.2-0ubuntu1.20' } };
  t.match(await importing(osvZip([elsewhere])), { code: 'conflict', error: /does not cover ubuntu:22\.04/ });
  await isSame('after an older and a smaller one');
  const opened = await openStore({ directory: store.data });
  t.teardown(() => opened.close());
  t.same(await opened.records.feedIndexes.unneeded('9999'), [], 'nothing of them is left in the index');

  t.match(await importing(osvZip([elsewhere]), '--source other'), { source: 'other', entries: 1 });
  const broken = osvRecord({ ...good, id: 'USN-4-1', more: withEvents([{ fixed: '1.0' }]) });
  const mixed = zip({ 'a.json': JSON.stringify(osvRecord(good)), 'b.json': JSON.stringify(broken) });
  t.match(await importing(mixed, '--skip-invalid'), {
    entries: 1,
    skipped: 1,
    problems: [/^USN-4-1 has a range that ends/],
  });
});

largeTest('a bomb is refused before it takes much time or memory', async (t) => {
  const store = await newStore(t);
  const file = join(folder(t), 'feed');
  for (const [name, content, sentence] of bombs()) {
    writeFileSync(file, content);
    t.match(await store.json(`feed import ${file} --quiet`), { code: 'api-error', error: sentence }, name);
  }
  t.match(await store.json('feed list'), { feeds: [] });
});

t.test('aliases that name each other are names of both', async (t) => {
  const store = await newStore(t);
  const file = join(folder(t), 'feed.zip');
  writeFileSync(
    file,
    osvZip([
      { ...good, aliases: ['USN-2-1'] },
      { ...good, id: 'USN-2-1', aliases: ['USN-1-1'] },
    ]),
  );
  await store.json(`feed import ${file} --quiet`);
  const { records, close } = await openStore({ directory: store.data });
  const advisories = await records.feedIndexes.findByIds(['USN-1-1', 'USN-2-1']).finally(close);
  t.same(
    advisories.map(({ advisory, names }) => [advisory, names]),
    [
      ['USN-1-1', ['USN-1-1', 'USN-2-1']],
      ['USN-2-1', ['USN-2-1', 'USN-1-1']],
    ],
  );
});
