// Access to libraries: public for public charms; for a private charm only its publisher and collaborators.
import { mayActOnPackage, visitor, type Access } from '#access/access-rules.ts';
import type { LibraryVersion } from '#records/libraries/charm-libraries.ts';

/** Admits every client; `sees` decides per version of a library. */
export const libraryReader: Access<{ sees(version: LibraryVersion): Promise<boolean> }> = {
  ...visitor('public'),
  async admit(request) {
    const { principal } = await visitor('public').admit(request);
    const { records } = request;
    return {
      async sees(version) {
        if (!version.private) return true;
        if (principal === undefined) return false;
        const subject = await records.packages.byId(version.packageId);
        if (subject === undefined) return false;
        return mayActOnPackage(principal, subject, 'package-view-revisions', records).catch(() => false);
      },
    };
  },
};
