import { gateErrorCodes } from '#acts/gate.ts';
import { pushReleases } from '#acts/releases/releases.ts';
import { operation } from '#http/operation.ts';
import { onSnapOfId } from '#access/snap-access.ts';
import { everyDevice } from '#domain/releases/channel-map.ts';
import { caller } from '../caller.ts';
import { readChannel, refuseOutOfReach } from '../releases/channels.ts';
import { channelMapTree } from './channel-map-tree.ts';

export const dashboardClose = operation({
  name: 'dashboard_close',
  method: 'POST',
  path: '/dev/api/snaps/:snap_id/close',
  since: 0,
  summary: 'Close channels of a snap, for the older publishing tools.',
  access: onSnapOfId(['package-manage-releases']),
  errors: 'dashboard',
  body: 'DashboardCloseRequest',
  response: 'DashboardCloseResponse',
  refuses: gateErrorCodes,

  async handle(call) {
    const { principal, package: subject, body, acts } = call;
    const releases = body.channels.map((channel) => ({
      channel: readChannel(channel),
      revision: null,
      progressive: everyDevice,
      resources: [],
    }));
    for (const { channel } of releases) refuseOutOfReach(principal, channel);
    const closed = await acts.do(pushReleases, caller(call), { package: subject, releases });
    return {
      success: true,
      closed_channels: closed.map(({ channel }) => channel),
      channel_map_tree: await channelMapTree(subject, call),
    };
  },
});
