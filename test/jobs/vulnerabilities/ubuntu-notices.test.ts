// The findings of Ubuntu's review tools for the notices and packages of their own tests, as names and versions: the store
// finds exactly these.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { createBillMatcher } from '#acts/vulnerabilities/match-bill.ts';
import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import { indexFeed } from '#review/feeds/index-feed.ts';
import { openRecords } from '#test/fixtures/records/records.ts';
import { zip } from '#test/fixtures/packages/archives.ts';
import { osvRecord } from '#test/fixtures/vulnerabilities/feeds.ts';

/** By notice, release and source package. */
type Notices = Record<string, Record<string, Record<string, { version: string; binaries: Record<string, string> }>>>;

const { notices, packages, cases } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/vulnerabilities/ubuntu-notices.json'), 'utf8'),
) as {
  notices: Notices[];
  /** Lists of `NAME=VERSION`, as in the manifest of a snap. */
  packages: { release: string; packages: string[] }[];
  /** The notices by the name of the package. */
  cases: { notices: number; packages: number; findings: Record<string, string[]> }[];
};

/** The notices in the form of OSV. */
const toFeed = (of: Notices): Buffer =>
  zip(
    Object.fromEntries(
      Object.entries(of).map(([notice, releases]) => {
        const affected = Object.entries(releases).flatMap(([release, sources]) =>
          Object.entries(sources).map(([name, { version, binaries }]) => ({
            package: { ecosystem: `Ubuntu:${release}:LTS`, name },
            ranges: [{ type: 'ECOSYSTEM', events: [{ introduced: '0' }, { fixed: version }] }],
            ecosystem_specific: {
              binaries: Object.entries(binaries).map(([binary, built]) => ({
                binary_name: binary,
                binary_version: built,
              })),
            },
          })),
        );
        return [`${notice}.json`, JSON.stringify(osvRecord({ id: `USN-${notice}`, more: { affected } }))];
      }),
    ),
  );

const toBill = ({ release, packages: listed }: (typeof packages)[number]): BillOfMaterials => ({
  distribution: { id: 'ubuntu', version: release },
  files: ['snap/manifest.yaml'],
  gaps: [],
  components: listed.map((text) => {
    const at = text.indexOf('=');
    return { ecosystem: 'deb', name: text.slice(0, at), version: text.slice(at + 1) };
  }),
});

t.test("the findings are those of Ubuntu's review tools", async (t) => {
  let findings = 0;
  for (const [number, of] of notices.entries()) {
    const [records] = await openRecords(t);
    const file = join(t.testdir(), 'osv.zip');
    writeFileSync(file, toFeed(of));
    const { index, content } = await indexFeed(file, {
      records,
      sha3_384: 'a'.repeat(96),
      now: () => new Date(),
      signal: new AbortController().signal,
      skipsInvalid: false,
    });
    await records.ephemeral(({ feedIndexes }) => feedIndexes.putInForce(index, content.source));
    const matcher = await createBillMatcher(records.feedIndexes);
    for (const { packages: listed, findings: expected } of cases.filter((testCase) => testCase.notices === number)) {
      const { components, coverage } = await matcher.match(toBill(packages[listed]!));
      const groups = Map.groupBy(
        components.flatMap(({ component, advisories }) =>
          advisories.map(({ advisory }) => ({ name: component.name, notice: advisory.replace('USN-', '') })),
        ),
        ({ name }) => name,
      );
      const byName = [...groups].map(([name, all]) => [name, [...new Set(all.map(({ notice }) => notice))].sort()]);
      if (coverage === 'covered') t.same(Object.fromEntries(byName), expected, `${String(number)} ${String(listed)}`);
      else t.same(expected, {}, `the notices ${String(number)} are about other releases`);
      findings += Object.values(expected).flat().length;
    }
  }
  t.equal(findings, 112);
});
