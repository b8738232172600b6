import { gateErrorCodes } from '#acts/gate.ts';
import { pushReleases } from '#acts/releases/releases.ts';
import { operation } from '#http/operation.ts';
import { snapsInBody } from '#access/snap-access.ts';
import { readProgress } from '#domain/releases/channel-map.ts';
import { caller } from '../caller.ts';
import { readChannel, refuseOutOfReach } from '../releases/channels.ts';
import { readStatedRollout } from '../releases/release-request.ts';
import { channelMapTree } from './channel-map-tree.ts';

export const dashboardSnapRelease = operation({
  name: 'dashboard_snap_release',
  method: 'POST',
  path: '/dev/api/snap-release/',
  since: 0,
  summary: 'Release a revision of a snap to channels, all or none, for the older publishing tools.',
  access: snapsInBody('package-manage-releases'),
  errors: 'dashboard',
  body: 'DashboardSnapReleaseRequest',
  response: 'DashboardSnapReleaseResponse',
  refuses: ['conflict', 'resource-not-found', ...gateErrorCodes],

  async handle(call) {
    const { principal, snapNamed, body, acts } = call;
    const subject = await snapNamed(body.name);
    const progressive = readProgress(body.progressive ?? undefined);
    const releases = body.channels.map((channel) => ({
      channel: readChannel(channel),
      revision: Number(body.revision),
      progressive,
      rollout: readStatedRollout(body.progressive ?? undefined, undefined),
      resources: [],
    }));
    for (const { channel } of releases) refuseOutOfReach(principal, channel);
    const released = await acts.do(pushReleases, caller(call), { package: subject, releases });
    return {
      success: true,
      opened_channels: released.map(({ channel }) => channel),
      channel_map_tree: await channelMapTree(subject, call),
    };
  },
});
