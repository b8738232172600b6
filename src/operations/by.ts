// Who does something, for the audit log.
import type { Principal } from '#domain/principal.ts';

/** The part of an audit entry that a call knows of itself. */
export const by = (
  { principal, requestId }: { principal: Principal; requestId: string },
  action: string,
): { actor: string; sessionId: string; requestId: string; action: string } => ({
  actor: principal.accountId,
  sessionId: principal.sessionId,
  requestId,
  action,
});
