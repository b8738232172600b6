// The snaps that a device may have; devices reach snaps only through this access rule.
import { then, type Soon } from '#domain/soon.ts';
import type { Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Access } from './access.ts';
import { assertionsFor, type AssertionsForDevice } from './device-assertions.ts';
import { device, type DeviceEvidence, type DeviceRights } from './device-access.ts';

/** Finds snaps; if the device may not have one, it does not exist. */
export interface SnapsForDevice {
  named(name: string): Promise<PublishedPackage | undefined>;
  ofId(id: string): Soon<PublishedPackage | undefined>;
  /** Whether a snap that was found for another device also exists for this one. */
  reaches(found: PublishedPackage): boolean;
}

interface ForDevice extends DeviceEvidence {
  snaps: SnapsForDevice;
  assertions: AssertionsForDevice;
}

/** Admits any device, and supplies the snaps that it may have and their assertions. */
export const snapsForDevice: Access<ForDevice> = {
  ...device,
  async admit(asked) {
    const evidence = await device.admit(asked);
    const { rights } = evidence;
    return { ...evidence, snaps: snapsFor(rights, asked.records), assertions: assertionsFor(rights, asked.records) };
  },
};

function snapsFor(rights: DeviceRights, { packages }: Pick<Records, 'packages'>): SnapsForDevice {
  const granted = (found: PublishedPackage | undefined): PublishedPackage | undefined =>
    found !== undefined && mayHave(rights, found) ? found : undefined;
  return {
    named: async (name) => granted(await packages.find('snap', name)),
    ofId: (id) => then(packages.forDevices(id), granted),
    reaches: (found) => mayHave(rights, found),
  };
}

/** A name without any release is visible to its publisher only. */
const mayHave = (rights: DeviceRights, found: PublishedPackage): boolean =>
  found.namespace === 'snap' && found.status === 'published' && rights.reaches(found);
