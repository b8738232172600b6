// Deletes old revisions by rule. Their numbers, digests and the reason stay; their bytes are deleted.
import { parseAssertion } from '#assertions/assertion.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Changes, Records } from '#records/index.ts';
import type { OldRevision } from '#records/old-revisions.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import type { Component } from '#records/resource-revisions.ts';
import { charmsOfBundle } from '#review/named-in.ts';
import { act } from './act.ts';
import { latestOf, packageObject } from './package.ts';
import { reasonOf } from './reason.ts';

/** A retention rule. */
export interface Rule {
  /** The number of newest revisions to keep, at least 1. */
  keep: number;
  /** Only revisions that were ever released to this channel (full name). */
  channel?: string | undefined;
  /** Only revisions older than this, in milliseconds. */
  olderThan?: number | undefined;
}

/** The maximum number of revisions deleted in one change, because other changes wait for it. */
const atOnce = 500;

/** The revisions of a package that a rule deletes, the oldest first, and whether there are more. */
export interface OldRevisions {
  revisions: OldRevision[];
  /** Components of a snap that no revision uses after these revisions are deleted. */
  components: Component[];
  /** The total size of both. */
  bytes: number;
  more: boolean;
}

type Known = Pick<
  Records,
  'assertions' | 'heldRevisions' | 'oldRevisions' | 'releases' | 'resourceRevisions' | 'revisions'
>;

/** The revisions that a rule would delete now, at most `limit`. `now` is RFC 3339. */
export async function oldRevisions(
  known: Known | Pick<Changes, keyof Known>,
  subject: Pick<PublishedPackage, 'id' | 'namespace' | 'name'>,
  { keep, channel, olderThan }: Rule,
  now: string,
  limit = atOnce,
): Promise<OldRevisions> {
  const { id: packageId } = subject;
  const before = olderThan === undefined ? null : timestamp(after(new Date(now), -olderThan));
  const released = await releasedResources(known, packageId, now);
  const beside = [
    ...(await revisionsOf(known, packageId, released)),
    ...(await pinned(known, packageId)),
    ...(await deployed(known, subject)),
  ];
  const found = await known.oldRevisions.list(packageId, { keep, channel: channel ?? null, before }, beside, limit + 1);
  const revisions: OldRevision[] = [];
  for (const one of found.slice(0, limit)) {
    // Writing a corrupt record again would hide the corruption.
    if (!(await known.revisions.isDamaged(packageId, one.revision))) revisions.push(one);
  }
  const components = revisions.length === 0 ? [] : await componentsWithout(known, packageId, revisions, released);
  const bytes = [...revisions, ...components].reduce((sum, { size }) => sum + size, 0);
  return { revisions, components, bytes, more: found.length > limit };
}

type ReleasedResource = Release['resources'][number];

/** The resources that the channels of a package hold, each once, by name and number. */
async function releasedResources(
  { releases }: Pick<Known, 'releases'>,
  packageId: string,
  now: string,
): Promise<ReadonlyMap<string, ReleasedResource>> {
  const released = (await releases.current(packageId, now)).flatMap(({ resources }) => resources);
  return new Map(released.map((one) => [keyOf(one), one]));
}

const keyOf = ({ name, revision }: Pick<ReleasedResource, 'name' | 'revision'>): string =>
  `${name} ${String(revision)}`;

/**
 * The components to delete with the revisions: no other revision and no channel uses them, and their records are
 * intact.
 */
async function componentsWithout(
  { resourceRevisions }: Pick<Known, 'resourceRevisions'>,
  packageId: string,
  revisions: readonly OldRevision[],
  released: ReadonlyMap<string, ReleasedResource>,
): Promise<Component[]> {
  const numbers = revisions.map(({ revision }) => revision);
  const found: Component[] = [];
  for (const one of await resourceRevisions.servingNone(packageId, numbers)) {
    if (released.has(keyOf(one)) || (await resourceRevisions.isDamaged(packageId, one.name, one.revision))) continue;
    found.push(one);
  }
  return found;
}

/**
 * The revisions of a snap that validation sets name. A device under such a set needs exactly these, independent of
 * channels.
 */
async function pinned({ assertions }: Pick<Known, 'assertions'>, packageId: string): Promise<number[]> {
  const sets = await assertions.setsNaming(packageId);
  return sets.flatMap(({ text }) => {
    const { snaps } = parseAssertion(text).headers;
    return (Array.isArray(snaps) ? snaps : []).flatMap((one) => {
      const { id, revision } = one as Record<string, unknown>;
      return id === packageId && typeof revision === 'string' ? Number(revision) : [];
    });
  });
}

