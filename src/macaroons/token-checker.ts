// Checks tokens and logins: finds their account, and whether they are valid now.
import { computeDigest } from '#domain/cryptography.ts';
import { BoundedMap } from '#domain/bounded-map.ts';
import { maxHostClockDifferenceMs, minutes } from '#domain/clock.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import type { Session } from '#records/tokens/macaroons.ts';
import { readTerms, type TokenTerms, type Version } from './caveats.ts';
import { conditionsOf, signatureMatches, verify, type DecodedMacaroon } from './codec/macaroon.ts';
import { readToken, readTokenList } from './codec/text.ts';
import { readIdentifier } from './identifier.ts';
import type { LatestTime } from './latest-time.ts';
import { readLogin, type Discharge, type DischargedLogin } from './login.ts';
import type { OpenedRootKey, RootKeys } from './root-keys.ts';
import type { Sessions } from './sessions.ts';

export interface TokenChecker {
  /** Verifies a login with its discharges, and that it is recent enough to be exchanged; refuses otherwise. */
  login(tokens: string[]): Promise<DischargedLogin>;
  /**
   * Returns the account behind a request's tokens: a single token, or a login with its discharges. Refuses if there are
   * none, or if any is unknown, expired, revoked or altered. The result is the same object for the same tokens while
   * the account and its session do not change. Passing the same array again saves computing its digest.
   */
  authenticate(tokens: string[]): MaybePromise<Principal>;
}

export interface TokenCheckerOptions {
  rootKeys: Pick<RootKeys, 'find'>;
  latestTime: LatestTime;
  sessions: Sessions;
}

/** How soon after a login it must be exchanged. */
const exchangeWindow = minutes(10);
const cachedTokens = 10_000;

export function createTokenChecker({ rootKeys, latestTime, sessions }: TokenCheckerOptions): TokenChecker {
  /** Verified tokens by digest, so that no token is kept in memory. */
  const verified = new BoundedMap<string, Verified>(cachedTokens);

  /** Verified tokens by array. Saves the SHA-256 if a connection passes the same array again. */
  const brought = new WeakMap<string[], Verified>();

  /** The result of verified tokens: cached, or verified now. */
  const proven = (tokens: string[]): MaybePromise<Verified> =>
    brought.get(tokens) ?? findVerified(tokens) ?? prove(tokens);

  const findVerified = (tokens: string[]): Verified | undefined => {
    const cached = verified.get(digestOf(tokens));
    if (cached !== undefined) brought.set(tokens, cached);
    return cached;
  };

  const prove = async (tokens: string[]): Promise<Verified> => {
    const token = await examine(tokens, rootKeys);
    if (token === undefined) throw new InvalidMacaroon();
    verified.set(digestOf(tokens), token);
    return token;
  };

  const sessionOf = (token: Verified): MaybePromise<Session> =>
    isLogin(token) ? sessions.ofLogin(token) : sessions.find(token.terms.sessionId, token.rootKeyId);

  return {
    async login(tokens) {
      if (tokens.length === 0) throw new Refusal('macaroon-authorization-required', 'discharge required');
      if (readTokens(tokens) === undefined) throw new Refusal('api-error', 'Invalid macaroon');
      const login = await examine(tokens, rootKeys);
      if (login === undefined || !isLogin(login) || !login.exchangeable) throw new InvalidMacaroon();
      const moment = latestTime.now().getTime();
      refuseExpired(login.terms, moment);
      const { since, until } = login.discharge;
      if (moment < since - maxHostClockDifferenceMs)
        throw new Refusal('macaroon-authorization-required', 'The discharge is not valid yet.');
      if (moment >= Math.min(until, since === -Infinity ? until : since + exchangeWindow)) {
        throw new Refusal('exchange-window-expired', 'Exchange window expired');
      }
      return login;
    },

    authenticate(tokens) {
      if (tokens.length === 0) throw new Refusal('macaroon-authorization-required', 'discharge required');
      return whenReady(proven(tokens), (token) => {
        const moment = latestTime.now().getTime();
        refuseExpired(token.terms, moment);
        if (token.discharge !== undefined) refuseExpiredDischarge(token.discharge, moment);
        return whenReady(sessionOf(token), (session) => {
          const principal = principalOf(token, session);
          // A token that was rotated expires earlier than its caveats say.
          const { issued, since } = token.terms;
          refuseExpired({ issued, since, until: principal.until }, moment);
          return principal;
        });
      });
    },
  };
}

