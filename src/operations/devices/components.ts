// Finds the components of a snap revision: separate files that a device downloads on request.
import type { HandlerRecords } from '#http/handler-records.ts';
import type { SnapResource } from '#contract/wire.ts';
import type { SlotRelease } from '#domain/releases/channel-map.ts';
import type { ResourceRevision } from '#records/resources/resource-revisions.ts';
import type { Release } from '#records/releases/releases.ts';
import type { RevisionForDevices } from '#records/revisions/revisions.ts';
import { isPinnedComponent, pinnedComponents } from './validation-set-pins.ts';
import { readAnnouncement } from './served-snap.ts';

type SnapComponentRecords = Pick<HandlerRecords, 'assertions' | 'pastReleases' | 'resourceRevisions'>;
type GivenResource = Release['resources'][number];

/** What a slot of a channel gives to devices: a revision and the components released with it. */
export type HeldForDevices = SlotRelease & Pick<Release, 'resources'>;

/**
 * The components of a revision that a device may have; undefined if the snap declares no components.
 *
 * @param released - The components of the release that the device follows. Undefined for a revision by number: then its newest
 * release counts, even if no channel holds it any longer. If the revision was never released, the validation sets that name it
 * count.
 */
export async function findComponents(
  revision: RevisionForDevices,
  released: readonly GivenResource[] | undefined,
  records: SnapComponentRecords,
  baseUrl: string,
): Promise<SnapResource[] | undefined> {
  const { components } = readAnnouncement(revision);
  if (components.length === 0) return undefined;
  const { packageId: id, revision: number } = revision;
  const pins =
    released ?? (await records.pastReleases.resourcesOf(id, number)) ?? (await pinnedComponents(id, number, records));
  const resources: SnapResource[] = [];
  for (const { name, description } of components) {
    const its = pins.find((pin) => pin.name === name)?.revision ?? undefined;
    const resource = its === undefined ? undefined : await records.resourceRevisions.find(id, name, its);
    if (resource !== undefined) resources.push(present(resource, description, baseUrl));
  }
  return resources;
}

/** Finds a revision of a component, if it was ever released or a validation set names it. */
export async function findVisibleComponent(
  id: string,
  name: string,
  number: number,
  records: SnapComponentRecords,
): Promise<ResourceRevision | undefined> {
  const revision = await records.resourceRevisions.find(id, name, number);
  if (revision === undefined) return undefined;
  const isTold =
    (await records.pastReleases.hasGiven(id, name, number)) || (await isPinnedComponent(id, name, number, records));
  return isTold ? revision : undefined;
}

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
