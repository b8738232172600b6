import { operation } from '#http/operation.ts';
import { onSnapOfId, viewsReleases } from '#access/snap-access.ts';
import { Refusal } from '#domain/refusal.ts';
import { channelMapTree } from './channel-map-tree.ts';

export const dashboardState = operation({
  name: 'dashboard_state',
  method: 'GET',
  path: '/dev/api/snaps/:snap_id/state',
  since: 0,
  summary: 'Say what each channel of a snap holds for each architecture, as the older publishing tools ask for it.',
  access: onSnapOfId(viewsReleases),
  errors: 'dashboard',
  query: 'DashboardStateQuery',
  response: 'DashboardStateResponse',

  async handle({ package: subject, records, now }) {
    // For an empty tree the tools report success although nothing was done.
    if ((await records.revisions.newest(subject.id)) === 0) {
      throw new Refusal('resource-not-found', `'${subject.name}' has no revisions yet; upload one first.`);
    }
    return { channel_map_tree: await channelMapTree(subject, { records, now }) };
  },
});
