// Names the actor of a change, for the audit log.
import type { Actor } from '#acts/act.ts';
import type { Principal } from '#domain/tokens/principal.ts';

interface Caller {
  principal: Principal;
  requestId: string;
}

/** The actor, session and request of a call. */
export const caller = ({ principal, requestId }: Caller): Actor & { sessionId: string; requestId: string } => ({
  actor: principal.accountId,
  sessionId: principal.sessionId,
  requestId,
});
