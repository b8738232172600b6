// The authority: issues the store's tokens, and says whom a token stands for.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

import { after, days, minutes, timestamp, type Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { Principal } from '#domain/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import type { AuditEntry } from '#records/audit.ts';
import type { Changes, Records } from '#records/index.ts';
import { caveatsFor, readTerms, type Attenuation, type Terms } from './caveats.ts';
import { mint, verify, withFirstPartyCaveat, type Macaroon } from './codec/macaroon.ts';
import { readToken, readTokenList, writeToken } from './codec/text.ts';
import { seal, unseal } from './sealing.ts';

export interface AuthorityOptions {
  records: Records;
  siteKey: Buffer;
  now: Now;
  newId: NewIds;
  /** Where tokens say they come from: the store's base URL. */
  location: () => string;
}

/** What a token is issued for. */
export interface TokenRequest extends Attenuation {
  accountId: string;
  description?: string | null | undefined;
  /** Seconds that it lasts; a year unless said otherwise. */
  ttl?: number | undefined;
}

export interface Token {
  /** Unpadded base64url of a binary v2 macaroon, ready for the Authorization header. */
  token: string;
  sessionId: string;
  validUntil: string;
}

export interface Authority {
  /** Issues a token, and keeps its session, as part of one change. */
  issue(request: TokenRequest, entry: Omit<AuditEntry, 'at' | 'object'>): Promise<Token>;
  /**
   * The account behind a request's tokens (a single one, or a root with its discharges), or a refusal:
   * without tokens, or with any that are unknown, expired, revoked or altered.
   */
  authenticate(tokens: string[]): Promise<Principal>;
  /** Whether a text is a store administrator's credential, of which the configuration keeps the digests. */
  isAdministratorCredential(text: string, digests: string | readonly string[] | undefined): boolean;
  /** Counts a failed exchange from an address; refuses further ones for a while when there were too many. */
  failedExchange(address: string): void;
  mayExchange(address: string): void;
  /** The latest time that was ever seen: a clock that is set back brings no token to life. */
  latestTime(): Date;
  sawTime(moment: Date): void;
}

/** Root keys are changed for new tokens after this long; old ones keep verifying the tokens they signed. */
const rootKeyLife = days(7);
const defaultLife = days(365);
const cachedTokens = 10_000;
const failuresAllowed = 10;

export function createAuthority({ records, siteKey, now, newId, location }: AuthorityOptions): Authority {
  const opened = new Map<string, Buffer>();
  const verified = new Map<string, Verified>();
  const failures = new Map<string, { count: number; until: number }>();
  let latest = new Date(0);

  const clock = (): Date => {
    const moment = now();
    if (moment > latest) latest = moment;
    return latest;
  };

  async function rootKey(id: string): Promise<Buffer | undefined> {
    const known = opened.get(id);
    if (known !== undefined) return known;
    const kept = await records.rootKeys.find(id);
    if (kept === undefined) return undefined;
    const key = unseal(siteKey, kept.sealed, purposeOf(id));
    opened.set(id, key);
    return key;
  }

  async function currentRootKey(tx: Changes, moment: Date): Promise<{ id: string; key: Buffer }> {
    const newest = await tx.rootKeys.newest();
    if (newest !== undefined && Date.parse(newest.createdAt) > moment.getTime() - rootKeyLife) {
      return { id: newest.id, key: unseal(siteKey, newest.sealed, purposeOf(newest.id)) };
    }
    const id = newId.uuid();
    const key = randomBytes(32);
    await tx.rootKeys.add({ id, sealed: seal(siteKey, key, purposeOf(id)), createdAt: timestamp(moment) });
    return { id, key };
  }

  async function examine(tokens: string[]): Promise<Verified | undefined> {
    const macaroons = read(tokens);
    const [root, ...discharges] = macaroons ?? [];
    const rootKeyId = root && rootKeyIdOf(root);
    const key = rootKeyId === undefined ? undefined : await rootKey(rootKeyId);
    if (root === undefined || rootKeyId === undefined || key === undefined) return undefined;
    const result = verify({
      macaroon: root,
      rootKey: key,
      discharges,
      // The root's conditions are read as a whole below, where an unknown one fails the token.
      check: (_condition, from) => (from === 'primary' ? { met: true } : unknownCaveat),
    });
    const terms = result.verified ? readTerms(result.conditions.map(({ condition }) => condition)) : undefined;
    return terms && { terms, rootKeyId };
  }

  return {
    async issue(request, entry) {
      const moment = clock();
      const since = timestamp(moment);
      const sessionId = newId.uuid();
      const until = timestamp(after(moment, request.ttl === undefined ? defaultLife : request.ttl * 1000));
      return records.change({ ...entry, at: since, object: `session/${sessionId}` }, async (tx, note) => {
        const root = await currentRootKey(tx, moment);
        const identifier = `${identifierPrefix}${root.id}:${randomBytes(16).toString('base64url')}`;
        const caveats = caveatsFor({ id: sessionId, since, until }, request);
        const macaroon = caveats.reduce(withFirstPartyCaveat, mint(root.key, identifier, location()));
        await tx.macaroons.add({
          sessionId,
          accountId: request.accountId,
          rootKeyId: root.id,
          description: request.description ?? null,
          validSince: since,
          validUntil: until,
        });
        note({ account: request.accountId, until });
        return { token: writeToken(macaroon), sessionId, validUntil: until };
      });
    },

    async authenticate(tokens) {
      if (tokens.length === 0) throw new Refusal('macaroon-authorization-required', 'discharge required');
      // The cache knows tokens by their digest, so that it holds none of them.
      const digest = hash('sha256', tokens.length === 1 ? (tokens[0] as string) : JSON.stringify(tokens), 'base64');
      let token = verified.get(digest);
      if (token === undefined) {
        token = await examine(tokens);
        if (token === undefined) throw new Refusal('macaroon-authorization-required', 'Invalid macaroon');
        if (verified.size >= cachedTokens) verified.delete(verified.keys().next().value as string);
        verified.set(digest, token);
      }
      const { terms, rootKeyId } = token;
      const moment = clock().getTime();
      if (moment >= terms.until || moment < terms.since) {
        throw new Refusal('macaroon-authorization-required', 'The macaroon has expired or is not valid yet; log in again.');
      }
      const session = await records.macaroons.session(terms.sessionId, rootKeyId);
      if (session === undefined) {
        throw new Refusal('macaroon-authorization-required', 'The macaroon has been revoked; log in again.');
      }
      const { permissions, channels, packages, sessionId } = terms;
      const { storeAdministrator, ...account } = session;
      return { ...account, storeAdministrator: storeAdministrator === 1, sessionId, permissions, channels, packages };
    },

    isAdministratorCredential(text, digests) {
      const digest = Buffer.from(hash('sha3-384', text.trim(), 'hex'));
      let found = false;
      for (const one of digests === undefined ? [] : [digests].flat()) {
        const expected = Buffer.from(one);
        if (expected.length === digest.length && timingSafeEqual(expected, digest)) found = true;
      }
      return found;
    },

    mayExchange(address) {
      const failed = failures.get(address);
      if (failed === undefined || failed.count < failuresAllowed) return;
      const wait = failed.until - now().getTime();
      if (wait <= 0) failures.delete(address);
      else throw new Refusal('too-many-requests', 'Too many failed exchanges from this address; wait a minute.', Math.ceil(wait / 1000));
    },

    failedExchange(address) {
      const moment = now().getTime();
      const failed = failures.get(address);
      if (failed !== undefined && failed.until > moment) failed.count++;
      else {
        if (failures.size >= 10_000) failures.clear();
        failures.set(address, { count: 1, until: moment + minutes(1) });
      }
    },

    latestTime: clock,
    sawTime(moment) {
      if (moment > latest) latest = moment;
    },
  };
}

interface Verified {
  terms: Terms;
  rootKeyId: string;
}

const identifierPrefix = 'larder:1:';
const purposeOf = (id: string): string => `root key ${id}`;
const unknownCaveat = { met: false, reason: 'unknown caveat' } as const;

function rootKeyIdOf(macaroon: Macaroon): string | undefined {
  const identifier = macaroon.identifier.toString('latin1');
  if (!identifier.startsWith(identifierPrefix)) return undefined;
  return identifier.slice(identifierPrefix.length).split(':')[0];
}

/** A token, a list as the `Macaroons` header has it, or a root and a discharge given apart. */
function read(tokens: string[]): Macaroon[] | undefined {
  const [first = ''] = tokens;
  if (tokens.length === 1) {
    const single = readToken(first);
    return single === undefined ? readTokenList(first) : [single];
  }
  const macaroons = tokens.map(readToken);
  return macaroons.every((macaroon) => macaroon !== undefined) ? macaroons : undefined;
}
