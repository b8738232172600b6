// Issues tokens, and logins that are exchanged for tokens after the identity provider has confirmed the account.
import type { Acts, Actor } from '#acts/act.ts';
import { exchangeCredential, issueToken, notThisAccount, type NewSession } from '#acts/tokens/tokens.ts';
import { after, timestamp } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { LoginProofKind } from '#records/tokens/macaroons.ts';
import { caveatsFor, restrictingCaveats, type Attenuation, type SessionTerms, type Version } from './caveats.ts';
import { mint, withFirstPartyCaveat } from './codec/macaroon.ts';
import { writeToken } from './codec/text.ts';
import type { DischargerKeys } from './discharger-keys.ts';
import { writeIdentifier } from './identifier.ts';
import type { LatestTime } from './latest-time.ts';
import { writeLogin, type DischargedLogin, type LoginStyle } from './login.ts';
import type { OpenedRootKey, RootKeys } from './root-keys.ts';
import type { Sessions, ExchangeClient } from './sessions.ts';

/** The request for a login. */
export interface LoginRequest extends Attenuation {
  description?: string | null | undefined;
  /** Lifetime of the token in seconds; by default, and at most, the store's maximum. */
  ttl?: number | undefined;
}

/** The request for a token. */
export interface TokenRequest extends LoginRequest {
  accountId: string;
  provenBy?: LoginProofKind | null | undefined;
}

export interface IssuedToken {
  /** Unpadded base64url of a binary v2 macaroon, ready for the Authorization header. */
  token: string;
  sessionId: string;
  validUntil: string;
}

export interface TokenIssuer {
  /** Issues a token and records its session. */
  issue(request: TokenRequest, actor: Actor): Promise<IssuedToken>;
  /** Like `issue`, for a caller at that address with the store administrator's credential. */
  exchangeCredential(request: TokenRequest, use: Required<ExchangeClient>): Promise<IssuedToken>;
  /** Creates a macaroon to log in with. It is not recorded, so any number may be requested. */
  startLogin(request: LoginRequest, style: LoginStyle): Promise<string>;
  /** Exchanges a login for a token, which has every restriction of the login and expires with it. */
  exchange(login: DischargedLogin, use: Required<ExchangeClient>, description?: string): Promise<IssuedToken>;
}

export interface TokenIssuerOptions {
  acts: Acts;
  rootKeys: RootKeys;
  dischargerKeys: DischargerKeys;
  latestTime: LatestTime;
  sessions: Sessions;
  newId: NewIds;
  /** The location in tokens: the store's base URL. */
  location: () => string;
  /** The maximum and default lifetime of tokens in milliseconds, never above `longestLife`. */
  longestLife: () => number;
}

export function createTokenIssuer(options: TokenIssuerOptions): TokenIssuer {
  const { acts, rootKeys, dischargerKeys, sessions, location } = options;

  const issue = async (request: TokenRequest, begin: (session: NewSession) => Promise<void>): Promise<IssuedToken> => {
    const root = await rootKeys.current();
    const terms = newTerms(request, options);
    const caveats = caveatsFor(terms, request);
    await begin({
      sessionId: terms.id,
      accountId: request.accountId,
      rootKeyId: root.id,
      description: request.description ?? null,
      validSince: terms.since,
      validUntil: terms.until,
      conditions: JSON.stringify(restrictingCaveats(caveats)),
      provenBy: request.provenBy ?? null,
    });
    const token = tokenFor(root, { version: '2', caveats, location: location() });
    return { token, sessionId: terms.id, validUntil: terms.until };
  };

  return {
    issue: (request, actor) => issue(request, (session) => acts.do(issueToken, actor, { session })),

    exchangeCredential: (request, { address, requestId }) =>
      issue({ ...request, provenBy: 'host' }, (session) =>
        acts.do(exchangeCredential, { actor: request.accountId, requestId }, { session, address }),
      ),

    async startLogin(request, style) {
      const root = await rootKeys.current();
      const discharger = await dischargerKeys.current();
      const terms = newTerms(request, options);
      const description = request.description ?? null;
      const caveats = caveatsFor(terms, request);
      const purpose = {
        description,
        permissions: request.permissions ?? null,
        channels: request.channels ?? null,
        packages: request.packages?.length ?? null,
        until: new Date(terms.until),
      };
      return writeLogin({ style, root, discharger, location: location(), description, caveats, purpose });
    },

    async exchange(login, use, description) {
      await sessions.begin(login, use, description ?? login.description);
      const root = await rootKeys.find(login.rootKeyId);
      if (root === undefined) throw notThisAccount();
      const { sessionId, until } = login.terms;
      const token = tokenFor(root, { ...login, location: location() });
      return { token, sessionId, validUntil: timestamp(new Date(until)) };
    },
  };
}

/** A new session for the request, with its period of validity. */
export function newTerms(
  { ttl }: Pick<LoginRequest, 'ttl'>,
  { newId, latestTime, longestLife }: Pick<TokenIssuerOptions, 'newId' | 'latestTime' | 'longestLife'>,
): SessionTerms {
  const moment = latestTime.now();
  const maxLifetimeMs = longestLife();
  const life = ttl === undefined ? maxLifetimeMs : Math.min(ttl * 1000, maxLifetimeMs);
  return { id: newId.uuid(), since: timestamp(moment), until: timestamp(after(moment, life)) };
}

export function tokenFor(
  root: OpenedRootKey,
  { version, caveats, location }: { version: Version; caveats: string[]; location: string },
): string {
  const identifier = writeIdentifier({ kind: 'token', version, rootKeyId: root.id, description: null });
  return writeToken(caveats.reduce(withFirstPartyCaveat, mint(root.key, identifier, location)));
}
