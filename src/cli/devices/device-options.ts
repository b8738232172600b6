// Defines the options that select devices.
import type { GrantedDevices } from '#records/devices/device-grants.ts';

/** Options for all devices of a brand, the devices of one of its models, or a single device. */
export const deviceOptions = {
  brand: { type: 'string', value: 'ACCOUNT-ID', summary: 'The brand, by its account id.', required: true },
  model: { type: 'string', value: 'MODEL', summary: 'Only devices of this model.' },
  serial: { type: 'string', value: 'SERIAL', summary: 'Only the device with this serial; needs --model.' },
} as const;

export const toGrantedDevices = ({
  brand: brandId,
  model,
  serial,
}: {
  brand: string;
  model: string | undefined;
  serial: string | undefined;
}): GrantedDevices => ({ brandId, model, serial });
