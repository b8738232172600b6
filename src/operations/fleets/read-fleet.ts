import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { readFleetInFull } from './present.ts';

export const readFleet = operation({
  name: 'read_fleet',
  method: 'GET',
  path: '/internal/v1/fleets/:fleet',
  since: 0,
  summary: 'Get a fleet with everything that it changes for its devices.',
  access: storeAdministrator('store-view'),
  response: 'FleetResponse',

  handle: ({ params, records }) => readFleetInFull(records, params.fleet),
});
