import { account } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import type { PackagePermissionsResponse } from '#contract/wire.ts';
import { whenReady } from '#domain/maybe-promise.ts';
import { grants } from '#domain/tokens/permission.ts';
import { reachesPackage } from '#domain/tokens/principal.ts';
import { presentPrincipal } from '../present.ts';

export const packagePermissions = operation({
  name: 'package_permissions',
  method: 'POST',
  path: '/internal/v1/package-permissions',
  since: 16,
  summary: 'List the snaps that an account may download by revision, for a device gateway.',
  access: account('packages'),
  body: 'PackagePermissionsRequest',
  response: 'PackagePermissionsResponse',
  enabledBy: 'internal.package_permissions',
  repeatable: 'snapsFor',

  handle({ principal, body, records }) {
    const ids = new Set(body.filters.map(({ id }) => id));
    const administers = principal.storeAdministrator && grants(principal.permissions, 'store-view');
    // Cached snaps are not awaited: that would be a twentieth of the call.
    return whenReady(records.packages.snapsFor([...ids], principal.accountId), (snaps) => {
      // A loop without intermediate copies: copying takes a tenth of the call.
      const packages: PackagePermissionsResponse['packages'] = [];
      for (const snap of snaps) {
        if (snap === undefined) continue;
        const has = administers || snap.publishes === 1 || snap.collaborates === 1;
        if ((!has && snap.private === 1 && snap.granted === 0) || !reachesPackage(principal, snap)) continue;
        packages.push({ type: 'snap', id: snap.id, 'allowed-by-revision': has });
      }
      return { account: presentPrincipal(principal), packages };
    });
  },
});
