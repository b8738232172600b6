// The snaps that a device may have: it reaches them through this rule, and no other.
import { then, type Soon } from '#domain/soon.ts';
import type { Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Access } from './access.ts';
import { assertionsFor, type AssertionsForDevice } from './device-assertions.ts';
import { device, type DeviceEvidence, type DeviceRights } from './device-access.ts';

/** The way to snaps; those that a device may not have are not there. */
export interface SnapsForDevice {
  named(name: string): Promise<PublishedPackage | undefined>;
  ofId(id: string): Soon<PublishedPackage | undefined>;
  /** Whether one that another device was told of is there for this one. */
  reaches(found: PublishedPackage): boolean;
}

interface ForDevice extends DeviceEvidence {
  snaps: SnapsForDevice;
  assertions: AssertionsForDevice;
}

/** Any device, the snaps that it may have, and what vouches for them. */
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

/** A name of which nothing was ever released is nobody's business but its publisher's. */
const mayHave = (rights: DeviceRights, found: PublishedPackage): boolean =>
  found.namespace === 'snap' && found.status === 'published' && rights.reaches(found);
