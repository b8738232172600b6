// The authority: issues the store's tokens, and says whom a token stands for.
import { hash, timingSafeEqual } from 'node:crypto';

import { after, days, minutes, timestamp } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { Principal } from '#domain/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import type { AuditEntry } from '#records/audit.ts';
import type { Records } from '#records/index.ts';
import type { Session } from '#records/macaroons.ts';
import { administratorDigest } from './administrator-credential.ts';
import { caveatsFor, readTerms, type Attenuation, type Terms, type Version } from './caveats.ts';
import { mint, signatureMatches, verify, withFirstPartyCaveat, conditionsOf, type Macaroon } from './codec/macaroon.ts';
import { readToken, readTokenList, writeToken } from './codec/text.ts';
import type { DischargerKeys } from './discharger-keys.ts';
import { readIdentifier, writeIdentifier } from './identifier.ts';
import type { LatestTime } from './latest-time.ts';
import { readLogin, writeLogin, type Discharge, type Login, type LoginStyle } from './login.ts';
import type { RootKey, RootKeys } from './root-keys.ts';

export type { Login };

export interface AuthorityOptions {
  records: Records;
  rootKeys: RootKeys;
  dischargerKeys: DischargerKeys;
  latestTime: LatestTime;
  newId: NewIds;
  /** Where tokens say they come from: the store's base URL. */
  location: () => string;
  /** How long tokens last at most, and unless less is asked for: milliseconds, never above `longestLife`. */
  longestLife: () => number;
}

/** What somebody wants to log in for. */
export interface LoginRequest extends Attenuation {
  description?: string | null | undefined;
  /** Seconds that the token lasts; as long as the store lets it unless said otherwise, and never longer. */
  ttl?: number | undefined;
}

/** What a token is issued for. */
export interface TokenRequest extends LoginRequest {
  accountId: string;
}

export interface Token {
  /** Unpadded base64url of a binary v2 macaroon, ready for the Authorization header. */
  token: string;
  sessionId: string;
  validUntil: string;
}

type Entry = Omit<AuditEntry, 'at' | 'object'>;

