// Finds the components of a snap revision: separate files that a device downloads on request.
import type { SnapReach } from '#access/account-snaps.ts';
import type { VisibleSnap } from '#access/device-snaps.ts';
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
 * @param released - The components of the release that the device follows. Undefined if the device asks for a revision by number. The
 * components are then taken from the newest release of the revision that exists for the caller, including past releases. If the revision
 * was never released, they are taken from the validation sets that name it.
 */
export async function findComponents(
  revision: RevisionForDevices,
  { released, reach }: { released: readonly GivenResource[] | undefined; reach: SnapReach },
  records: SnapComponentRecords,
  baseUrl: string,
): Promise<SnapResource[] | undefined> {
  const { components } = readAnnouncement(revision);
  if (components.length === 0) return undefined;
  const { packageId: id, revision: number } = revision;
  const pins =
    released ??
    (await records.pastReleases.resourcesOf(id, number, reach.coversChannel)) ??
    (reach.coversChannel === undefined ? await pinnedComponents(id, number, records) : []);
  const resources: SnapResource[] = [];
  for (const { name, description } of components) {
    const its = pins.find((pin) => pin.name === name)?.revision ?? undefined;
    const resource = its === undefined ? undefined : await records.resourceRevisions.find(id, name, its);
    if (resource !== undefined) resources.push(present(resource, description, baseUrl));
  }
  return resources;
}

/** Finds a revision of a component that exists for the caller, by the same rule as a revision of the snap. */
export async function findVisibleComponent(
  { snap: { id }, reach: { coversChannel, unreleased } }: VisibleSnap,
  name: string,
  number: number,
  records: SnapComponentRecords,
): Promise<ResourceRevision | undefined> {
  const revision = await records.resourceRevisions.find(id, name, number);
  if (revision === undefined || unreleased) return revision;
  if (await records.pastReleases.hasIncluded(id, name, number, coversChannel)) return revision;
  return coversChannel === undefined && (await isPinnedComponent(id, name, number, records)) ? revision : undefined;
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
