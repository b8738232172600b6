// Presents old revisions, for a preview of their deletion.
import type { OldRevisions } from '#acts/revisions/old-revisions.ts';
import type { DeleteRevisionsResponse } from '#contract/wire.ts';

export const presentOldRevisions = ({
  revisions,
  bytes,
  more,
}: OldRevisions): Omit<DeleteRevisionsResponse, 'deleted'> => ({
  revisions: revisions.map(({ revision, version, size, createdAt }) => ({
    revision,
    version,
    size,
    'created-at': createdAt,
  })),
  bytes,
  more,
});
