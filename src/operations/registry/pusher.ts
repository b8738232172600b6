// Names the account behind a push, for the audit log.
import type { Actor } from '#acts/act.ts';
import type { ImageCredential } from '#records/images/image-credentials.ts';

/** The account that the credentials were made for. */
export const pusher = ({ accountId }: Pick<ImageCredential, 'accountId'>, requestId: string): Actor => ({
  actor: accountId ?? 'anyone',
  requestId,
});
