// Old revisions, deleted by rule: their numbers, digests and the reason stay, their bytes go.
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
  /** What comes beside a snap, and serves no revision of it any more once these are gone. */
  components: Component[];
  /** Of the files of both. */
  bytes: number;
  more: boolean;
}

type Known = Pick<
  Records,
  'assertions' | 'heldRevisions' | 'oldRevisions' | 'releases' | 'resourceRevisions' | 'revisions'
>;

/** What would go by a rule now, at most so many; `now` is RFC 3339. */
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
    // Whoever writes a damaged record anew would hide that it is.
    if (!(await known.revisions.isDamaged(packageId, one.revision))) revisions.push(one);
  }
  const components = revisions.length === 0 ? [] : await componentsWithout(known, packageId, revisions, released);
  const bytes = [...revisions, ...components].reduce((sum, { size }) => sum + size, 0);
  return { revisions, components, bytes, more: found.length > limit };
}

type ReleasedResource = Release['resources'][number];

/** What the channels of a package hold beside its revisions, each once, by its name and number. */
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

/** The components that go with revisions: neither another revision nor a channel has them, and their records are whole. */
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

/** The revisions of a snap that validation sets name: a device that keeps to one needs just these, whatever channels hold. */
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

/** The revisions of a charm that bundles name: who deploys one of those gets just these, whatever channels hold. */
async function deployed(
  { heldRevisions }: Pick<Known, 'heldRevisions'>,
  { namespace, name }: Pick<PublishedPackage, 'namespace' | 'name'>,
): Promise<number[]> {
  if (namespace !== 'charm') return [];
  const bundles = await heldRevisions.bundlesNaming(name);
  return bundles.flatMap(charmsOfBundle).flatMap((one) => (one.name === name ? one.revisions : []));
}

/** The revisions of a snap that stay with a component because some channel holds that: of each the newest that it serves. */
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
  /** What goes, as it was shown: all that the rule lets go, the oldest first. */
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

/** The components that went, for the audit log: names and numbers. */
const noteOf = ({ components }: OldRevisions): { components?: [string, number][] } =>
  components.length === 0 ? {} : { components: components.map(({ name, revision }) => [name, revision]) };

/** Why what a rule lets go was deleted, where nobody said. */
function ruleInWords({ keep, channel, olderThan }: Rule): string {
  const where = channel === undefined ? '' : ` that were released to ${channel}`;
  const age =
    olderThan === undefined ? '' : `, and older than ${String(Math.round((olderThan / days(1)) * 100) / 100)} days`;
  return `Not among the newest ${String(keep)}${where}${age}.`;
}
