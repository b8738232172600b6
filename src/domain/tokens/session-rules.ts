// When the sessions of the console end by rule.
import { hours, minutes } from '../clock.ts';

export interface SessionRules {
  /** Milliseconds without a request after which a session ends. */
  idleMs: number;
  /** Milliseconds after which a session ends in any case. */
  maxAgeMs: number;
  /** The maximum number of sessions of an account; undefined for no limit. */
  maxPerAccount: number | undefined;
}

/** The section `sessions` of the configuration, as far as it ends sessions. */
interface ConfiguredSessionRules {
  readonly idle_minutes: number;
  readonly max_hours: number;
  readonly max_per_account?: number;
}

export const readSessionRules = (sessions: ConfiguredSessionRules): SessionRules => ({
  idleMs: minutes(sessions.idle_minutes),
  maxAgeMs: hours(sessions.max_hours),
  maxPerAccount: sessions.max_per_account,
});

/** A session that has not ended, with the times of its login and of its last request, RFC 3339. */
export interface OpenSession {
  sessionId: string;
  accountId: string;
  begunAt: string;
  usedAt: string;
}

export type SessionEndReason = 'idle' | 'age' | 'number';

/** The time of a request is recorded to the minute, and a little later. The session itself ends in time. */
const recordingDelayMs = minutes(2);

/** Returns the sessions that the rules end now, each with the reason. Of too many sessions of an account, the longest unused ones end. */
export function findSessionsToEnd(
  sessions: readonly OpenSession[],
  { idleMs, maxAgeMs, maxPerAccount = Infinity }: SessionRules,
  now: Date,
): { sessionId: string; reason: SessionEndReason }[] {
  const countOf = new Map<string, number>();
  const newestFirst = sessions.toSorted((session, other) => (session.usedAt > other.usedAt ? -1 : 1));
  return newestFirst.flatMap(
    ({ sessionId, accountId, begunAt, usedAt }): { sessionId: string; reason: SessionEndReason }[] => {
      const passed = (since: string): number => now.getTime() - Date.parse(since);
      if (passed(begunAt) >= maxAgeMs) return [{ sessionId, reason: 'age' }];
      if (passed(usedAt) >= idleMs + recordingDelayMs) return [{ sessionId, reason: 'idle' }];
      const count = (countOf.get(accountId) ?? 0) + 1;
      countOf.set(accountId, count);
      return count > maxPerAccount ? [{ sessionId, reason: 'number' }] : [];
    },
  );
}
