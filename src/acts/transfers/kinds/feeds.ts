// Feeds of advisories in transfers.
import type { TransferFeed } from '#contract/wire.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { VulnerabilityFeed } from '#records/vulnerabilities/feeds.ts';
import type { ActContext } from '../../act.ts';
import { describeFeed, smallerBecause } from '../../vulnerabilities/feeds.ts';
import { contentMissing, parseFindings, subjectOf } from '../findings.ts';
import {
  findExclusion,
  type PlanExclusion,
  type PlannedFeed,
  type PlanRecords,
  type TransferPlan,
  type TransferPlanInputs,
} from '../plan-types.ts';

/** The subject of the review of a feed. No package has this id. */
export const feedSubject = (name: string): string => subjectOf('feed', name);

/** Adds the feeds to a plan. A feed that is not newer than the present one is left out. */
export async function planFeeds(records: PlanRecords, inputs: TransferPlanInputs, plan: TransferPlan): Promise<void> {
  for (const feed of inputs.statement.feeds ?? []) {
    const called = `feed/${feed.name}`;
    const result = await planFeed(records, inputs, feed);
    if ('reason' in result) {
      const { reason, isProblem } = result;
      (isProblem ? plan.problems : plan.leftOut).push({ package: called, what: called, why: reason });
      if (reason === contentMissing) plan.missing.push(feed.content['sha3-384']);
      continue;
    }
    const { planned, present } = result;
    const smaller = present && smallerBecause(planned, present);
    const [from, to] = [present === undefined ? null : describeFeed(present), describeFeed(planned)];
    plan.feeds.push(planned);
    // A policy for feeds holds for each way of a feed into the store.
    plan.releases.add({ kind: 'feeds', on: called, part: null, from, to });
    plan.lines.add({
      package: called,
      kind: 'feed',
      what: 'feed',
      from,
      to,
      word: inputs.isUnsigned ? 'nobody' : 'source',
      notes: [
        ...(present === undefined ? ['new feed'] : []),
        ...(smaller === undefined ? [] : [`unlike the present feed, it ${smaller}`]),
        ...(planned.format === 'openvex' ? ['its statements can settle findings'] : []),
        ...(planned.skipped > 0 ? ['invalid entries were left out'] : []),
      ],
    });
  }
}

async function planFeed(
  records: PlanRecords,
  inputs: TransferPlanInputs,
  { name, content }: TransferFeed,
): Promise<{ planned: PlannedFeed; present: VulnerabilityFeed | undefined } | PlanExclusion> {
  const called = { namespace: 'feed', name };
  const { arrived } = inputs;
  const exclusion = findExclusion(inputs, called);
  if (exclusion !== undefined) return exclusion;
  const { sha256, 'sha3-384': sha3_384, size } = content;
  const present = await records.vulnerabilityFeeds.find(name);
  if (present?.sha3_384 === sha3_384) return { reason: 'It is here already.', isProblem: false };
  if (!arrived.has(sha3_384) && !(await records.neededContents.has(sha3_384)))
    return { reason: contentMissing, isProblem: true };
  const finding = await inputs.finding(feedSubject(name));
  const read = parseFindings('feed', finding);
  if (read === undefined) return { reason: finding?.refused ?? 'It has not been reviewed yet.', isProblem: true };
  const { format, datedAt, entries, skipped, releases } = read;
  if (present !== undefined && present.format !== format)
    return { reason: `The feed of this name here is of the format ${present.format}.`, isProblem: true };
  if (present !== undefined && datedAt < present.datedAt)
    return { reason: `It is of ${datedAt}; the present feed is newer, of ${present.datedAt}.`, isProblem: false };
  const planned = { source: name, format, datedAt, sha256, sha3_384, size, entries, skipped, releases };
  return { planned, present };
}

/**
 * Stores the planned feeds, and puts the indexes in force that their review made. If one is missing, a job makes it; until
 * then the previous feed stays in force.
 */
export async function acceptFeeds(
  tx: ChangeRecords,
  { feeds }: TransferPlan,
  { at, actor }: Pick<ActContext, 'at' | 'actor'>,
): Promise<void> {
  for (const feed of feeds) {
    await tx.vulnerabilityFeeds.put({ ...feed, importedAt: at, importedBy: actor });
    await tx.vulnerabilityFeeds.putFileInForce(feed.sha3_384, feed.source);
  }
}
