// A charm's libraries are for everybody, those of a private charm for its publisher and collaborators.
import { partIn } from '#api/access.ts';
import type { Principal } from '#domain/principal.ts';
import type { LibraryVersion } from '#records/charm-libraries.ts';
import type { Records } from '#records/index.ts';

export async function isVisible(
  version: LibraryVersion,
  principal: Principal | undefined,
  records: Records,
): Promise<boolean> {
  if (!version.private) return true;
  const subject = principal && (await records.packages.byId(version.packageId));
  return (
    subject !== undefined &&
    (await partIn(principal as Principal, subject, 'package-view-revisions', records).catch(() => false))
  );
}
