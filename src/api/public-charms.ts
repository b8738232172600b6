// The charms that anybody may have: juju says nothing of who asks, so it reaches those alone.
import { then, type Soon } from '#domain/soon.ts';
import type { Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import { anyone, type Access } from './access.ts';

/** The way to charms and bundles; the private ones, and those of which nothing was released, are not there. */
export interface PublicCharms {
  named(name: string): Promise<PublishedPackage | undefined>;
  ofId(id: string): Soon<PublishedPackage | undefined>;
  /** Those that hold a text, and are of a type and a publisher where that is said; the one of this very name first. */
  holding(text: string, of: { type?: string | undefined; publisher?: string | undefined }): Promise<PublishedPackage[]>;
}

/** How many are found at once. */
export const mostFound = 500;

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
    async holding(text, of) {
      const wanted = text.toLowerCase();
      const found = await packages.searchPublic('charm', { text: wanted, ...of }, mostFound);
      const distance = ({ name }: PublishedPackage): number => (name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2);
      return found.sort((a, b) => distance(a) - distance(b));
    },
  };
}

const isPublic = ({ namespace, status, private: isPrivate }: PublishedPackage): boolean =>
  namespace === 'charm' && status === 'published' && !isPrivate;
