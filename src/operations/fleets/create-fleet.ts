import { createFleet as act } from '#acts/fleets/fleets.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { presentFleet } from './present.ts';

export const createFleet = operation({
  name: 'create_fleet',
  method: 'POST',
  path: '/internal/v1/fleets',
  since: 0,
  summary: 'Create a fleet: a name for devices by their serials, models, brands or stores.',
  access: storeAdministrator('store-manage'),
  body: 'FleetCreation',
  response: 'FleetSummary',
  status: 201,
  refuses: ['conflict'],

  async handle(call) {
    const { name: fleet, kind, devices = [] } = call.body;
    return presentFleet(await call.acts.do(act, caller(call), { fleet, kind, selectors: devices }));
  },
});
