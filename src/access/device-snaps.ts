// The snaps that a device or the account of a token may have; the interface for devices reaches snaps only through this access rule.
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Access } from './access-rules.ts';
import type { SnapReach } from './account-snaps.ts';
import { assertionsFor, type AssertionsForDevice } from './device-assertions.ts';
import { device, type DeviceEvidence, type DeviceRights } from './device-access.ts';

/** A snap that exists for the caller, and the part of it that does. */
export interface VisibleSnap {
  snap: PublishedPackage;
  reach: SnapReach;
}

/** Finds snaps; if the caller may not have one, it does not exist. */
export interface SnapsForDevice {
  findByName(name: string): Promise<VisibleSnap | undefined>;
  findById(id: string): MaybePromise<VisibleSnap | undefined>;
  /** Whether a snap that was found for another device also exists for this one, with every release. */
  reaches(snap: PublishedPackage): boolean;
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
      snaps: snapsFor(rights, accessRequest.records),
      assertions: assertionsFor(rights, accessRequest.records),
    };
  },
};

function snapsFor(rights: DeviceRights, { packages }: Pick<StoreRecords, 'packages'>): SnapsForDevice {
  const granted = (snap: PublishedPackage | undefined): MaybePromise<VisibleSnap | undefined> =>
    snap?.namespace !== 'snap'
      ? undefined
      : whenReady(rights.reachOf(snap), (reach) =>
          // A name without any release is visible only to accounts that see its revisions.
          reach !== undefined && (snap.status === 'published' || reach.unreleased) ? { snap, reach } : undefined,
        );
  return {
    findByName: async (name) => granted(await packages.find('snap', name)),
    findById: (id) => whenReady(packages.forDevices(id), granted),
    reaches: (snap) => snap.namespace === 'snap' && snap.status === 'published' && rights.reaches(snap),
  };
}
