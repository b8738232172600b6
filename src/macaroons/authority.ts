// The authority: issues the store's tokens, and says whom a token stands for.
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
  /** Whether the store asks its administrators for one-time passwords, as it is configured now. */
  requiresTotp: () => boolean;
}

export interface Authority extends Issuing, Checking, Rotating, Uses {
  /** What people have in their browsers who logged in to the console. */
  browsers: BrowserSessions;
  /** Milliseconds that a token lasts at most, as the store is configured. */
  longestLife(): number;
  /** The latest time that was ever seen: a clock that is set back brings no token to life. */
  latestTime(): Date;
}

/** No token lasts longer, however the store is configured. */
export const longestLife = days(365);
/** What is wrong with a length in seconds that is asked for a token, where tokens last so many milliseconds at most. */
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
