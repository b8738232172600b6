import { setFleetChannel as act } from '#acts/fleets/fleet-channels.ts';
import { gateErrorCodes } from '#acts/gate.ts';
import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { presentSetting, readChannelMode, readFleetChannel } from './present.ts';

export const setFleetChannel = operation({
  name: 'set_fleet_channel',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/fleets/:fleet/channel',
  since: 0,
  summary: 'Set the revision that a channel of a snap gives to the devices of a fleet.',
  access: storeAdministratorOnPackage('store-manage'),
  body: 'FleetChannelUpdate',
  response: 'FleetChannelUpdated',
  refuses: ['conflict', ...gateErrorCodes],

  async handle(call) {
    const { package: subject, body, params, acts } = call;
    const [channel, setting] = [readFleetChannel(body.channel), readChannelMode(body)];
    const settings = await acts.do(act, caller(call), { fleet: params.fleet, package: subject, channel, setting });
    return { channels: settings.map((each) => presentSetting(each, `${subject.namespace}/${subject.name}`)) };
  },
});
