// Issues the tokens of the store, and finds the account behind a token.
import { days } from '#domain/clock.ts';
import type { SessionRules } from '#domain/tokens/session-rules.ts';
import type { StoreRecords } from '#records/index.ts';
import { createBrowserSessions, type BrowserSessions } from './browser-sessions.ts';
import { createTokenChecker, type TokenChecker } from './token-checker.ts';
import { createTokenIssuer, type TokenIssuer, type TokenIssuerOptions } from './token-issuer.ts';
import { createTokenRotator, type TokenRotator } from './token-rotator.ts';
import { createSessions } from './sessions.ts';
import { createUses, type TokenUses } from './token-uses.ts';

export type { LoggedInBrowser as Browsing } from './browser-sessions.ts';
export type { DischargedLogin as Login } from './login.ts';
export type { LoginRequest } from './token-issuer.ts';

export interface AuthorityOptions extends Omit<TokenIssuerOptions, 'sessions'> {
  records: StoreRecords;
  /** Whether the current configuration requires one-time passwords of administrators. */
  requiresTotp: () => boolean;
  /** The roles that require a login with a client certificate. */
  certificateRoles: () => readonly string[];
  /** The current rules for sessions of the console. */
  sessionRules: () => SessionRules;
}

export interface Authority extends TokenIssuer, TokenChecker, TokenRotator, TokenUses {
  /** The sessions of browsers that are logged in to the console. */
  browsers: BrowserSessions;
  /** The configured maximum lifetime of a token in milliseconds. */
  longestLife(): number;
  /** The latest time ever seen: setting the clock back does not make an expired token valid. */
  latestTime(): Date;
}

/** The maximum lifetime of a token, regardless of the configuration. */
export const maxTokenLifetimeMs = days(365);
/**
 * The error message for a requested lifetime in seconds that exceeds the maximum of `most` milliseconds; undefined if
 * it is valid.
 */
export const ttlProblem = (ttl: number | undefined, maxLifetimeMs: number): string | undefined =>
  ttl === undefined || ttl * 1000 <= maxLifetimeMs
    ? undefined
    : `A token of this store lasts at most ${maxLifetimeMs / 1000} seconds, which is ${maxLifetimeMs / days(1)} days, not ${ttl}`;

export function createAuthority(options: AuthorityOptions): Authority {
  const { latestTime, longestLife } = options;
  const sessions = createSessions(options);
  return {
    ...createTokenIssuer({ ...options, sessions }),
    ...createTokenChecker({ ...options, sessions }),
    ...createTokenRotator(options),
    ...createUses(options),
    browsers: createBrowserSessions({ ...options, sessions }),
    longestLife,
    latestTime: () => latestTime.now(),
  };
}
