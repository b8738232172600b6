import { grantToDevices as act } from '#acts/devices/grants.ts';
import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';
import { readGrantedDevices, presentGrant } from './present.ts';

export const grantToDevices = operation({
  name: 'grant_to_devices',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/device-grants',
  since: 0,
  summary: 'Grant a private snap to the devices of a brand, of one of its models, or to a single device.',
  access: storeAdministratorOnPackage('store-manage'),
  body: 'GrantedDevices',
  response: 'DeviceGrant',
  status: 201,
  refuses: ['conflict'],

  async handle(call) {
    const { package: subject, body, acts } = call;
    return presentGrant(await acts.do(act, caller(call), { package: subject, devices: readGrantedDevices(body) }));
  },
});
