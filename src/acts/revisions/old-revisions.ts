// Deletes old revisions by rule. Their numbers, digests and the reason stay; their bytes are deleted.
import { parseAssertion } from '#assertions/format/assertion.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { OldRevision } from '#records/revisions/old-revisions.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import type { ComponentRevision } from '#records/resources/resource-revisions.ts';
import { listBundleCharms } from '#review/named-packages.ts';
import { act } from '../act.ts';
import { requireCurrentPackage, packageObject } from '../packages/package.ts';
import { parseReason } from '../reason.ts';

/** A retention rule. */
export interface RetentionRule {
  /** The number of newest revisions to keep, at least 1. */
  keep: number;
  /** Only revisions that were ever released to this channel (full name). */
  channel?: string | undefined;
  /** Only revisions older than this, in milliseconds. */
  olderThan?: number | undefined;
}

/** The maximum number of revisions deleted in one change, because other changes wait for it. */
const maxDeletions = 500;

/** The revisions of a package that a rule deletes, the oldest first, and whether there are more. */
export interface OldRevisions {
  revisions: OldRevision[];
  /** Components of a snap that no revision uses after these revisions are deleted. */
  components: ComponentRevision[];
  /** The total size of both. */
  bytes: number;
  more: boolean;
}

type RetentionRecords = Pick<
  StoreRecords,
  'assertions' | 'fleets' | 'heldRevisions' | 'oldRevisions' | 'releases' | 'resourceRevisions' | 'revisions'
>;

/** The revisions that a rule would delete now, at most `limit`. `now` is RFC 3339. */
export async function findOldRevisions(
  records: RetentionRecords | Pick<ChangeRecords, keyof RetentionRecords>,
  subject: Pick<PublishedPackage, 'id' | 'namespace' | 'name'>,
  { keep, channel, olderThan }: RetentionRule,
  now: string,
  limit = maxDeletions,
): Promise<OldRevisions> {
  const { id: packageId } = subject;
  const before = olderThan === undefined ? null : timestamp(after(new Date(now), -olderThan));
  const ofFleets = await records.fleets.settingsOfPackage(packageId);
  const released = await releasedResources(records, packageId, { ofFleets, now });
  const protectedRevisions = [
    ...ofFleets.flatMap(({ revision }) => revision ?? []),
    ...(await listServedRevisions(records, packageId, released)),
    ...(await listPinnedRevisions(records, packageId)),
    ...(await listDeployedRevisions(records, subject)),
  ];
  const candidates = await records.oldRevisions.list(
    packageId,
    { keep, channel: channel ?? null, before },
    protectedRevisions,
    limit + 1,
  );
  const revisions: OldRevision[] = [];
  for (const candidate of candidates.slice(0, limit)) {
    // Writing a corrupt record again would hide the corruption.
    if (!(await records.revisions.isDamaged(packageId, candidate.revision))) revisions.push(candidate);
  }
  const components = revisions.length === 0 ? [] : await componentsWithout(records, packageId, revisions, released);
  const bytes = [...revisions, ...components].reduce((sum, { size }) => sum + size, 0);
  return { revisions, components, bytes, more: candidates.length > limit };
}

type ChannelHeldResource = Release['resources'][number];

/** The resources that the channels of a package hold, also for fleets, each once, by name and number. */
async function releasedResources(
  { releases }: Pick<RetentionRecords, 'releases'>,
  packageId: string,
  { ofFleets, now }: { ofFleets: readonly Pick<Release, 'resources'>[]; now: string },
): Promise<ReadonlyMap<string, ChannelHeldResource>> {
  const released = [...(await releases.current(packageId, now)), ...ofFleets].flatMap(({ resources }) => resources);
  return new Map(released.map((resource) => [keyOf(resource), resource]));
}

const keyOf = ({ name, revision }: Pick<ChannelHeldResource, 'name' | 'revision'>): string =>
  `${name} ${String(revision)}`;

/**
 * The components to delete with the revisions: no other revision and no channel uses them, and their records are
 * intact.
 */
async function componentsWithout(
  { resourceRevisions }: Pick<RetentionRecords, 'resourceRevisions'>,
  packageId: string,
  revisions: readonly OldRevision[],
  released: ReadonlyMap<string, ChannelHeldResource>,
): Promise<ComponentRevision[]> {
  const numbers = revisions.map(({ revision }) => revision);
  const components: ComponentRevision[] = [];
  for (const component of await resourceRevisions.servingNone(packageId, numbers)) {
    if (
      released.has(keyOf(component)) ||
      (await resourceRevisions.isDamaged(packageId, component.name, component.revision))
    )
      continue;
    components.push(component);
  }
  return components;
}

/**
 * The revisions of a snap that validation sets name. A device under such a set needs exactly these, independent of
 * channels.
 */
