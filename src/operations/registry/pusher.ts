// Who pushes to a repository, for the audit log.
import type { By } from '#acts/act.ts';
import type { ImageCredential } from '#records/image-credentials.ts';

/** The account on whose behalf its credentials were made. */
export const pusher = ({ accountId }: Pick<ImageCredential, 'accountId'>, requestId: string): By => ({
  actor: accountId ?? 'anyone',
  requestId,
});
