import type { ReviewError, Revision as RevisionShape, UploadReview } from '#contract/wire.ts';
import type { PackageNamespace } from '#domain/packages/namespace.ts';
import type { Revision } from '#records/revisions/revisions.ts';
import type { Review } from '#records/uploads/uploads.ts';

/** A revision with all members of its namespace, and the commit that it was built from if known. */
export function presentRevision(revision: Revision, namespace: PackageNamespace, commit?: string): RevisionShape {
  const { details } = revision;
  const common = {
    'created-at': revision.createdAt,
    revision: revision.revision,
    status: revision.status,
    ...(commit !== undefined && { craft: { commit } }),
  };
  const content = { 'sha3-384': revision.sha3_384, size: revision.size, version: revision.version };
  const author = { 'created-by': revision.createdBy };
  switch (namespace) {
    case 'snap':
      return {
        ...common,
        ...content,
        ...author,
        apps: details.apps ?? [],
        architectures: details.architectures ?? ['all'],
        base: details.base ?? null,
        'build-url': details.buildUrl ?? null,
        confinement: details.confinement ?? 'strict',
        grade: details.grade ?? 'stable',
        type: details.type ?? 'app',
      };
    case 'charm':
      return { ...common, ...content, bases: details.bases ?? [], errors: errorsOf(revision) };
    case 'rock':
      return { ...common, ...author, sha256: revision.sha256 };
    case 'bin':
      return { ...common, ...content, ...author };
    case 'sdk':
    case 'source':
      return { ...common, ...content, ...author, bases: details.bases ?? [] };
  }
}

/** The `errors` of a charm revision: the reason if it was withdrawn, else null. */
const errorsOf = ({ withdrawnBecause }: Revision): ReviewError[] | null =>
  withdrawnBecause === null ? null : [{ code: 'withdrawn', message: withdrawnBecause }];

/** The members that list_revisions sends for a snap by default: the official client refuses all others. */
export const slimSnapFields =
  'architectures,base,build-url,confinement,created-at,grade,revision,sha3-384,size,status,version';

export const presentReview = (review: Review): UploadReview => ({
  errors: review.errors,
  revision: review.revision,
  status: review.status,
  'upload-id': review.id,
});

/** A path without host and prefix; clients add their own. */
export const statusUrl = ({ namespace, name }: { namespace: string; name: string }, uploadId: string): string =>
  `/v1/${namespace}/${name}/revisions/review?upload-id=${encodeURIComponent(uploadId)}`;
