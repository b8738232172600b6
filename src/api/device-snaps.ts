// The snaps that a device may have: it reaches them through this rule, and no other.
import { then, type Soon } from '#domain/soon.ts';
import type { Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Access } from './access.ts';
import { assertionsFor, type AssertionsForDevice } from './device-assertions.ts';
import { device, reservedFor, type Device } from './device-access.ts';

/** The way to snaps; those that a device may not have are not there. */
export interface SnapsForDevice {
  named(name: string): Promise<PublishedPackage | undefined>;
  ofId(id: string): Soon<PublishedPackage | undefined>;
}

interface ForDevice {
  device: Device | undefined;
  snaps: SnapsForDevice;
  assertions: AssertionsForDevice;
}

/** Any device, the snaps that it may have, the public ones and the private ones of its own brand, and what vouches for them. */
export const snapsForDevice: Access<ForDevice> = {
  ...device,
  async admit(asked) {
    const { device: asks } = await device.admit(asked);
    return { device: asks, snaps: snapsFor(asks, asked.records), assertions: assertionsFor(asks, asked.records) };
  },
};

function snapsFor(asks: Device | undefined, { packages }: Pick<Records, 'packages'>): SnapsForDevice {
  const granted = (found: PublishedPackage | undefined): PublishedPackage | undefined =>
    found !== undefined && mayHave(asks, found) ? found : undefined;
  return {
    named: async (name) => granted(await packages.find('snap', name)),
    ofId: (id) => then(packages.forDevices(id), granted),
  };
}

/** A name of which nothing was ever released is nobody's business but its publisher's. */
function mayHave(asks: Device | undefined, found: PublishedPackage): boolean {
  const brand = reservedFor(found);
  return found.namespace === 'snap' && found.status === 'published' && (brand === undefined || brand === asks?.brand);
}
