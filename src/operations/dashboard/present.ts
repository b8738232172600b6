import type { DashboardRevision } from '#contract/wire.ts';
import type { Revision } from '#records/revisions/revisions.ts';

/** A revision of a snap with exactly the members that the older publishing tools accept: they refuse all others. */
export const presentSnapRevision = ({ details, ...revision }: Revision): DashboardRevision => ({
  architectures: details.architectures ?? ['all'],
  base: details.base ?? null,
  'build-url': details.buildUrl ?? null,
  confinement: details.confinement ?? 'strict',
  'created-at': revision.createdAt,
  grade: details.grade ?? 'stable',
  revision: revision.revision,
  'sha3-384': revision.sha3_384,
  size: revision.size,
  status: revision.status,
  version: revision.version,
});
