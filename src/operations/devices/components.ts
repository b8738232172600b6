// The components of a revision of a snap: files beside it, which a device fetches when somebody asks for one of them.
import type { HandlerRecords } from '#api/handler-records.ts';
import type { SnapResource } from '#api/wire.ts';
import type { ResourceRevision } from '#records/resource-revisions.ts';
import type { Release } from '#records/releases.ts';
import type { RevisionForDevices } from '#records/revisions.ts';
import { announced } from './served-snap.ts';

type Reads = Pick<HandlerRecords, 'releases' | 'resourceRevisions'>;

/**
 * Each component with the revision that was released with the snap's, or else the newest that was pushed for it; nothing for a
 * snap without any. `channel` is where the snap's revision was found; for one by its number, any channel counts.
 */
export async function componentsOf(
  revision: RevisionForDevices,
  channel: string | undefined,
  { releases, resourceRevisions }: Reads,
  baseUrl: string,
): Promise<SnapResource[] | undefined> {
  const { components } = announced(revision);
  if (components.length === 0) return undefined;
  const { packageId: id } = revision;
  const held = await releases.held(id);
  const release = held.find(
    (one) => one.revision === revision.revision && (channel === undefined || one.channel === channel),
  );
  const found: SnapResource[] = [];
  for (const { name, description } of components) {
    const number = release && releasedIn(release, name);
    const one =
      number === undefined
        ? await resourceRevisions.newestFor(id, name, revision.revision)
        : await resourceRevisions.find(id, name, number);
    if (one !== undefined) found.push(present(one, description, baseUrl));
  }
  return found;
}

/** A component of which devices are told, by its name and number. */
export async function toldComponent(
  id: string,
  name: string,
  number: number,
  { releases, resourceRevisions }: Reads,
): Promise<ResourceRevision | undefined> {
  const isTold =
    (await releases.held(id)).some((release) => releasedIn(release, name) === number) ||
    (await resourceRevisions.servesReleased(id, name, number));
  return isTold ? resourceRevisions.find(id, name, number) : undefined;
}

const releasedIn = ({ resources }: Release, name: string): number | undefined =>
  resources.find((one) => one.name === name)?.revision ?? undefined;

const present = (
  { packageId, name, type, revision, createdAt, size, sha3_384 }: ResourceRevision,
  description: string | undefined,
  baseUrl: string,
): SnapResource => ({
  name,
  type,
  revision,
  'created-at': createdAt,
  ...(description !== undefined && { description }),
  download: {
    url: `${baseUrl}/api/v1/snaps/download/${packageId}_${name}_${revision}.comp`,
    size,
    'sha3-384': sha3_384,
    deltas: [],
  },
});
