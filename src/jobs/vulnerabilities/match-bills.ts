// Matches the bills of materials of all revisions and images with the feeds in force, and stores the findings. A run
// continues where the last one ended: it reads the bills that were not matched with these feeds.
import { randomUUID } from '#domain/cryptography.ts';
import { setImmediate, setTimeout } from 'node:timers/promises';

import { createBillMatcher, type BillMatcher, type MatchedBill } from '#acts/vulnerabilities/match-bill.ts';
import type { Now } from '#domain/clock.ts';
import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import type { MatchedComponent } from '#domain/vulnerabilities/finding.ts';
import type { EphemeralRecords, StoreRecords } from '#records/index.ts';
import { createLeases } from '#shared/leases.ts';

type MatchRecords = Pick<StoreRecords, 'ephemeral' | 'feedIndexes' | 'findings'>;

/** Bills per transaction: other changes wait for it. */
const pageSize = 50;

interface MatchOptions {
  records: MatchRecords;
  now: Now;
  signal: AbortSignal;
}

/** Milliseconds between two tries to begin, while another process matches. */
const retryMs = 500;

export interface MatchRound {
  revisions: number;
  images: number;
}

/**
 * Matches all bills that were not matched with the feeds in force. Waits while another process does: each remembers the
 * ids of components, and removes unused ones.
 */
export async function matchBills(options: MatchOptions): Promise<MatchRound> {
  const leases = createLeases({ ...options, holder: randomUUID() });
  for (;;) {
    const held = await leases.withLease('matching of bills', () => matchUnmatched(options));
    if (held !== undefined) return held.result;
    await setTimeout(retryMs, undefined, { signal: options.signal });
  }
}

async function matchUnmatched({ records, signal }: MatchOptions): Promise<MatchRound> {
  const matcher = await createBillMatcher(records.feedIndexes);
  const round = new Matching(records, matcher, signal);
  const revisions = await round.each(
    (after?: { packageId: string; revision: number }) =>
      records.findings.unmatchedRevisions(matcher.indexes, after ?? { packageId: '', revision: 0 }, pageSize),
    (tx, subject, ...result) => tx.putRevision(subject, ...result),
  );
  const images = await round.each(
    (after?: { packageId: string; resource: string; manifest: string }) =>
      records.findings.unmatchedImages(
        matcher.indexes,
        after ?? { packageId: '', resource: '', manifest: '' },
        pageSize,
      ),
    (tx, subject, ...result) => tx.putImage(subject, ...result),
  );
  if (revisions + images > 0) await round.removeUnused();
  return { revisions, images };
}

type FindingChanges = EphemeralRecords['findings'];
type MatchResult = [match: Parameters<FindingChanges['putRevision']>[1], components: ReadonlySet<number>];

class Matching {
  readonly #records: MatchRecords;
  readonly #matcher: BillMatcher;
  readonly #signal: AbortSignal;
  /** The ids of components, after their advisories were stored in this round. */
  readonly #stored = new Map<string, number>();

  constructor(records: MatchRecords, matcher: BillMatcher, signal: AbortSignal) {
    this.#records = records;
    this.#matcher = matcher;
    this.#signal = signal;
  }

  /** Matches the bills of each page, and stores the results in one transaction. Returns the number of bills. */
  async each<Subject extends { bill: string }>(
    page: (after?: Subject) => Promise<Subject[]>,
    put: (tx: FindingChanges, subject: Subject, ...result: MatchResult) => Promise<void>,
  ): Promise<number> {
    const { indexes } = this.#matcher;
    let count = 0;
    for (let after: Subject | undefined; ;) {
      this.#signal.throwIfAborted();
      const subjects = await page(after);
      const results: { subject: Subject; matched: MatchedBill }[] = [];
      for (const subject of subjects) {
        const matched = await this.#matcher.match(JSON.parse(subject.bill) as BillOfMaterials);
        results.push({ subject, matched });
        await setImmediate();
      }
      const stored = new Map<string, number>();
      if (results.length > 0)
        await this.#records.ephemeral(async ({ findings }) => {
          stored.clear();
          for (const { subject, matched } of results) {
            const { components, ...match } = matched;
            const ids = new Set<number>();
            for (const { component, advisories } of components) {
              const key = keyOf(component);
              const id =
                this.#stored.get(key) ?? stored.get(key) ?? (await findings.putComponent(component, advisories));
              stored.set(key, id);
              ids.add(id);
            }
            await put(findings, subject, { ...match, indexes }, ids);
          }
        });
      for (const [key, id] of stored) this.#stored.set(key, id);
      count += subjects.length;
      after = subjects.at(-1);
      if (after === undefined || subjects.length < pageSize) return count;
    }
  }

  async removeUnused(): Promise<void> {
    for (let after: number | undefined = 0; after !== undefined;) {
      this.#signal.throwIfAborted();
      const from: number = after;
      after = await this.#records.ephemeral(({ findings }) => findings.removeUnusedComponents(from, 1_000));
    }
  }
}

const keyOf = ({ release, ecosystem, name, version, source }: MatchedComponent): string =>
  [release, ecosystem, name, version, source?.name ?? '', source?.version ?? ''].join(' ');
