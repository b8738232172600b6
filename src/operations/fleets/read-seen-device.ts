import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import { presentSeenDevice } from './present.ts';

export const readSeenDevice = operation({
  name: 'read_seen_device',
  method: 'GET',
  path: '/internal/v1/devices/:brand_id/:model/:serial',
  since: 0,
  summary: 'Get the last call of a device, and the snaps that it reported.',
  access: storeAdministrator('store-view'),
  response: 'SeenDeviceResponse',

  async handle({ params, records }) {
    const { brand_id: brandId, model, serial } = params;
    const seen = await records.seenDevices.find(brandId, model, serial);
    if (seen === undefined) {
      throw new Refusal('resource-not-found', 'This device has not called while devices.remember was on.');
    }
    const holds = seen.holds.map(({ packageId: id, revision }) => ({ id, revision }));
    return { ...presentSeenDevice(seen), holds };
  },
});
