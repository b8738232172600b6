import { setFleetWindow as act } from '#acts/fleets/fleets.ts';
import { gateErrorCodes } from '#acts/gate.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';

export const setFleetWindow = operation({
  name: 'set_fleet_window',
  method: 'POST',
  path: '/internal/v1/fleets/:fleet/window',
  since: 0,
  summary:
    'Set or remove the refresh window of a fleet. Outside of it only devices that refresh by hand or install get new revisions.',
  access: storeAdministrator('store-manage'),
  body: 'FleetWindowUpdate',
  response: 'FleetWindowUpdated',
  refuses: ['conflict', ...gateErrorCodes],

  async handle(call) {
    const { body, params, acts } = call;
    return { window: await acts.do(act, caller(call), { fleet: params.fleet, window: body.window }) };
  },
});
