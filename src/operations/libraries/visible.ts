// A charm's libraries are for everybody, those of a private charm for its publisher and collaborators.
import { partIn, visitor, type Access } from '#api/access.ts';
import type { LibraryVersion } from '#records/charm-libraries.ts';

/** Anybody; the rule says which versions of libraries he may see. */
export const libraryReader: Access<{ sees(version: LibraryVersion): Promise<boolean> }> = {
  ...visitor('public'),
  async admit(asked) {
    const { principal } = await visitor('public').admit(asked);
    const { records } = asked;
    return {
      async sees(version) {
        if (!version.private) return true;
        if (principal === undefined) return false;
        const subject = await records.packages.byId(version.packageId);
        if (subject === undefined) return false;
        return partIn(principal, subject, 'package-view-revisions', records).catch(() => false);
      },
    };
  },
};
