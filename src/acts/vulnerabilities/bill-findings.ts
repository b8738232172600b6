// Findings of a bill of materials by the feeds in force, without stored findings.
import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import type { StoreRecords } from '#records/index.ts';
import type { MatchedFindings } from '#records/vulnerabilities/findings.ts';
import { readInBatches } from '#records/vulnerabilities/in-batches.ts';
import { createBillMatcher, type BillMatcher } from './match-bill.ts';

/** Returns a function that compares bills with the feeds in force now. */
export function createBillReader({
  feedIndexes,
}: Pick<StoreRecords, 'feedIndexes'>): (bill: BillOfMaterials) => Promise<MatchedFindings> {
  let matcher: Promise<BillMatcher> | undefined;
  return async (bill) => {
    matcher ??= createBillMatcher(feedIndexes);
    const { components, ...match } = await (await matcher).match(bill);
    const applying = components.flatMap(({ component, advisories }) =>
      advisories.map((advisory) => ({ component, ...advisory })),
    );
    const stored = await readInBatches(
      applying.map(({ advisory }) => advisory),
      feedIndexes.findByIds,
    );
    const byId = new Map(stored.map((advisory) => [`${advisory.feed} ${advisory.advisory}`, advisory]));
    const cves = stored.flatMap(({ names }) => names.filter((name) => name.startsWith('CVE-')));
    const exploited = new Set(await readInBatches(cves, feedIndexes.exploitedAmong));
    const findings = applying.flatMap((finding) => {
      const advisory = byId.get(`${finding.feed} ${finding.advisory}`);
      // Without a row the feed was replaced a moment ago.
      if (advisory === undefined) return [];
      const { names, score, summary, publishedAt, modifiedAt } = advisory;
      const details = { names, summary, publishedAt, modifiedAt, score: score === null ? null : Number(score) };
      return { ...finding, ...details, exploited: names.some((name) => exploited.has(name)) };
    });
    return { ...match, findings };
  };
}
