// The snaps that a device or the account of a token may have; the interface for devices reaches snaps only through this access rule.
import type { SnapFleetView } from '#domain/fleets/fleet-view.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Access } from './access-rules.ts';
import type { SnapReach } from './account-snaps.ts';
import { assertionsFor, type AssertionsForDevice } from './device-assertions.ts';
import { device, type DeviceEvidence } from './device-access.ts';

/** A snap that exists for the caller, and the part of it that does. */
export interface VisibleSnap {
  snap: PublishedPackage;
  reach: SnapReach;
  /** What the fleets of the device change about it; undefined if nothing. */
  view?: SnapFleetView | undefined;
}

/** Finds snaps; if the caller may not have one, or a fleet hides it, it does not exist. A validation set or a download can find hidden ones. */
export interface SnapsForDevice {
  findByName(name: string, evenHidden?: boolean): Promise<VisibleSnap | undefined>;
  findById(id: string, evenHidden?: boolean): MaybePromise<VisibleSnap | undefined>;
  /** Whether a snap that was found for another device also exists for this one, with every release. */
  reaches(snap: PublishedPackage): boolean;
  /** What the fleets of the device change about a snap; undefined if nothing. */
  viewOf(id: string): SnapFleetView | undefined;
}

interface ForDevice extends DeviceEvidence {
  snaps: SnapsForDevice;
  assertions: AssertionsForDevice;
}

/** Admits every caller, and supplies the snaps that exist for the caller and their assertions. */
export const snapsForDevice: Access<ForDevice> = {
  ...device,
  async admit(accessRequest) {
    const evidence = await device.admit(accessRequest);
    const { rights } = evidence;
    return {
      ...evidence,
      snaps: snapsFor(evidence, accessRequest.records),
      assertions: assertionsFor(rights, accessRequest.records),
    };
  },
};

function snapsFor(
  { rights, fleets }: Pick<DeviceEvidence, 'rights' | 'fleets'>,
  { packages }: Pick<StoreRecords, 'packages'>,
): SnapsForDevice {
  const viewOf = (id: string): SnapFleetView | undefined => fleets?.snaps.get(id);
  const granted = (snap: PublishedPackage | undefined, evenHidden = false): MaybePromise<VisibleSnap | undefined> =>
    snap?.namespace !== 'snap' || (viewOf(snap.id)?.hiddenBy !== undefined && !evenHidden)
      ? undefined
      : whenReady(rights.reachOf(snap), (reach) =>
          // A name without any release is visible only to accounts that see its revisions.
          reach !== undefined && (snap.status === 'published' || reach.unreleased)
            ? { snap, reach, view: viewOf(snap.id) }
            : undefined,
        );
  return {
    findByName: async (name, evenHidden) => granted(await packages.find('snap', name), evenHidden),
    findById: (id, evenHidden) => whenReady(packages.forDevices(id), (snap) => granted(snap, evenHidden)),
    reaches: (snap) =>
      snap.namespace === 'snap' &&
      snap.status === 'published' &&
      viewOf(snap.id)?.hiddenBy === undefined &&
      rights.reaches(snap),
    viewOf,
  };
}
