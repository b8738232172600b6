import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { pageOf, pageSize, placeOf } from '../page.ts';
import { presentSeenDevice } from './present.ts';

export const listSeenDevices = operation({
  name: 'list_seen_devices',
  method: 'GET',
  path: '/internal/v1/devices',
  since: 0,
  summary:
    'List the devices that called while devices.remember was on, page by page; or only those without a call since a given time.',
  access: storeAdministrator('store-view'),
  query: 'ListSeenDevicesQuery',
  response: 'ListSeenDevicesResponse',

  async handle({ query, records, now }) {
    const size = pageSize(query);
    const place = placeOf(query, ['', '', ''] as const);
    const silentSince = timestamp(query['silent-since'] === undefined ? now() : new Date(query['silent-since']));
    const rows = await records.seenDevices.list(place, silentSince, size + 1);
    const { entries, next } = pageOf(rows, size, ({ brandId, model, serial }) => [brandId, model, serial]);
    return { devices: entries.map(presentSeenDevice), 'next-cursor': next };
  },
});
