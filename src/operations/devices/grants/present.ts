// Converts grants to devices from and to their wire form.
import type { DeviceGrant, GrantedDevices } from '#contract/wire.ts';
import type { DeviceGrant as Kept, GrantedDevices as Meant } from '#records/devices/device-grants.ts';

export const readGrantedDevices = ({ 'brand-id': brandId, model, serial }: GrantedDevices): Meant => ({
  brandId,
  model: model ?? undefined,
  serial: serial ?? undefined,
});

export const presentGrant = ({ brandId, model, serial, createdAt, createdBy }: Kept): DeviceGrant => ({
  'brand-id': brandId,
  model: model ?? null,
  serial: serial ?? null,
  'created-at': createdAt,
  'created-by': createdBy,
});
