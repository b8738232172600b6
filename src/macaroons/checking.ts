// Checking: whose login or token something is, and whether it is good now.
import { hash } from 'node:crypto';

import { BoundedMap } from '#domain/bounded-map.ts';
import { minutes } from '#domain/clock.ts';
import type { Principal } from '#domain/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import { then, type Soon } from '#domain/soon.ts';
import type { Session } from '#records/macaroons.ts';
import { readTerms, type Terms, type Version } from './caveats.ts';
import { conditionsOf, signatureMatches, verify, type Macaroon } from './codec/macaroon.ts';
import { readToken, readTokenList } from './codec/text.ts';
import { readIdentifier } from './identifier.ts';
import type { LatestTime } from './latest-time.ts';
import { readLogin, type Discharge, type Login } from './login.ts';
import type { RootKey, RootKeys } from './root-keys.ts';
import type { Sessions } from './sessions.ts';

export interface Checking {
  /** A login and its discharges, proven and fresh enough to be exchanged; a refusal otherwise. */
  login(tokens: string[]): Promise<Login>;
  /**
   * The account behind a request's tokens (a single one, or a login with its discharges), or a refusal:
   * without tokens, or with any that are unknown, expired, revoked or altered. It is the same object for the same tokens
   * as long as nothing about the account and its session has changed. Whoever brings the same list of tokens again
   * need not have it digested again.
   */
  authenticate(tokens: string[]): Soon<Principal>;
}

export interface CheckingOptions {
  rootKeys: Pick<RootKeys, 'find'>;
  latestTime: LatestTime;
  sessions: Sessions;
}

/** How soon after a login it must be exchanged. */
const exchangeWindow = minutes(10);
const cachedTokens = 10_000;

export function createChecking({ rootKeys, latestTime, sessions }: CheckingOptions): Checking {
  /** Tokens whose signatures hold, by their digest, so that none of them is held here. */
  const verified = new BoundedMap<string, Verified>(cachedTokens);

  /** The same by the lists themselves: SHA-256 is spared for those that a connection brings again. */
  const brought = new WeakMap<string[], Verified>();

  /** What is known of tokens whose signatures hold, looked at once. */
  const proven = (tokens: string[]): Soon<Verified> => brought.get(tokens) ?? found(tokens) ?? prove(tokens);

  const found = (tokens: string[]): Verified | undefined => {
    const known = verified.get(digestOf(tokens));
    if (known !== undefined) brought.set(tokens, known);
    return known;
  };

  const prove = async (tokens: string[]): Promise<Verified> => {
    const token = await examine(tokens, rootKeys);
    if (token === undefined) throw invalid();
    verified.set(digestOf(tokens), token);
    return token;
  };

  const sessionOf = (token: Verified): Soon<Session> =>
    isLogin(token) ? sessions.ofLogin(token) : sessions.find(token.terms.sessionId, token.rootKeyId);

  return {
    async login(tokens) {
      if (tokens.length === 0) throw new Refusal('macaroon-authorization-required', 'discharge required');
      if (readTokens(tokens) === undefined) throw new Refusal('api-error', 'Invalid macaroon');
      const login = await examine(tokens, rootKeys);
      if (login === undefined || !isLogin(login) || !login.exchangeable) throw invalid();
      const moment = latestTime.now().getTime();
      refuseExpired(login.terms, moment);
      const { since, until } = login.discharge;
      if (moment < since) throw new Refusal('macaroon-authorization-required', 'The discharge is not valid yet.');
      if (moment >= Math.min(until, since === -Infinity ? until : since + exchangeWindow)) {
        throw new Refusal('exchange-window-expired', 'Exchange window expired');
      }
      return login;
    },

    authenticate(tokens) {
      if (tokens.length === 0) throw new Refusal('macaroon-authorization-required', 'discharge required');
      return then(proven(tokens), (token) => {
        const moment = latestTime.now().getTime();
        refuseExpired(token.terms, moment);
        if (token.discharge !== undefined) refuseExpiredDischarge(token.discharge, moment);
        return then(sessionOf(token), (session) => {
          const principal = principalOf(token, session);
          // A token in whose place another one was issued ends earlier than it says itself.
          refuseExpired({ since: token.terms.since, until: principal.until }, moment);
          return principal;
        });
      });
    },
  };
}

