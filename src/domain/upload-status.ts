// The states of an upload's review and of a revision.

/** `new` awaits review, `scanned` awaits a person, the other two are final. */
export const uploadStatuses = ['new', 'scanned', 'approved', 'rejected'] as const;
export type UploadStatus = (typeof uploadStatuses)[number];

/** `released` once it has been in a channel, and `rejected` for as long as it is withdrawn. */
export type RevisionStatus = 'approved' | 'released' | 'rejected';
