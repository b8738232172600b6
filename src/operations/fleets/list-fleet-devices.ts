import { requireFleet } from '#acts/fleets/fleets.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { selectorText } from '#domain/fleets/fleet.ts';
import { operation } from '#http/operation.ts';
import { pageOf, pageSize, placeOf } from '../page.ts';

export const listFleetDevices = operation({
  name: 'list_fleet_devices',
  method: 'GET',
  path: '/internal/v1/fleets/:fleet/devices',
  since: 0,
  summary: 'List the serials, models, brands or stores that a fleet selects, page by page.',
  access: storeAdministrator('store-view'),
  query: 'PageQuery',
  response: 'ListFleetDevicesResponse',

  async handle({ params: { fleet }, query, records }) {
    await requireFleet(records, fleet);
    const size = pageSize(query);
    const [after] = placeOf(query, [''] as const);
    const selectors = await records.fleets.selectors(fleet, after, size + 1);
    const { entries, next } = pageOf(selectors, size, (selector) => [selector]);
    return { devices: entries.map(selectorText), 'next-cursor': next };
  },
});
