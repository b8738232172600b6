// Issues the tokens of the store, and finds the account behind a token.
import { days } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import { createBrowserSessions, type BrowserSessions } from './browser-sessions.ts';
import { createChecking, type Checking } from './checking.ts';
import { createIssuing, type Issuing, type IssuingOptions } from './issuing.ts';
import { createRotating, type Rotating } from './rotating.ts';
import { createSessions } from './sessions.ts';
import { createUses, type Uses } from './uses.ts';

export type { Browsing } from './browser-sessions.ts';
export type { Login } from './login.ts';
export type { LoginRequest } from './issuing.ts';

export interface AuthorityOptions extends Omit<IssuingOptions, 'sessions'> {
  records: Records;
  /** Whether the current configuration requires one-time passwords of administrators. */
  requiresTotp: () => boolean;
}

export interface Authority extends Issuing, Checking, Rotating, Uses {
  /** The sessions of browsers that are logged in to the console. */
  browsers: BrowserSessions;
  /** The configured maximum lifetime of a token in milliseconds. */
  longestLife(): number;
  /** The latest time ever seen: setting the clock back does not make an expired token valid. */
  latestTime(): Date;
}

/** The maximum lifetime of a token, regardless of the configuration. */
export const longestLife = days(365);
/**
 * The error message for a requested lifetime in seconds that exceeds the maximum of `most` milliseconds; undefined if
 * it is valid.
 */
export const ttlProblem = (ttl: number | undefined, most: number): string | undefined =>
  ttl === undefined || ttl * 1000 <= most
    ? undefined
    : `A token of this store lasts at most ${most / 1000} seconds, which is ${most / days(1)} days, not ${ttl}`;

export function createAuthority(options: AuthorityOptions): Authority {
  const { latestTime, longestLife } = options;
  const sessions = createSessions(options);
  return {
    ...createIssuing({ ...options, sessions }),
    ...createChecking({ ...options, sessions }),
    ...createRotating(options),
    ...createUses(options),
    browsers: createBrowserSessions({ ...options, sessions }),
    longestLife,
    latestTime: () => latestTime.now(),
  };
}
