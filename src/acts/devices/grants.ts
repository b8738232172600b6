// Grants of private snaps to the devices of a brand, to those of one of its models, or to a single device.
import { isModelName } from '#assertions/format/types.ts';
import { isAccountId } from '#domain/ids.ts';
import { Refusal } from '#domain/refusal.ts';
import type { DeviceGrant, GrantedDevices } from '#records/devices/device-grants.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { act } from '../act.ts';
import { requireCurrentPackage, packageObject } from '../packages/package.ts';

interface DeviceGrantRequest {
  package: PublishedPackage;
  devices: GrantedDevices;
}

export const grantToDevices = act<DeviceGrantRequest, DeviceGrant>({
  name: 'grant_to_devices',
  summary: 'Give a private snap to the devices of a brand, of one of its models, or to a single one.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }) => packageObject(subject),
  gate: { never: 'devices get by it what is released to its channels' },

  async perform(tx, { package: subject, devices }, { at, actor, note }) {
    refuseUnclear(devices);
    const { id: packageId, namespace } = await requireCurrentPackage(tx, subject);
    if (namespace !== 'snap') {
      throw new Refusal('api-error', `Devices fetch snaps alone, and '${packageObject(subject)}' is none.`);
    }
    const grant = { packageId, ...devices, createdAt: at, createdBy: actor };
    if (!(await tx.deviceGrants.claim(grant))) {
      throw new Refusal('conflict', `${packageObject(subject)} is granted to ${describeDevices(devices)} already.`);
    }
    note(details(devices));
    return grant;
  },
});

export const revokeFromDevices = act<DeviceGrantRequest, void>({
  name: 'revoke_from_devices',
  summary: 'Take a grant of a private snap back; what devices have of it stays with them.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }) => packageObject(subject),
  gate: { never: 'what must not go out any more has to end at once' },

  async perform(tx, { package: subject, devices }, { note }) {
    if (!(await tx.deviceGrants.remove(subject.id, devices))) {
      throw new Refusal(
        'resource-not-found',
        `${packageObject(subject)} is not granted to ${describeDevices(devices)} in these words; 'larder device grants' shows to whom it is.`,
      );
    }
    note(details(devices));
  },
});

function refuseUnclear({ brandId, model, serial }: GrantedDevices): void {
  if (!isAccountId(brandId)) throw new Refusal('api-error', `'${brandId.slice(0, 64)}' is no account id of a brand.`);
  if (serial !== undefined && model === undefined) {
    throw new Refusal('api-error', 'A serial is one of a model; say which model, too.');
  }
  if (model !== undefined && !isModelName(model)) {
    throw new Refusal('api-error', `'${model.slice(0, 64)}' is no name of a model.`);
  }
}

const details = ({ brandId, model, serial }: GrantedDevices) => ({
  brand: brandId,
  ...(model !== undefined && { model }),
  ...(serial !== undefined && { serial }),
});

/** The devices of a grant, in words. */
export const describeDevices = ({ brandId, model, serial }: GrantedDevices): string =>
  serial !== undefined
    ? `the device ${brandId}/${model ?? ''}/${serial}`
    : model !== undefined
      ? `the devices of the model ${brandId}/${model}`
      : `the devices of the brand ${brandId}`;
