// The snaps that a device may have; devices reach snaps only through this access rule.
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Access } from './access-rules.ts';
import { assertionsFor, type AssertionsForDevice } from './device-assertions.ts';
import { device, type DeviceEvidence, type DeviceRights } from './device-access.ts';

/** Finds snaps; if the device may not have one, it does not exist. */
export interface SnapsForDevice {
  findByName(name: string): Promise<PublishedPackage | undefined>;
  findById(id: string): MaybePromise<PublishedPackage | undefined>;
  /** Whether a snap that was found for another device also exists for this one. */
  reaches(snap: PublishedPackage): boolean;
}

interface ForDevice extends DeviceEvidence {
  snaps: SnapsForDevice;
  assertions: AssertionsForDevice;
}

/** Admits any device, and supplies the snaps that it may have and their assertions. */
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
  const granted = (snap: PublishedPackage | undefined): PublishedPackage | undefined =>
    snap !== undefined && mayHave(rights, snap) ? snap : undefined;
  return {
    findByName: async (name) => granted(await packages.find('snap', name)),
    findById: (id) => whenReady(packages.forDevices(id), granted),
    reaches: (snap) => mayHave(rights, snap),
  };
}

/** A name without any release is visible to its publisher only. */
const mayHave = (rights: DeviceRights, snap: PublishedPackage): boolean =>
  snap.namespace === 'snap' && snap.status === 'published' && rights.reaches(snap);
