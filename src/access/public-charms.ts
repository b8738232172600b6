// The public charms: juju does not identify the caller, so it gets public charms only.
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { anyone, type Access } from './access-rules.ts';

/** Finds charms and bundles; private ones, and those without a release, do not exist here. */
export interface PublicCharms {
  findByName(name: string): Promise<PublishedPackage | undefined>;
  findById(id: string): Promise<PublishedPackage | undefined>;
}

export const publicCharms: Access<{ charms: PublicCharms }> = {
  ...anyone,
  admit: ({ records }) => ({ charms: charmsIn(records) }),
};

function charmsIn({ packages }: Pick<StoreRecords, 'packages'>): PublicCharms {
  const onlyPublic = (charm: PublishedPackage | undefined): PublishedPackage | undefined =>
    charm !== undefined && isPublic(charm) ? charm : undefined;
  return {
    findByName: async (name) => onlyPublic(await packages.find('charm', name)),
    findById: async (id) => onlyPublic(await packages.forDevices(id)),
  };
}

const isPublic = ({ namespace, status, private: isPrivate }: PublishedPackage): boolean =>
  namespace === 'charm' && status === 'published' && !isPrivate;
