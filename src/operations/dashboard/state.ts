import { operation } from '#http/operation.ts';
import { onSnapOfId, viewsReleases } from '#access/snap-access.ts';
import { Refusal } from '#domain/refusal.ts';
import { channelMapTree } from './channel-map-tree.ts';

export const dashboardState = operation({
  name: 'dashboard_state',
  method: 'GET',
  path: '/dev/api/snaps/:snap_id/state',
  since: 0,
  summary: 'Get the revision in each channel of a snap for each architecture, for the older publishing tools.',
  access: onSnapOfId(viewsReleases),
  errors: 'dashboard',
  query: 'DashboardStateQuery',
  response: 'DashboardStateResponse',

  async handle({ package: subject, records, now }) {
    // For an empty tree the tools report success although nothing was done.
    if ((await records.revisions.newest(subject.id)) === 0) {
      throw new Refusal('resource-not-found', `'${subject.name}' has no revisions yet. Upload one first.`);
    }
    return { channel_map_tree: await channelMapTree(subject, { records, now }) };
  },
});
