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
  summary: 'Grant a private snap to the devices of a brand, to those of one model, or to a single device.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }) => packageObject(subject),
  gate: { never: 'devices then get the revisions that are released to its channels' },

  async perform(tx, { package: subject, devices }, { at, actor, note }) {
    refuseUnclear(devices);
    const { id: packageId, namespace } = await requireCurrentPackage(tx, subject);
    if (namespace !== 'snap') {
      throw new Refusal(
        'api-error',
        `Only snaps can be granted to devices, and '${packageObject(subject)}' is not a snap.`,
      );
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
  summary: 'Revoke a grant of a private snap; devices keep the revisions that they have.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }) => packageObject(subject),
  gate: { never: 'downloads that must stop have to stop at once' },

  async perform(tx, { package: subject, devices }, { note }) {
    if (!(await tx.deviceGrants.remove(subject.id, devices))) {
      throw new Refusal(
        'resource-not-found',
        `${packageObject(subject)} is not granted to ${describeDevices(devices)}. List the grants of the snap with 'larder device grants'.`,
      );
    }
    note(details(devices));
  },
});

function refuseUnclear({ brandId, model, serial }: GrantedDevices): void {
  if (!isAccountId(brandId))
    throw new Refusal('api-error', `'${brandId.slice(0, 64)}' is not the account id of a brand.`);
  if (serial !== undefined && model === undefined) {
    throw new Refusal('api-error', 'A serial belongs to a model. Name the model too.');
  }
  if (model !== undefined && !isModelName(model)) {
    throw new Refusal('api-error', `'${model.slice(0, 64)}' is not the name of a model.`);
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
