// Job that matches revisions and images with the feeds of advisories when either has changed. A few new bills are matched
// at once; all of them, or a new index, take seconds and would block the event loop, so a thread does that.
import { createBillMatcher } from '#acts/vulnerabilities/match-bill.ts';
import { seconds, type Now } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';
import type { FeedIndexRound } from './keep-feeds-indexed.ts';
import { matchBills, type MatchRound } from './match-bills.ts';

export type MatchOutput = MatchRound & FeedIndexRound;

interface MatchJobOptions {
  records: Pick<StoreRecords, 'audit' | 'ephemeral' | 'feedIndexes' | 'findings' | 'vulnerabilityFeeds'>;
  /** Runs `larder feed match` in a thread. */
  match: () => Promise<MatchOutput>;
  now: Now;
  signal: AbortSignal;
  /** Milliseconds between two checks, if not the default. */
  intervalMs?: number | undefined;
}

/** The maximum of bills that are matched without a thread. */
const maxInline = 20;

export function matchVulnerabilities({
  records,
  match,
  now,
  signal,
  intervalMs = seconds(30),
}: MatchJobOptions): BackgroundJob {
  const matchInline = async (): Promise<MatchOutput> => ({
    ...(await matchBills({ records, now, signal })),
    indexed: 0,
    unreadable: [],
  });

  // Each change of a bill or a feed has an entry in the audit log.
  let matchedUpTo = -1;
  return {
    name: 'match-vulnerabilities',
    every: intervalMs,
    inDoubt: 'runs',
    async run() {
      const end = (await records.audit.head())?.seq ?? 0;
      if (end === matchedUpTo) return {};
      const pending = await countPending(records);
      const output = await (pending > maxInline ? match() : matchInline()).catch((error: unknown) => {
        // An aborted run continues after the next start.
        if (signal.aborted) return undefined;
        throw error;
      });
      if (output === undefined) return {};
      const { unreadable, ...counts } = output;
      const [first] = unreadable;
      if (first !== undefined) throw new Error(`cannot index the feed '${first.source}': ${first.problem}`);
      matchedUpTo = end;
      return Object.values(counts).every((count) => count === 0) ? {} : { ...counts };
    },
  };
}

/** The number of bills to match, as far as it matters; infinite if a feed needs an index. */
async function countPending({
  feedIndexes,
  findings,
  vulnerabilityFeeds,
}: MatchJobOptions['records']): Promise<number> {
  if ((await vulnerabilityFeeds.list()).some(({ isInForce }) => !isInForce)) return Infinity;
  const { indexes } = await createBillMatcher(feedIndexes);
  const limit = maxInline + 1;
  const revisions = await findings.unmatchedRevisions(indexes, { packageId: '', revision: 0 }, limit);
  const images = await findings.unmatchedImages(indexes, { packageId: '', resource: '', manifest: '' }, limit);
  return revisions.length + images.length;
}
