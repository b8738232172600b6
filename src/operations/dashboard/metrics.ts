import { operation } from '#http/operation.ts';
import { snapsInBody } from '#access/snap-access.ts';

export const dashboardMetrics = operation({
  name: 'dashboard_metrics',
  method: 'POST',
  path: '/dev/api/snaps/metrics',
  since: 0,
  summary: 'Report each metric of a snap as without data, because the store does not collect these metrics.',
  access: snapsInBody('package-view-metrics'),
  errors: 'dashboard',
  body: 'DashboardMetricsRequest',
  response: 'DashboardMetricsResponse',
  refuses: ['resource-not-found'],

  async handle({ body, snapOfId }) {
    for (const id of new Set(body.filters.map((filter) => filter.snap_id))) await snapOfId(id);
    return {
      metrics: body.filters.map(({ snap_id, metric_name }) => ({
        status: 'NO DATA' as const,
        snap_id,
        metric_name,
        buckets: [],
        series: [],
      })),
    };
  },
});