/** Whom a token stands for in its session, made once as long as the session is the same. */
function principalOf(token: Verified, session: Session): Principal {
  if (token.known?.session === session) return token.known.principal;
  const { accountId, username, displayName, email, validation, storeAdministrator, replacedUntil } = session;
  const { permissions, channels, packages, sessionId, until } = token.terms;
  const principal = Object.freeze({
    ...{ accountId, username, displayName, email, validation },
    storeAdministrator: storeAdministrator === 1,
    until: Math.min(until, replacedUntil === null ? Infinity : Date.parse(replacedUntil)),
    ...{ sessionId, permissions, channels, packages },
  });
  token.known = { session, principal };
  return principal;
}

/** Proves tokens, whatever the time and their sessions say; undefined when anything about them does not hold. */
async function examine(tokens: string[], rootKeys: Pick<RootKeys, 'find'>): Promise<Verified | undefined> {
  const [macaroon, ...discharges] = readTokens(tokens) ?? [];
  const identity = macaroon && readIdentifier(macaroon.identifier);
  const root = identity && (await rootKeys.find(identity.rootKeyId));
  if (macaroon === undefined || identity === undefined || root === undefined) return undefined;
  if (identity.kind === 'login') return readLogin(macaroon, root, discharges);
  const terms = readConditions(macaroon, identity.version, root, discharges);
  return terms && { terms, rootKeyId: root.id };
}

const invalid = (): Refusal => new Refusal('macaroon-authorization-required', 'Invalid macaroon');

/** What is known of a token whose signatures hold, whatever the time and its session say. */
interface Verified {
  terms: Terms;
  rootKeyId: string;
  /** Of a login alone. */
  discharge?: Discharge;
  /** Whom it stood for when it was last used. */
  known?: { session: Session; principal: Principal };
}

const isLogin = (token: Verified): token is Login => token.discharge !== undefined;

const digestOf = (tokens: string[]): string =>
  hash('sha256', tokens.length === 1 ? (tokens[0] as string) : JSON.stringify(tokens), 'base64');

const unknownCaveat = { met: false, reason: 'unknown caveat' } as const;

/** What the conditions of a token say, when its signature holds. */
function readConditions(
  macaroon: Macaroon,
  version: Version,
  root: RootKey,
  discharges: Macaroon[],
): Terms | undefined {
  if (discharges.length === 0) {
    const conditions = signatureMatches(macaroon, root.key) ? conditionsOf(macaroon) : undefined;
    return conditions && readTerms(conditions, version);
  }
  // The bearer may have narrowed it by a third party's word; of what such a discharge says nothing is understood.
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

function refuseExpired({ since, until }: Pick<Terms, 'since' | 'until'>, moment: number): void {
  if (moment < until && moment >= since) return;
  throw new Refusal('macaroon-authorization-required', 'The macaroon has expired or is not valid yet; log in again.');
}

function refuseExpiredDischarge({ since, until, loggedInAt }: Discharge, moment: number): void {
  if (moment < until && moment >= since) return;
  if (moment >= until && loggedInAt !== undefined) {
    throw new Refusal('macaroon-needs-refresh', 'The discharge has expired; refresh it.');
  }
  throw new Refusal('macaroon-authorization-required', 'The discharge has expired; log in again.');
}

/** A token, a list as the `Macaroons` header has it, or a login and a discharge given apart. */
function readTokens(tokens: string[]): Macaroon[] | undefined {
  const [first = ''] = tokens;
  if (tokens.length === 1) {
    const single = readToken(first);
    return single === undefined ? readTokenList(first) : [single];
  }
  const macaroons = tokens.map(readToken);
  return macaroons.every((macaroon) => macaroon !== undefined) ? macaroons : undefined;
}
