import { account } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import type { AccessType } from '#contract/wire.ts';
import type { PackageNamespace, PackageType } from '#domain/packages/namespace.ts';
import { grants } from '#domain/tokens/permission.ts';
import { inCommon, reachesPackage, shownChannels } from '#domain/tokens/principal.ts';
import { presentPrincipal } from '../present.ts';

export const packageAccess = operation({
  name: 'package_access',
  method: 'POST',
  path: '/v1/auth/package-access',
  since: 42,
  summary: 'Get the account of the token and its role for these packages.',
  access: account('packages'),
  body: 'PackageAccessRequest',
  response: 'PackageAccessResponse',
  unstable: true,

  async handle({ principal, body, records }) {
    const filtersByName = new Map(
      body.filters.map((filter) => [`${filter.type}/${filter.name}`, { ...filter, ...meanings[filter.type] }]),
    );
    const names = [...filtersByName.values()].map(({ namespace, name }) => ({ namespace, name }));
    const packagesByName = new Map(
      (await records.packages.findByNames(names, principal.accountId)).map((row) => [
        `${row.namespace}/${row.name}`,
        row,
      ]),
    );
    const administers = principal.storeAdministrator && grants(principal.permissions, 'store-manage');
    return {
      authentication: {
        account: presentPrincipal(principal),
        channels: shownChannels(principal),
        packages: inCommon(principal.packages),
        permissions: principal.permissions,
      },
      authorization: {
        packages: [...filtersByName.values()].flatMap(({ type, namespace, name, packageType }) => {
          const subject = packagesByName.get(`${namespace}/${name}`);
          if (subject?.type !== packageType || !reachesPackage(principal, subject)) return [];
          const publishes = subject.publishes === 1 || administers;
          if (!publishes && subject.collaborates === 0) return [];
          const part = publishes ? ('publisher' as const) : ('package-collaborator' as const);
          return [{ type, id: subject.id, name: subject.name, permissions: [part], 'source-workflow': {} }];
        }),
      },
    };
  },
});

/** Maps the package types of this operation to namespace and type in the store. */
const meanings: Record<AccessType, { namespace: PackageNamespace; packageType: PackageType }> = {
  bin: { namespace: 'bin', packageType: 'bin' },
  charm: { namespace: 'charm', packageType: 'charm' },
  'charm-bundle': { namespace: 'charm', packageType: 'bundle' },
  rock: { namespace: 'rock', packageType: 'rock' },
  rockcraft: { namespace: 'source', packageType: 'rockcraft' },
  snap: { namespace: 'snap', packageType: 'snap' },
  snapcraft: { namespace: 'source', packageType: 'snapcraft' },
  sourcecraft: { namespace: 'source', packageType: 'sourcecraft' },
};
