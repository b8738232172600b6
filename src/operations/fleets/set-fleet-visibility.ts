import { setFleetVisibility as act } from '#acts/fleets/fleet-channels.ts';
import { gateErrorCodes } from '#acts/gate.ts';
import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';

export const setFleetVisibility = operation({
  name: 'set_fleet_visibility',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/fleets/:fleet/visibility',
  since: 0,
  summary: 'Hide a snap from the devices of a fleet, or show it again.',
  access: storeAdministratorOnPackage('store-manage'),
  body: 'FleetVisibilityUpdate',
  status: 204,
  refuses: ['conflict', ...gateErrorCodes],

  async handle(call) {
    const { package: subject, body, params, acts } = call;
    await acts.do(act, caller(call), { fleet: params.fleet, package: subject, hidden: body.hidden });
    return undefined;
  },
});
