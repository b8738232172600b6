import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { parseDays, readPackageDays } from './usage.ts';

export const readPackageUsage = operation({
  name: 'read_package_usage',
  method: 'GET',
  path: '/internal/v1/packages/:namespace/:name/usage',
  since: 0,
  summary: 'Get the use of a package on each of the last days: downloads, calling devices and refreshes.',
  access: onPackage('package-view-metrics'),
  query: 'UsageQuery',
  response: 'PackageUsageResponse',

  handle: ({ package: { id }, query, records, config, now }) =>
    readPackageDays(id, { records, remembered: config.devices.remember, now: now(), days: parseDays(query) }),
});
