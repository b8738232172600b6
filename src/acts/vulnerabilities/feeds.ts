// Imports feeds of advisories. A feed raises findings and ends them, so a policy can ask for approvals.
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { Refusal } from '#domain/refusal.ts';
import { formatCount } from '#domain/quantities.ts';
import type { VulnerabilityFeed } from '#records/vulnerabilities/feeds.ts';
import { act, DoneAlready } from '../act.ts';

export interface FeedImport extends Omit<VulnerabilityFeed, 'importedAt' | 'importedBy'> {
  /** The complete index of its content; undefined for the newest of its file. If there is none, a job makes it. */
  index: number | undefined;
  /** Whether the feed may cover fewer releases than the present one, or have less than half of its entries. */
  mayBeSmaller: boolean;
}

export const importFeed = act({
  name: 'import_feed',
  summary: 'Import a feed of advisories about vulnerabilities, in place of the previous one of its source.',
  on: 'feed/SOURCE',
  object: ({ source }: FeedImport) => `feed/${source}`,
  gate: {
    kinds: ['feeds'],
    lines: async (tx, feed: FeedImport) => [feedLine(feed.source, await tx.vulnerabilityFeeds.find(feed.source), feed)],
  },

  async perform(tx, { index, mayBeSmaller, ...feed }: FeedImport, { at, actor, note }): Promise<void> {
    const present = await tx.vulnerabilityFeeds.find(feed.source);
    refuseUnfit(feed, present, mayBeSmaller);
    if (isSameFeed(feed, present)) throw new DoneAlready(undefined);
    await tx.vulnerabilityFeeds.put({ ...feed, importedAt: at, importedBy: actor });
    if (index === undefined) await tx.vulnerabilityFeeds.putFileInForce(feed.sha3_384, feed.source);
    else await tx.vulnerabilityFeeds.putIndexInForce(index, feed.source);
    const { datedAt, sha256, entries, skipped } = feed;
    note({ dated: datedAt, sha256, entries, ...(skipped > 0 && { skipped }), before: present?.datedAt ?? null });
  },
});

export const removeFeed = act({
  name: 'remove_feed',
  summary: 'Remove a feed of advisories, and the findings that follow from it.',
  on: 'feed/SOURCE',
  object: ({ source }: { source: string }) => `feed/${source}`,
  gate: {
    kinds: ['feeds'],
    lines: async (tx, { source }: { source: string }) => [
      feedLine(source, await tx.vulnerabilityFeeds.find(source), undefined),
    ],
  },

  async perform(tx, { source }: { source: string }, { note }): Promise<void> {
    const present = await tx.vulnerabilityFeeds.find(source);
    if (present === undefined)
      throw new Refusal('resource-not-found', `There is no feed '${source}'. 'larder feed list' lists the feeds.`);
    await tx.vulnerabilityFeeds.remove(source);
    await tx.vulnerabilityFeeds.endIndex(source);
    note({ dated: present.datedAt, sha256: present.sha256 });
  },
});

/** The change of a feed, as approvers read it. */
export const feedLine = (
  source: string,
  present: DescribedFeed | undefined,
  feed: DescribedFeed | undefined,
): ApprovalLine => ({
  kind: 'feeds',
  on: `feed/${source}`,
  part: null,
  from: present === undefined ? null : describeFeed(present),
  to: feed === undefined ? null : describeFeed(feed),
});

type DescribedFeed = Pick<VulnerabilityFeed, 'datedAt' | 'entries' | 'skipped' | 'sha256'>;

/** A feed in words: its date, size and digest. */
export const describeFeed = (feed: DescribedFeed): string =>
  `${feed.datedAt}, ${formatCount(feed.entries, 'entry', 'entries')}` +
  `${feed.skipped > 0 ? `, ${String(feed.skipped)} invalid ones left out` : ''}, sha256:${feed.sha256}`;

/** Whether the present feed has this content already. */
export const isSameFeed = (
  { sha3_384, skipped }: Pick<VulnerabilityFeed, 'sha3_384' | 'skipped'>,
  present: VulnerabilityFeed | undefined,
): boolean => present?.sha3_384 === sha3_384 && present.skipped === skipped;

/** Refuses a feed that may not replace the present one of its name. */
export function refuseUnfit(
  feed: VulnerabilityFeedContent & Pick<VulnerabilityFeed, 'sha3_384' | 'skipped'>,
  present: VulnerabilityFeed | undefined,
  mayBeSmaller: boolean,
): void {
  if (present === undefined) return;
  refuseOlder(feed, present);
  if (!mayBeSmaller && !isSameFeed(feed, present)) refuseSmaller(feed, present);
}

/** An older feed would hide the advisories since. */
function refuseOlder({ source, format, datedAt }: VulnerabilityFeedContent, present: VulnerabilityFeed): void {
  if (format !== present.format)
    throw new Refusal(
      'conflict',
      `The feed '${source}' is of the format ${present.format}. Give this feed another name.`,
    );
  if (datedAt < present.datedAt)
    throw new Refusal(
      'conflict',
      `The feed is of ${datedAt}, older than the present feed '${source}' of ${present.datedAt}, which stays in force.`,
    );
}

/** A feed of a part of the releases would end the findings of all others. */
function refuseSmaller(feed: VulnerabilityFeedContent, present: VulnerabilityFeed): void {
  const problem = smallerBecause(feed, present);
  if (problem === undefined) return;
  throw new Refusal(
    'conflict',
    `The feed ${problem}, unlike the present feed '${feed.source}' with ${formatCount(present.entries, 'entry', 'entries')}, which stays in force. ` +
      "Keep both with '--source NAME', or replace the present one with '--smaller'.",
  );
}

/** How a feed is smaller than the present one; undefined if it is not. */
export function smallerBecause(
  { releases, entries }: Pick<VulnerabilityFeed, 'releases' | 'entries'>,
  present: Pick<VulnerabilityFeed, 'releases' | 'entries'>,
): string | undefined {
  const lost = present.releases.filter((release) => !releases.includes(release));
  if (lost.length > 0) return `does not cover ${lost.join(', ')}`;
  return entries * 2 < present.entries ? `has only ${formatCount(entries, 'entry', 'entries')}` : undefined;
}

type VulnerabilityFeedContent = Pick<VulnerabilityFeed, 'source' | 'format' | 'datedAt' | 'releases' | 'entries'>;