/** The principal of a token in its session; cached while the session is the same. */
function principalOf(token: Verified, session: Session): Principal {
  if (token.lastUse?.session === session) return token.lastUse.principal;
  const { accountId, username, displayName, email, validation, storeAdministrator, replacedUntil } = session;
  const { permissions, channels, packages, sessionId, until } = token.terms;
  const principal = Object.freeze({
    accountId,
    username,
    displayName,
    email,
    validation,
    storeAdministrator: storeAdministrator === 1,
    until: Math.min(until, replacedUntil === null ? Infinity : Date.parse(replacedUntil)),
    sessionId,
    permissions,
    channels,
    packages,
  });
  token.lastUse = { session, principal };
  return principal;
}

/** Verifies tokens without regard to time and session; undefined if anything is invalid. */
async function examine(tokens: string[], rootKeys: Pick<RootKeys, 'find'>): Promise<Verified | undefined> {
  const [macaroon, ...discharges] = readTokens(tokens) ?? [];
  const identity = macaroon && readIdentifier(macaroon.identifier);
  const root = identity && (await rootKeys.find(identity.rootKeyId));
  if (macaroon === undefined || identity === undefined || root === undefined) return undefined;
  if (identity.kind === 'login') return readLogin(macaroon, root, discharges);
  const terms = readConditions(macaroon, identity.version, root, discharges);
  return terms && { terms, rootKeyId: root.id };
}

/** Thrown for a text that is not a token of this store, and for a login without its discharge. */
export class InvalidMacaroon extends Refusal {
  constructor() {
    super('macaroon-authorization-required', 'Invalid macaroon');
  }
}

/** A token with valid signatures, without regard to time and session. */
interface Verified {
  terms: TokenTerms;
  rootKeyId: string;
  /** Only for a login. */
  discharge?: Discharge;
  /** The principal of its last use. */
  lastUse?: { session: Session; principal: Principal };
}

const isLogin = (token: Verified): token is DischargedLogin => token.discharge !== undefined;

const digestOf = (tokens: string[]): string =>
  computeDigest('secret', tokens.length === 1 ? (tokens[0] as string) : JSON.stringify(tokens), 'base64');

const unknownCaveat = { met: false, reason: 'unknown caveat' } as const;

/** Reads the conditions of a token if its signature is valid. */
function readConditions(
  macaroon: DecodedMacaroon,
  version: Version,
  root: OpenedRootKey,
  discharges: DecodedMacaroon[],
): TokenTerms | undefined {
  if (discharges.length === 0) {
    const conditions = signatureMatches(macaroon, root.key) ? conditionsOf(macaroon) : undefined;
    return conditions && readTerms(conditions, version);
  }
  // The bearer may have added a third-party caveat; conditions in its discharge are not understood.
  const result = verify({
    macaroon,
    rootKey: root.key,
    discharges,
    check: (_condition, from) => (from === 'primary' ? { met: true } : unknownCaveat),
  });
  return result.verified
    ? readTerms(
        result.conditions.map(({ condition }) => condition),
        version,
      )
    : undefined;
}

/** The host that issued the token may have a clock ahead of this one. A later `time-since`, which a client added, is exact. */
function refuseExpired({ issued, since, until }: Pick<TokenTerms, 'issued' | 'since' | 'until'>, moment: number): void {
  const begins = since === issued ? since - maxHostClockDifferenceMs : since;
  if (moment < until && moment >= begins) return;
  throw new Refusal('macaroon-authorization-required', 'The macaroon has expired or is not valid yet; log in again.');
}

function refuseExpiredDischarge({ since, until, loggedInAt }: Discharge, moment: number): void {
  if (moment < until && moment >= since - maxHostClockDifferenceMs) return;
  if (moment >= until && loggedInAt !== undefined) {
    throw new Refusal('macaroon-needs-refresh', 'The discharge has expired; refresh it.');
  }
  throw new Refusal('macaroon-authorization-required', 'The discharge has expired; log in again.');
}

/** Reads a token, a list as in the `Macaroons` header, or a login and a discharge given separately. */
function readTokens(tokens: string[]): DecodedMacaroon[] | undefined {
  const [first = ''] = tokens;
  if (tokens.length === 1) {
    const single = readToken(first);
    return single === undefined ? readTokenList(first) : [single];
  }
  const macaroons = tokens.map(readToken);
  return macaroons.every((macaroon) => macaroon !== undefined) ? macaroons : undefined;
}
