import { updateFleetDevices as act } from '#acts/fleets/fleets.ts';
import { gateErrorCodes } from '#acts/gate.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';

export const updateFleetDevices = operation({
  name: 'update_fleet_devices',
  method: 'POST',
  path: '/internal/v1/fleets/:fleet/devices',
  since: 0,
  summary: 'Add devices to a fleet, or remove devices from it.',
  access: storeAdministrator('store-manage'),
  body: 'FleetDevicesUpdate',
  response: 'FleetDevicesUpdated',
  refuses: ['conflict', ...gateErrorCodes],

  handle(call) {
    const { add = [], remove = [] } = call.body;
    return call.acts.do(act, caller(call), { fleet: call.params.fleet, add, remove });
  },
});