/** The revisions of a charm that bundles name. Deploying such a bundle needs exactly these, independent of channels. */
async function deployed(
  { heldRevisions }: Pick<Known, 'heldRevisions'>,
  { namespace, name }: Pick<PublishedPackage, 'namespace' | 'name'>,
): Promise<number[]> {
  if (namespace !== 'charm') return [];
  const bundles = await heldRevisions.bundlesNaming(name);
  return bundles.flatMap(charmsOfBundle).flatMap((one) => (one.name === name ? one.revisions : []));
}

/** For each released component of a snap, the newest revision that it serves. These revisions are kept. */
async function revisionsOf(
  { resourceRevisions }: Pick<Known, 'resourceRevisions'>,
  packageId: string,
  released: ReadonlyMap<string, ReleasedResource>,
): Promise<number[]> {
  const found = new Set<number>();
  for (const { name, revision } of released.values()) {
    const served = revision === null ? null : await resourceRevisions.newestServed(packageId, name, revision);
    if (served !== null) found.add(served);
  }
  return [...found];
}

interface Deletion {
  package: PublishedPackage;
  rule: Rule;
  /** The revisions to delete, as previewed: all that the rule selects, the oldest first. */
  revisions: readonly number[];
  reason?: string | undefined;
}

export const deleteRevisions = act<Deletion, { revisions: number[]; bytes: number }>({
  name: 'delete_revisions',
  summary: 'Delete old revisions by a rule: numbers, digests and the reason stay, files go that nothing else needs.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }) => packageObject(subject),
  gate: { never: 'what a channel holds stays' },

  async perform(tx, { package: subject, rule, revisions: named, reason }, doing) {
    const because = reason === undefined ? ruleInWords(rule) : reasonOf(reason);
    await latestOf(tx, subject);
    const found = await oldRevisions(tx, subject, rule, doing.at);
    const { bytes } = found;
    const revisions = found.revisions.map(({ revision }) => revision);
    if (revisions.length === 0 || revisions.join() !== named.join()) {
      throw new Refusal(
        'conflict',
        `What the rule lets go of '${subject.name}' is not what was named, so nothing was deleted; look at it again.`,
      );
    }
    await setDeleted(tx, subject.id, found, { at: doing.at, by: doing.actor, because });
    doing.note({ revisions, ...noteOf(found), bytes, because });
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
    const components: Record<string, [string, number][]> = {};
    const because = ruleInWords(rule);
    let [expired, bytes] = [0, 0];
    for (const id of packages) {
      const subject = await tx.packages.byId(id);
      if (subject === undefined || expired === atOnce) continue;
      const found = await oldRevisions(tx, subject, rule, at, atOnce - expired);
      const revisions = found.revisions.map(({ revision }) => revision);
      if (revisions.length === 0) continue;
      await setDeleted(tx, id, found, { at, by: actor, because });
      deleted[packageObject(subject)] = revisions;
      const gone = noteOf(found).components;
      if (gone !== undefined) components[packageObject(subject)] = gone;
      expired += revisions.length;
      bytes += found.bytes;
    }
    note({ expired, bytes, revisions: deleted, ...(Object.keys(components).length > 0 && { components }) });
    return { expired, bytes };
  },
});

async function setDeleted(
  tx: Changes,
  packageId: string,
  { revisions, components }: OldRevisions,
  deleted: { at: string; by: string; because: string },
): Promise<void> {
  const numbers = revisions.map(({ revision }) => revision);
  await tx.revisions.setDeleted(packageId, numbers, deleted);
  for (const { name, revision } of components) {
    await tx.resourceRevisions.setDeleted(packageId, name, revision, deleted.at);
  }
}

/** The deleted components for the audit log: names and numbers. */
const noteOf = ({ components }: OldRevisions): { components?: [string, number][] } =>
  components.length === 0 ? {} : { components: components.map(({ name, revision }) => [name, revision]) };

/** The default reason of a deletion: the rule in words. */
function ruleInWords({ keep, channel, olderThan }: Rule): string {
  const where = channel === undefined ? '' : ` that were released to ${channel}`;
  const age =
    olderThan === undefined ? '' : `, and older than ${String(Math.round((olderThan / days(1)) * 100) / 100)} days`;
  return `Not among the newest ${String(keep)}${where}${age}.`;
}
