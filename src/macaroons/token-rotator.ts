// Rotates a token: issues a new one with the same restrictions; both are valid for a grace period.
import type { Acts, Actor } from '#acts/act.ts';
import { rotateToken } from '#acts/tokens/tokens.ts';
import { after, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import { sessionCaveats } from './caveats.ts';
import { newTerms, tokenFor, type TokenIssuerOptions, type IssuedToken } from './token-issuer.ts';

export interface RotatedToken extends IssuedToken {
  accountId: string;
  /** When the old token expires: RFC 3339. */
  endsAt: string;
}

export interface TokenRotator {
  /**
   * Issues a token that replaces the token of a session, and keeps the date of its expiry. The old token expires after
   * `overlap` milliseconds, or at that date if it is earlier.
   */
  rotate(sessionId: string, overlap: number, actor: Actor): Promise<RotatedToken>;
}

export interface TokenRotatorOptions extends Omit<TokenIssuerOptions, 'sessions'> {
  records: Pick<StoreRecords, 'macaroons'>;
  acts: Acts;
}

export function createTokenRotator(options: TokenRotatorOptions): TokenRotator {
  const { records, acts, rootKeys, latestTime, location } = options;
  return {
    async rotate(sessionId, overlap, actor) {
      const old = await records.macaroons.find(sessionId);
      if (old === undefined) throw noSuchToken(sessionId);
      if (old.conditions === null) {
        throw new Refusal(
          'conflict',
          `The limits of the token of the session ${sessionId} are not known, because an earlier release issued it. ` +
            "Issue a new token with 'larder token issue', and revoke this one.",
        );
      }
      const root = await rootKeys.current();
      const ttl = (Date.parse(old.validUntil) - Date.parse(old.validSince)) / 1000;
      const terms = newTerms({ ttl }, options);
      const endsAt = [old.validUntil, timestamp(after(latestTime.now(), overlap))].sort()[0]!;
      const session = {
        sessionId: terms.id,
        accountId: old.accountId,
        rootKeyId: root.id,
        description: old.description,
        validSince: terms.since,
        validUntil: terms.until,
        conditions: old.conditions,
        provenBy: 'host' as const,
      };
      await acts.do(rotateToken, actor, { sessionId, session, moment: terms.since, endsAt });
      const caveats = [...sessionCaveats(terms), ...(JSON.parse(old.conditions) as string[])];
      const token = tokenFor(root, { version: '2', caveats, location: location() });
      return { token, sessionId: terms.id, validUntil: terms.until, accountId: old.accountId, endsAt };
    },
  };
}

const noSuchToken = (sessionId: string): Refusal =>
  new Refusal(
    'resource-not-found',
    `There is no token with the session '${sessionId}'. List the tokens with 'larder token list'.`,
  );