export interface Authority {
  /** Issues a token, and keeps its session, as part of one change. */
  issue(request: TokenRequest, entry: Entry): Promise<Token>;
  /** Makes a macaroon to log in with. Nothing is kept of it: anybody may ask for any number. */
  startLogin(request: LoginRequest, style: LoginStyle): Promise<string>;
  /** A login and its discharges, proven and fresh enough to be exchanged; a refusal otherwise. */
  login(tokens: string[]): Promise<Login>;
  /** The token that a login is exchanged for: it has every restriction of the login, and ends with it. */
  exchange(login: Login, entry: Omit<Entry, 'actor'>, description?: string): Promise<Token>;
  /**
   * The account behind a request's tokens (a single one, or a login with its discharges), or a refusal:
   * without tokens, or with any that are unknown, expired, revoked or altered.
   */
  authenticate(tokens: string[]): Promise<Principal>;
  /** Whether a text is a store administrator's credential, of which the configuration keeps the digests. */
  isAdministratorCredential(text: string, digests: string | readonly string[] | undefined): boolean;
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

/** How soon after a login it must be exchanged. */
const exchangeWindow = minutes(10);
const cachedTokens = 10_000;

export function createAuthority(options: AuthorityOptions): Authority {
  const { records, rootKeys, dischargerKeys, latestTime, newId, location } = options;
  const verified = new Map<string, Verified>();

  async function examine(tokens: string[]): Promise<Verified | undefined> {
    const macaroons = readTokens(tokens);
    const [macaroon, ...discharges] = macaroons ?? [];
    const identity = macaroon && readIdentifier(macaroon.identifier);
    const root = identity && (await rootKeys.find(identity.rootKeyId));
    if (macaroon === undefined || identity === undefined || root === undefined) return undefined;
    if (identity.kind === 'login') return readLogin(macaroon, root, discharges);
    const terms = readConditions(macaroon, identity.version, root, discharges);
    return terms && { terms, rootKeyId: root.id };
  }

  /** The session of a login begins when it is first used. */
  async function begin(login: Login, entry: Omit<Entry, 'actor'>, description: string | null): Promise<string> {
    const { terms, rootKeyId, discharge } = login;
    const at = timestamp(latestTime.now());
    const account = await records.accounts.logsInAs(discharge.username);
    if (account === undefined || account.username !== discharge.username) throw notThisAccount();
    const object = `session/${terms.sessionId}`;
    await records.change({ ...entry, actor: account.id, at, object }, async (tx, note) => {
      // What an administrator has ended is not begun again by a login that was kept for later.
      const endedAt = await tx.accounts.tokensEndedAt(account.id);
      if (endedAt !== null && terms.issued < Date.parse(endedAt)) throw notThisAccount();
      const validUntil = timestamp(new Date(terms.until));
      const session = { sessionId: terms.sessionId, accountId: account.id, rootKeyId, description };
      const validSince = terms.since === -Infinity ? at : timestamp(new Date(terms.since));
      const begun = await tx.macaroons.claim({ ...session, validSince, validUntil });
      note({ account: account.id, until: validUntil, ...(!begun && { again: true }) });
      // Again only for the one who began it, and never after it has been revoked, nor without its root key.
      const kept = await tx.macaroons.session(terms.sessionId, rootKeyId);
      if (kept?.accountId !== account.id) throw notThisAccount();
      if (!begun && description !== null) await tx.macaroons.describe(terms.sessionId, description);
    });
    return account.id;
  }

  async function sessionOf(token: Verified): Promise<Session> {
    const { terms, rootKeyId, discharge } = token;
    let session = await records.macaroons.session(terms.sessionId, rootKeyId);
    if (session === undefined && discharge !== undefined) {
      await begin(token as Login, { action: 'log_in' }, (token as Login).description);
      session = await records.macaroons.session(terms.sessionId, rootKeyId);
    }
    if (session === undefined) {
      throw new Refusal('macaroon-authorization-required', 'The macaroon has been revoked; log in again.');
    }
    if (discharge !== undefined && discharge.username !== session.username) throw notThisAccount();
    return session;
  }

  return {
    async issue(request, entry) {
      const root = await rootKeys.current();
      const session = newSession(request);
      return records.change({ ...entry, at: session.since, object: `session/${session.id}` }, async (tx, note) => {
        await tx.macaroons.add({
          sessionId: session.id,
          accountId: request.accountId,
          rootKeyId: root.id,
          description: request.description ?? null,
          validSince: session.since,
          validUntil: session.until,
        });
        note({ account: request.accountId, until: session.until });
        return {
          token: tokenFor(root, '2', caveatsFor(session, request)),
          sessionId: session.id,
          validUntil: session.until,
        };
      });
    },

    async startLogin(request, style) {
      const root = await rootKeys.current();
      const discharger = await dischargerKeys.current();
      const session = newSession(request);
      const description = request.description ?? null;
      const caveats = caveatsFor(session, request);
      const purpose = {
        description,
        permissions: request.permissions ?? null,
        channels: request.channels ?? null,
        packages: request.packages?.length ?? null,
        until: new Date(session.until),
      };
      return writeLogin({ style, root, discharger, location: location(), description, caveats, purpose });
    },

    async login(tokens) {
      if (tokens.length === 0) throw new Refusal('macaroon-authorization-required', 'discharge required');
      if (readTokens(tokens) === undefined) throw new Refusal('api-error', 'Invalid macaroon');
      const login = await examine(tokens);
      if (login === undefined || !isLogin(login) || !login.exchangeable) {
        throw new Refusal('macaroon-authorization-required', 'Invalid macaroon');
      }
      const moment = latestTime.now().getTime();
      refuseExpired(login.terms, moment);
      const { since, until } = login.discharge;
      if (moment < since) throw new Refusal('macaroon-authorization-required', 'The discharge is not valid yet.');
      if (moment >= Math.min(until, since === -Infinity ? until : since + exchangeWindow)) {
        throw new Refusal('exchange-window-expired', 'Exchange window expired');
      }
      return login;
    },

    async exchange(login, entry, description) {
      await begin(login, entry, description ?? login.description);
      const root = await rootKeys.find(login.rootKeyId);
      if (root === undefined) throw notThisAccount();
      const { sessionId, until } = login.terms;
      return { token: tokenFor(root, login.version, login.caveats), sessionId, validUntil: timestamp(new Date(until)) };
    },

    async authenticate(tokens) {
      if (tokens.length === 0) throw new Refusal('macaroon-authorization-required', 'discharge required');
      // The cache knows tokens by their digest, so that it holds none of them.
      const digest = digestOf(tokens.length === 1 ? (tokens[0] as string) : JSON.stringify(tokens));
      let token = verified.get(digest);
      if (token === undefined) {
        token = await examine(tokens);
        if (token === undefined) throw new Refusal('macaroon-authorization-required', 'Invalid macaroon');
        if (verified.size >= cachedTokens) verified.delete(verified.keys().next().value as string);
        verified.set(digest, token);
      }
      const moment = latestTime.now().getTime();
      refuseExpired(token.terms, moment);
      if (token.discharge !== undefined) refuseExpiredDischarge(token.discharge, moment);
      const { permissions, channels, packages, sessionId } = token.terms;
      const { storeAdministrator, ...account } = await sessionOf(token);
      return { ...account, storeAdministrator: storeAdministrator === 1, sessionId, permissions, channels, packages };
    },

    isAdministratorCredential(text, digests) {
      const digest = Buffer.from(administratorDigest(text));
      let found = false;
      for (const one of digests === undefined ? [] : [digests].flat()) {
        const expected = Buffer.from(one);
        if (expected.length === digest.length && timingSafeEqual(expected, digest)) found = true;
      }
      return found;
    },

    longestLife: options.longestLife,
    latestTime: () => latestTime.now(),
  };

  function newSession({ ttl }: LoginRequest): { id: string; since: string; until: string } {
    const moment = latestTime.now();
    const most = options.longestLife();
    const life = ttl === undefined ? most : Math.min(ttl * 1000, most);
    return { id: newId.uuid(), since: timestamp(moment), until: timestamp(after(moment, life)) };
  }

  function tokenFor(root: RootKey, version: Version, caveats: string[]): string {
    const identifier = writeIdentifier({ kind: 'token', version, rootKeyId: root.id, description: null });
    return writeToken(caveats.reduce(withFirstPartyCaveat, mint(root.key, identifier, location())));
  }
}

/** What is known of a token whose signatures hold, whatever the time and its session say. */
interface Verified {
  terms: Terms;
  rootKeyId: string;
  /** Of a login alone. */
  discharge?: Discharge;
}

const isLogin = (token: Verified): token is Login => token.discharge !== undefined;

const digestOf = (token: string): string => hash('sha256', token, 'base64');

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

function refuseExpired({ since, until }: Terms, moment: number): void {
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

/** Revoked, somebody else's, of an account that is gone or disabled: it is all the same to whoever asks. */
const notThisAccount = (): Refusal =>
  new Refusal(
    'macaroon-authorization-required',
    'The macaroon has been revoked, or is not of this account; log in again.',
  );

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
