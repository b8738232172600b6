// The resources of a release: named in the request, or else taken from earlier releases. A release fixes them, so a
// component that is pushed later reaches devices with the next release that names it.
import type { Channel } from '#domain/releases/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';

interface ReleaseResourceRequest {
  channel: Channel;
  revision: number;
  /** The resources that the revision declares. */
  declared: DeclaredResources;
  resources: { name: string; revision: number | null }[];
}

/** The records that give the resources of a revision. */
export type ResourceReleaseRecords = Pick<StoreRecords, 'releases' | 'resources' | 'resourceRevisions'>;

export type DeclaredResources = Awaited<ReturnType<StoreRecords['resources']['list']>>;

type ResolvedResource = Release['resources'][number];

/**
 * The resources of a revision in a channel: one entry for each resource that it declares.
 *
 * @param current - The content of the package's channels just before the release.
 */
export async function resolveResources(
  tx: ResourceReleaseRecords,
  subject: PublishedPackage,
  request: ReleaseResourceRequest,
  current: readonly Release[],
): Promise<ResolvedResource[]> {
  const { declared } = request;
  const requested = new Map<string, number | null>();
  for (const { name, revision } of request.resources) {
    if (requested.has(name)) throw new Refusal('api-error', `The resource '${name}' is named twice.`);
    if (!declared.some((resource) => resource.name === name)) {
      throw new Refusal('api-error', `Resource '${name}' is not valid for ${subject.type} with id ${subject.id}.`);
    }
    // Clients write 0 for "no file".
    const number = revision === 0 ? null : revision;
    if (number !== null && (await tx.resourceRevisions.find(subject.id, name, number)) === undefined) {
      throw new Refusal(
        'api-error',
        `Resource '${name}' with revision ${number} does not exist for ${subject.type} with id ${subject.id}.`,
      );
    }
    requested.set(name, number);
  }
  const released: ResolvedResource[] = [];
  for (const { name, type, optional } of declared) {
    const requestedRevision = requested.get(name);
    const revision =
      requestedRevision === undefined
        ? await usualRevision(tx, subject, request, { name, current })
        : requestedRevision;
    if (requestedRevision === undefined && revision === null && !optional) {
      throw new Refusal(
        'api-error',
        `Resource '${name}' doesn't have a released revision for ${subject.type} with id '${subject.id}' and revision ${request.revision}`,
      );
    }
    released.push({ name, type, revision });
  }
  for (const { name, revision } of released)
    if (revision !== null) await tx.resourceRevisions.refuseDamaged(subject.id, name, revision);
  return released;
}

/**
 * The revision of a resource that the request does not name: the revision that the channel holds; else the revision
 * that was released elsewhere together with this package revision. A component belongs to one revision of its snap, so
 * components of other revisions do not count; the last choice is the newest one pushed for this revision.
 */
async function usualRevision(
  { resourceRevisions }: Pick<ResourceReleaseRecords, 'resourceRevisions'>,
  { id, namespace }: PublishedPackage,
  { channel, revision }: ReleaseResourceRequest,
  { name, current }: { name: string; current: readonly Release[] },
): Promise<number | null> {
  const isSnap = namespace === 'snap';
  const same = current.filter((release) => release.revision === revision);
  const inChannel = (isSnap ? same : current).filter((release) => release.channel === channel.name);
  for (const release of [...inChannel, ...same]) {
    const heldRevision = release.resources.find((resource) => resource.name === name)?.revision;
    if (heldRevision !== undefined && heldRevision !== null) return heldRevision;
  }
  return isSnap ? ((await resourceRevisions.newestFor(id, name, revision))?.revision ?? null) : null;
}