async function listPinnedRevisions(
  { assertions }: Pick<RetentionRecords, 'assertions'>,
  packageId: string,
): Promise<number[]> {
  const sets = await assertions.setsNaming(packageId);
  return sets.flatMap(({ text }) => {
    const { snaps } = parseAssertion(text).headers;
    return (Array.isArray(snaps) ? snaps : []).flatMap((snap) => {
      const { id, revision } = snap as Record<string, unknown>;
      return id === packageId && typeof revision === 'string' ? Number(revision) : [];
    });
  });
}

/** The revisions of a charm that bundles name. Deploying such a bundle needs exactly these, independent of channels. */
async function listDeployedRevisions(
  { heldRevisions }: Pick<RetentionRecords, 'heldRevisions'>,
  { namespace, name }: Pick<PublishedPackage, 'namespace' | 'name'>,
): Promise<number[]> {
  if (namespace !== 'charm') return [];
  const bundles = await heldRevisions.bundlesNaming(name);
  return bundles.flatMap(listBundleCharms).flatMap((charm) => (charm.name === name ? charm.revisions : []));
}

/** For each released component of a snap, the newest revision that it serves. These revisions are kept. */
async function listServedRevisions(
  { resourceRevisions }: Pick<RetentionRecords, 'resourceRevisions'>,
  packageId: string,
  released: ReadonlyMap<string, ChannelHeldResource>,
): Promise<number[]> {
  const numbers = new Set<number>();
  for (const { name, revision } of released.values()) {
    const served = revision === null ? null : await resourceRevisions.newestServed(packageId, name, revision);
    if (served !== null) numbers.add(served);
  }
  return [...numbers];
}

interface Deletion {
  package: PublishedPackage;
  rule: RetentionRule;
  /** The revisions to delete, as previewed: all that the rule selects, the oldest first. */
  revisions: readonly number[];
  reason?: string | undefined;
}

export const deleteRevisions = act<Deletion, { revisions: number[]; bytes: number }>({
  name: 'delete_revisions',
  summary:
    'Delete old revisions by a rule: files that nothing else needs are removed; numbers, digests and the reason stay.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }) => packageObject(subject),
  gate: { never: 'revisions in a channel stay' },

  async perform(tx, { package: subject, rule, revisions: previewed, reason }, doing) {
    const because = reason === undefined ? describeRule(rule) : parseReason(reason);
    await requireCurrentPackage(tx, subject);
    const selected = await findOldRevisions(tx, subject, rule, doing.at);
    const { bytes } = selected;
    const revisions = selected.revisions.map(({ revision }) => revision);
    if (revisions.length === 0 || revisions.join() !== previewed.join()) {
      throw new Refusal(
        'conflict',
        `The rule now selects other revisions of '${subject.name}' than the named ones, so nothing was deleted. Preview it again.`,
      );
    }
    await setDeleted(tx, subject.id, selected, { at: doing.at, actor: doing.actor, because });
    doing.note({ revisions, ...noteOf(selected), bytes, because });
    return { revisions, bytes };
  },
});

export const expireRevisions = act({
  name: 'expire_revisions',
  summary: 'Delete the old revisions of several packages, by the rule in the configuration.',
  on: 'revisions',
  object: () => 'revisions',
  gate: { never: 'it follows from the configuration and the time alone' },

  async perform(tx, { packages, rule }: { packages: readonly string[]; rule: RetentionRule }, { at, actor, note }) {
    const deleted: Record<string, number[]> = {};
    const components: Record<string, [string, number][]> = {};
    const because = describeRule(rule);
    let [expired, bytes] = [0, 0];
    for (const id of packages) {
      const subject = await tx.packages.byId(id);
      if (subject === undefined || expired === maxDeletions) continue;
      const selected = await findOldRevisions(tx, subject, rule, at, maxDeletions - expired);
      const revisions = selected.revisions.map(({ revision }) => revision);
      if (revisions.length === 0) continue;
      await setDeleted(tx, id, selected, { at, actor, because });
      deleted[packageObject(subject)] = revisions;
      const gone = noteOf(selected).components;
      if (gone !== undefined) components[packageObject(subject)] = gone;
      expired += revisions.length;
      bytes += selected.bytes;
    }
    note({ expired, bytes, revisions: deleted, ...(Object.keys(components).length > 0 && { components }) });
    return { expired, bytes };
  },
});

async function setDeleted(
  tx: ChangeRecords,
  packageId: string,
  { revisions, components }: OldRevisions,
  deleted: { at: string; actor: string; because: string },
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
function describeRule({ keep, channel, olderThan }: RetentionRule): string {
  const where = channel === undefined ? '' : ` that were released to ${channel}`;
  const age =
    olderThan === undefined ? '' : `, and older than ${String(Math.round((olderThan / days(1)) * 100) / 100)} days`;
  return `Not among the newest ${String(keep)}${where}${age}.`;
}
