// Old revisions, deleted by rule: their numbers, digests and the reason stay, their bytes go.
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Changes, Records } from '#records/index.ts';
import type { OldRevision } from '#records/old-revisions.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import { act } from './act.ts';
import { latestOf, packageObject } from './package.ts';
import { reasonOf } from './reason.ts';

/** What a rule lets go, as people say it. */
export interface Rule {
  /** So many of the newest stay, from 1 up. */
  keep: number;
  /** Only what was ever released to this channel, by its full name. */
  channel?: string | undefined;
  /** Only what is older than so many milliseconds. */
  olderThan?: number | undefined;
}

/** So many go at once, because everybody else waits for a change. */
const atOnce = 500;

/** The revisions of a package that a rule lets go, the oldest first, and whether there are more than that. */
export interface OldRevisions {
  revisions: OldRevision[];
  /** Of their files. */
  bytes: number;
  more: boolean;
}

type Known = Pick<Records, 'oldRevisions' | 'releases' | 'resourceRevisions' | 'revisions'>;

/** What would go by a rule now, at most so many; `now` is RFC 3339. */
export async function oldRevisions(
  known: Known | Pick<Changes, keyof Known>,
  packageId: string,
  { keep, channel, olderThan }: Rule,
  now: string,
  limit = atOnce,
): Promise<OldRevisions> {
  const before = olderThan === undefined ? null : timestamp(after(new Date(now), -olderThan));
  const beside = await withReleasedResources(known, packageId, now);
  const found = await known.oldRevisions.list(packageId, { keep, channel: channel ?? null, before }, beside, limit + 1);
  const revisions: OldRevision[] = [];
  for (const one of found.slice(0, limit)) {
    // Whoever writes a damaged record anew would hide that it is.
    if (!(await known.revisions.isDamaged(packageId, one.revision))) revisions.push(one);
  }
  return { revisions, bytes: bytesOf(revisions), more: found.length > limit };
}

const bytesOf = (revisions: readonly OldRevision[]): number => revisions.reduce((sum, { size }) => sum + size, 0);

/** The revisions of a snap whose components some channel holds. */
async function withReleasedResources(
  { releases, resourceRevisions }: Pick<Known, 'releases' | 'resourceRevisions'>,
  packageId: string,
  now: string,
): Promise<number[]> {
  const released = (await releases.current(packageId, now)).flatMap(({ resources }) => resources);
  const named = new Map<string, Release['resources'][number]>(
    released.map((one) => [`${one.name} ${String(one.revision)}`, one]),
  );
  const found = new Set<number>();
  for (const { name, revision } of named.values()) {
    if (revision === null) continue;
    const of = (await resourceRevisions.find(packageId, name, revision))?.packageRevision;
    if (of !== undefined && of !== null) found.add(of);
  }
  return [...found];
}

interface Deletion {
  package: PublishedPackage;
  rule: Rule;
  /** What goes, as it was shown: all that the rule lets go, the oldest first. */
  revisions: readonly number[];
  reason?: string | undefined;
}

export const deleteRevisions = act<Deletion, { revisions: number[]; bytes: number }>({
  name: 'delete_revisions',
  summary: 'Delete old revisions by a rule: numbers, digests and the reason stay, files go that nothing else needs.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }) => packageObject(subject),
  gate: 'may-wait',

  async perform(tx, { package: subject, rule, revisions: named, reason }, doing) {
    const because = reason === undefined ? ruleInWords(rule) : reasonOf(reason);
    await latestOf(tx, subject);
    const { revisions: found, bytes } = await oldRevisions(tx, subject.id, rule, doing.at);
    const revisions = found.map(({ revision }) => revision);
    if (revisions.length === 0 || revisions.join() !== named.join()) {
      throw new Refusal(
        'conflict',
        `What the rule lets go of '${subject.name}' is not what was named, so nothing was deleted; look at it again.`,
      );
    }
    await tx.revisions.setDeleted(subject.id, revisions, { at: doing.at, by: doing.actor, because });
    doing.note({ revisions, bytes, because });
    return { revisions, bytes };
  },
});

export const expireRevisions = act({
  name: 'expire_revisions',
  summary: 'Delete the old revisions of several packages, by the rule in the configuration.',
  on: 'revisions',
  object: () => 'revisions',
  gate: { never: 'it follows from the configuration and the time alone' },

  async perform(tx, { packages, rule }: { packages: readonly string[]; rule: Rule }, { at, actor, note }) {
    const deleted: Record<string, number[]> = {};
    const because = ruleInWords(rule);
    let [expired, bytes] = [0, 0];
    for (const id of packages) {
      const subject = await tx.packages.byId(id);
      if (subject === undefined || expired === atOnce) continue;
      const found = await oldRevisions(tx, id, rule, at, atOnce - expired);
      const revisions = found.revisions.map(({ revision }) => revision);
      if (revisions.length === 0) continue;
      await tx.revisions.setDeleted(id, revisions, { at, by: actor, because });
      deleted[packageObject(subject)] = revisions;
      expired += revisions.length;
      bytes += found.bytes;
    }
    note({ expired, bytes, revisions: deleted });
    return { expired, bytes };
  },
});

/** Why what a rule lets go was deleted, where nobody said. */
function ruleInWords({ keep, channel, olderThan }: Rule): string {
  const where = channel === undefined ? '' : ` that were released to ${channel}`;
  const age =
    olderThan === undefined ? '' : `, and older than ${String(Math.round((olderThan / days(1)) * 100) / 100)} days`;
  return `Not among the newest ${String(keep)}${where}${age}.`;
}
