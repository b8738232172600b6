import { account } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { grants } from '#domain/permission.ts';
import { reachesPackage } from '#domain/principal.ts';
import { then } from '#domain/soon.ts';
import { presentAccount } from '../present.ts';

export const packagePermissions = operation({
  name: 'package_permissions',
  method: 'POST',
  path: '/internal/v1/package-permissions',
  since: 16,
  summary: 'Tell a device gateway which snaps an account may fetch by revision.',
  access: account('packages'),
  body: 'PackagePermissionsRequest',
  response: 'PackagePermissionsResponse',
  enabledBy: 'internal.package_permissions',
  repeatable: 'snapsFor',

  handle({ principal, body, records }) {
    const ids = [...new Set(body.filters.map(({ id }) => id))];
    const administers = principal.storeAdministrator && grants(principal.permissions, 'store-view');
    return then(records.packages.snapsFor(ids, principal.accountId), (found) => ({
      account: presentAccount({ ...principal, id: principal.accountId }),
      packages: found
        .filter((snap) => snap !== undefined)
        .map((snap) => ({ ...snap, has: administers || snap.publishes === 1 || snap.collaborates === 1 }))
        .filter((snap) => (snap.has || snap.private === 0) && reachesPackage(principal, snap))
        .map(({ id, has }) => ({ type: 'snap' as const, id, 'allowed-by-revision': has })),
    }));
  },
});
