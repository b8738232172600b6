// Sessions of browsers that are logged in to the console. Each is a macaroon with a row like that of a token, so it is
// listed and ended like one; but a session is not accepted as a token, nor a token as a session. The macaroon has the
// times of the login and of the last request in it, and responses renew it: so changed rules apply to all sessions at once.
import { createMac, timingSafeEqual } from '#domain/cryptography.ts';
import type { Acts } from '#acts/act.ts';
import { beginBrowserSession } from '#acts/tokens/tokens.ts';
import { after, minutes, timestamp } from '#domain/clock.ts';
import { isUuid, type NewIds } from '#domain/ids.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import type { SessionRules } from '#domain/tokens/session-rules.ts';
import { isEngineUnavailable, Refusal } from '#domain/refusal.ts';
import { moment } from './caveats.ts';
import { conditionsOf, mint, signatureMatches, withFirstPartyCaveat } from './codec/macaroon.ts';
import { readToken, writeToken } from './codec/text.ts';
import type { LoginProofKind, Session } from '#records/tokens/macaroons.ts';
import type { LatestTime } from './latest-time.ts';
import type { OpenedRootKey, RootKeys } from './root-keys.ts';
import { InsufficientLogin, type Sessions } from './sessions.ts';

/** A browser that is logged in, with its account. */
export interface LoggedInBrowser {
  principal: Principal;
  /** The token that a form for this address must send back, which proves that the form comes from this store. */
  formToken(address: string): string;
  isFormToken(text: string, address: string): boolean;
  /** The renewed session for the browser; undefined while the current one lasts long enough. */
  renewed: string | undefined;
}

export interface BrowserSessions {
  /** Begins a session after a login, with a shorter maximum lifetime if given; returns the text for the cookie. */
  begin(
    accountId: string,
    about: { address: string; requestId: string; maxAgeMs?: number; provenBy?: LoginProofKind },
  ): Promise<string>;
  /** Returns the browser with this session; refuses a session that is not of this store, has expired or was ended. */
  find(text: string | undefined): Promise<LoggedInBrowser>;
}

export interface BrowserSessionOptions {
  acts: Acts;
  rootKeys: RootKeys;
  sessions: Pick<Sessions, 'find'>;
  latestTime: LatestTime;
  newId: NewIds;
  sessionRules: () => SessionRules;
}

/** The description of browser sessions in the list of tokens. */
const consoleSession = 'Console';

/** A session is renewed when it is this old, and not with each response. */
const renewAfter = minutes(1);

const kind = 'larder:browser:2';
/** The conditions of each session, in this order. */
const names = ['session-id', 'time-before', 'begun-at', 'used-at'] as const;

interface BrowserSessionTerms {
  sessionId: string;
  /** Milliseconds since the epoch. */
  until: number;
  begunAt: number;
  usedAt: number;
}

export function createBrowserSessions(options: BrowserSessionOptions): BrowserSessions {
  const { acts, rootKeys, sessions, latestTime, newId, sessionRules } = options;
  return {
    async begin(accountId, { address, requestId, maxAgeMs = Infinity, provenBy }) {
      const root = await rootKeys.current();
      const now = latestTime.now();
      const rules = sessionRules();
      const [sessionId, until] = [newId.uuid(), after(now, Math.min(maxAgeMs, rules.maxAgeMs))];
      const session = {
        sessionId,
        accountId,
        rootKeyId: root.id,
        kind: 'console' as const,
        description: consoleSession,
        validSince: timestamp(now),
        validUntil: timestamp(until),
        conditions: null,
        provenBy,
      };
      await acts.do(beginBrowserSession, { actor: accountId, sessionId, requestId }, { session, address, rules });
      const at = now.getTime();
      return write(root, { sessionId, until: until.getTime(), begunAt: at, usedAt: at });
    },

    async find(text) {
      const read = text === undefined ? undefined : await readSession(text, rootKeys);
      if (read === undefined) throw ended('Log in to continue.');
      const { root, terms } = read;
      const now = latestTime.now().getTime();
      const { idleMs, maxAgeMs } = sessionRules();
      const until = Math.min(terms.until, terms.begunAt + maxAgeMs);
      if (now >= Math.min(until, terms.usedAt + idleMs)) throw ended('Your session has expired. Log in again.');
      const { storeAdministrator, accountId, username, displayName, email, validation } = await inForce(
        sessions,
        terms.sessionId,
        root.id,
      );
      const account = { accountId, username, displayName, email, validation };
      const { sessionId } = terms;
      const everything = { permissions: null, channels: null, packages: null };
      return {
        principal: { ...account, ...everything, sessionId, until, storeAdministrator: storeAdministrator === 1 },
        formToken: (address) => formToken(root, sessionId, address).toString('base64url'),
        isFormToken: (candidate, address) => isSame(candidate, formToken(root, sessionId, address)),
        renewed: now - terms.usedAt < renewAfter ? undefined : write(root, { ...terms, usedAt: now }),
      };
    },
  };
}

/** Finds the session. If it was ended or its account is disabled, the message addresses a person at a browser. */
async function inForce(sessions: Pick<Sessions, 'find'>, sessionId: string, rootKeyId: string): Promise<Session> {
  try {
    return await sessions.find(sessionId, rootKeyId);
  } catch (error) {
    if (error instanceof InsufficientLogin) throw error;
    // Unreadable records say nothing about the session.
    throw error instanceof Refusal && !isEngineUnavailable(error)
      ? ended('Your session was ended. Log in again.')
      : error;
  }
}

const ended = (message: string): Refusal => new Refusal('macaroon-authorization-required', message);

function write(root: OpenedRootKey, { sessionId, until, begunAt, usedAt }: BrowserSessionTerms): string {
  const values = [sessionId, ...[until, begunAt, usedAt].map((time) => timestamp(new Date(time)))];
  const conditions = names.map((name, at) => `${name} ${values[at]}`);
  return writeToken(conditions.reduce(withFirstPartyCaveat, mint(root.key, `${kind}:${root.id}`, '')));
}

async function readSession(
  text: string,
  rootKeys: Pick<RootKeys, 'find'>,
): Promise<{ root: OpenedRootKey; terms: BrowserSessionTerms } | undefined> {
  const macaroon = readToken(text);
  const identifier = macaroon?.identifier.toString('latin1') ?? '';
  const rootKeyId = identifier.slice(kind.length + 1);
  if (macaroon === undefined || !identifier.startsWith(`${kind}:`) || !isUuid(rootKeyId)) return undefined;
  const root = await rootKeys.find(rootKeyId);
  // The bearer of a macaroon may add conditions to it; only the conditions of this store are accepted here.
  if (root === undefined || macaroon.caveats.length !== names.length || !signatureMatches(macaroon, root.key))
    return undefined;
  const conditions = conditionsOf(macaroon) ?? [];
  if (!names.every((name, at) => conditions[at]?.startsWith(`${name} `) === true)) return undefined;
  const [sessionId = '', ...times] = names.map((name, at) => conditions[at]?.slice(name.length + 1) ?? '');
  const [until = 0, begunAt = 0, usedAt = 0] = times.map(moment);
  return { root, terms: { sessionId, until, begunAt, usedAt } };
}

const formToken = ({ key }: OpenedRootKey, sessionId: string, address: string): Buffer =>
  createMac('form token', key).update(`larder console form\n${sessionId}\n${address}`).digest();

function isSame(candidate: string, expected: Buffer): boolean {
  const bytes = Buffer.from(candidate, 'base64url');
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}
