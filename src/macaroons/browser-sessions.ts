// Sessions of browsers: what somebody has who logged in to the console. Each is a macaroon with a row like that of a token, so
// it is listed and ended like one; but no tool can use it as a token, nor a browser a token as it. It ends after a while
// without a request: it says so itself, and a newer one, of the same session, comes with the answers meanwhile.
import { createHmac, timingSafeEqual } from 'node:crypto';

import type { Acts } from '#acts/act.ts';
import { beginBrowserSession } from '#acts/tokens.ts';
import { after, hours, minutes, timestamp } from '#domain/clock.ts';
import { isUuid, type NewIds } from '#domain/ids.ts';
import type { Principal } from '#domain/principal.ts';
import { isAway, Refusal } from '#domain/refusal.ts';
import { moment } from './caveats.ts';
import { conditionsOf, mint, signatureMatches, withFirstPartyCaveat } from './codec/macaroon.ts';
import { readToken, writeToken } from './codec/text.ts';
import type { Session } from '#records/macaroons.ts';
import type { LatestTime } from './latest-time.ts';
import type { RootKey, RootKeys } from './root-keys.ts';
import { MissingOneTimePassword, type Sessions } from './sessions.ts';

/** Somebody at a browser. */
export interface Browsing {
  principal: Principal;
  /** What a form to an address of the console has to bring back, so that nobody else's page can have made it. */
  formToken(address: string): string;
  isFormToken(text: string, address: string): boolean;
  /** The session anew, for the browser to keep from now on; nothing while the one that it has lasts long enough. */
  renewed: string | undefined;
}

export interface BrowserSessions {
  /** Begins a session of somebody who has just logged in: what his browser keeps. */
  begin(accountId: string, about: { address: string; requestId: string }): Promise<string>;
  /** Whoever brings this; refused when it is none of ours, has ended, or was ended. */
  find(text: string | undefined): Promise<Browsing>;
}

export interface BrowserSessionOptions {
  acts: Acts;
  rootKeys: RootKeys;
  sessions: Pick<Sessions, 'find'>;
  latestTime: LatestTime;
  newId: NewIds;
}

/** What such a session is called among the tokens; what it is, its kind says. */
const consoleSession = 'Console';

/** However busy somebody is, he logs in again after this. */
const longestSession = hours(12);
/** Without a request it ends after this. */
export const idleEnd = minutes(30);
/** One that was given so long ago is given anew, and not with each answer. */
const renewAfter = minutes(1);

const kind = 'larder:browser:1';
/** The conditions, in the order in which each session has them. */
const names = ['session-id', 'time-before', 'idle-before'] as const;

interface Terms {
  sessionId: string;
  /** Milliseconds since the epoch. */
  until: number;
  idleBefore: number;
}

export function createBrowserSessions(options: BrowserSessionOptions): BrowserSessions {
  const { acts, rootKeys, sessions, latestTime, newId } = options;
  return {
    async begin(accountId, { address, requestId }) {
      const root = await rootKeys.current();
      const now = latestTime.now();
      const [sessionId, until] = [newId.uuid(), after(now, longestSession)];
      const session = {
        sessionId,
        accountId,
        rootKeyId: root.id,
        kind: 'console' as const,
        description: consoleSession,
        validSince: timestamp(now),
        validUntil: timestamp(until),
        conditions: null,
      };
      await acts.do(beginBrowserSession, { actor: accountId, sessionId, requestId }, { session, address });
      return write(root, { sessionId, until: until.getTime(), idleBefore: after(now, idleEnd).getTime() });
    },

    async find(text) {
      const read = text === undefined ? undefined : await readSession(text, rootKeys);
      if (read === undefined) throw ended('Log in to go on.');
      const { root, terms } = read;
      const now = latestTime.now().getTime();
      if (now >= Math.min(terms.until, terms.idleBefore))
        throw ended('You have been logged out meanwhile; log in again.');
      const { storeAdministrator, accountId, username, displayName, email, validation } = await inForce(
        sessions,
        terms.sessionId,
        root.id,
      );
      const account = { accountId, username, displayName, email, validation };
      const { sessionId, until } = terms;
      const everything = { permissions: null, channels: null, packages: null };
      const idleBefore = now + idleEnd;
      return {
        principal: { ...account, ...everything, sessionId, until, storeAdministrator: storeAdministrator === 1 },
        formToken: (address) => formToken(root, sessionId, address).toString('base64url'),
        isFormToken: (given, address) => isSame(given, formToken(root, sessionId, address)),
        renewed: idleBefore - terms.idleBefore < renewAfter ? undefined : write(root, { ...terms, idleBefore }),
      };
    },
  };
}

/** The session, in words for somebody at a browser where it was ended, or its account shut out. */
async function inForce(sessions: Pick<Sessions, 'find'>, sessionId: string, rootKeyId: string): Promise<Session> {
  try {
    return await sessions.find(sessionId, rootKeyId);
  } catch (error) {
    if (error instanceof MissingOneTimePassword) throw error;
    // Records that cannot be read say nothing of the session.
    throw error instanceof Refusal && !isAway(error) ? ended('This login was ended; log in again.') : error;
  }
}

const ended = (message: string): Refusal => new Refusal('macaroon-authorization-required', message);

function write(root: RootKey, { sessionId, until, idleBefore }: Terms): string {
  const values = [sessionId, timestamp(new Date(until)), timestamp(new Date(idleBefore))];
  const conditions = names.map((name, at) => `${name} ${values[at]}`);
  return writeToken(conditions.reduce(withFirstPartyCaveat, mint(root.key, `${kind}:${root.id}`, '')));
}

async function readSession(
  text: string,
  rootKeys: Pick<RootKeys, 'find'>,
): Promise<{ root: RootKey; terms: Terms } | undefined> {
  const macaroon = readToken(text);
  const identifier = macaroon?.identifier.toString('latin1') ?? '';
  const rootKeyId = identifier.slice(kind.length + 1);
  if (macaroon === undefined || !identifier.startsWith(`${kind}:`) || !isUuid(rootKeyId)) return undefined;
  const root = await rootKeys.find(rootKeyId);
  // Whoever holds a macaroon may add conditions to it; none but ours is known here.
  if (root === undefined || macaroon.caveats.length !== names.length || !signatureMatches(macaroon, root.key))
    return undefined;
  const conditions = conditionsOf(macaroon) ?? [];
  if (!names.every((name, at) => conditions[at]?.startsWith(`${name} `) === true)) return undefined;
  const [sessionId = '', until = '', idleBefore = ''] = names.map((name, at) => conditions[at]?.slice(name.length + 1));
  return { root, terms: { sessionId, until: moment(until), idleBefore: moment(idleBefore) } };
}

const formToken = ({ key }: RootKey, sessionId: string, address: string): Buffer =>
  createHmac('sha256', key).update(`larder console form\n${sessionId}\n${address}`).digest();

function isSame(given: string, expected: Buffer): boolean {
  const bytes = Buffer.from(given, 'base64url');
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}
