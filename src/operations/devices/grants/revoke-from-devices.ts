import { revokeFromDevices as act } from '#acts/devices/grants.ts';
import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';
import { readGrantedDevices } from './present.ts';

export const revokeFromDevices = operation({
  name: 'revoke_from_devices',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/device-grants/revoke',
  since: 0,
  summary:
    'Revoke a device grant of a private snap, given by the same values. The next call of the device no longer finds the snap.',
  access: storeAdministratorOnPackage('store-manage'),
  body: 'GrantedDevices',
  status: 204,

  async handle(call) {
    const { package: subject, body, acts } = call;
    await acts.do(act, caller(call), { package: subject, devices: readGrantedDevices(body) });
    return undefined;
  },
});
