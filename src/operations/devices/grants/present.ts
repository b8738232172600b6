// Converts grants to devices from and to their wire form.
import type { DeviceGrant, GrantedDevices } from '#contract/wire.ts';
import type {
  DeviceGrant as DeviceGrantRecord,
  GrantedDevices as GrantedDevicesRecord,
} from '#records/devices/device-grants.ts';

export const readGrantedDevices = ({ 'brand-id': brandId, model, serial }: GrantedDevices): GrantedDevicesRecord => ({
  brandId,
  model: model ?? undefined,
  serial: serial ?? undefined,
});

export const presentGrant = ({ brandId, model, serial, createdAt, createdBy }: DeviceGrantRecord): DeviceGrant => ({
  'brand-id': brandId,
  model: model ?? null,
  serial: serial ?? null,
  'created-at': createdAt,
  'created-by': createdBy,
});
