// The public charms: juju does not identify the caller, so it gets public charms only.
import { then, type Soon } from '#domain/soon.ts';
import type { Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import { anyone, type Access } from './access.ts';

/** Finds charms and bundles; private ones, and those without a release, do not exist here. */
export interface PublicCharms {
  named(name: string): Promise<PublishedPackage | undefined>;
  ofId(id: string): Soon<PublishedPackage | undefined>;
}

export const publicCharms: Access<{ charms: PublicCharms }> = {
  ...anyone,
  admit: ({ records }) => ({ charms: charmsIn(records) }),
};

function charmsIn({ packages }: Pick<Records, 'packages'>): PublicCharms {
  const shown = (found: PublishedPackage | undefined): PublishedPackage | undefined =>
    found !== undefined && isPublic(found) ? found : undefined;
  return {
    named: async (name) => shown(await packages.find('charm', name)),
    ofId: (id) => then(packages.forDevices(id), shown),
  };
}

const isPublic = ({ namespace, status, private: isPrivate }: PublishedPackage): boolean =>
  namespace === 'charm' && status === 'published' && !isPrivate;
