// Presents devices that have contacted the store.
import type { SeenDevice } from '#contract/wire.ts';
import type { SeenDevice as Kept } from '#records/fleets/seen-devices.ts';

export const presentSeenDevice = ({ brandId, model, serial, firstAt, lastAt }: Kept): SeenDevice => ({
  'brand-id': brandId,
  model,
  serial,
  'first-contact': firstAt,
  'last-contact': lastAt,
});
