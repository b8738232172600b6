// The states of an upload's review and of a revision.

/** `new` waits for the review, `scanned` waits for a person; the other two are final. */
export const uploadStatuses = ['new', 'scanned', 'approved', 'rejected'] as const;
export type UploadStatus = (typeof uploadStatuses)[number];

/** `released` after its first release, and `rejected` while it is withdrawn. */
export type RevisionStatus = 'approved' | 'released' | 'rejected';
