// Tokens: the sessions that they begin, and how these end.
import { Refusal } from '#domain/refusal.ts';
import type { Changes } from '#records/index.ts';
import type { NewMacaroon, OwnedMacaroon } from '#records/macaroons.ts';
import { existing, touched, type OfAccount } from './accounts.ts';
import { act, type Doing } from './act.ts';

interface OfSession {
  sessionId: string;
}

const sessionObject = ({ sessionId }: OfSession): string => `session/${sessionId}`;

/** A session that is to begin: what the records keep of it. */
export type NewSession = NewMacaroon;

const ofSession = ({ session }: { session: NewSession }): string => `session/${session.sessionId}`;

export const issueToken = act({
  name: 'token issue',
  summary: 'Issue a token of an account.',
  on: 'session/ID',
  object: ofSession,
  gate: { never: 'the token is shown once, to whoever asks for it' },

  async perform(tx, { session }: { session: NewSession }, doing): Promise<void> {
    doing.note({ account: session.accountId, until: session.validUntil });
    await existing(tx, session.accountId);
    await tx.macaroons.add(session);
    await touchedByOther(tx, session.accountId, doing, 'token issue');
  },
});

export const rotateToken = act({
  name: 'rotate_token',
  summary: 'Issue a token in the place of another one, which ends after a while.',
  on: 'session/ID',
  object: ({ sessionId }: Rotation) => `session/${sessionId}`,
  gate: { never: 'the token is shown once, to whoever asks for it' },

  /** Once for each token, while it is good and its account is let in. */
  async perform(tx, { sessionId, session, moment, endsAt }: Rotation, doing): Promise<void> {
    doing.note({ account: session.accountId, by: session.sessionId, until: session.validUntil, 'ends-at': endsAt });
    const old = await tx.macaroons.find(sessionId);
    const refuse = (why: string): never => {
      throw new Refusal('conflict', `The token of the session ${sessionId} ${why}.`);
    };
    if (old?.accountId !== session.accountId) return refuse('is gone');
    if (old.revokedAt !== null) return refuse(`was revoked at ${old.revokedAt}`);
    if (old.replacedBy !== null) return refuse(`has another one in its place, of the session ${old.replacedBy}`);
    if (old.validUntil <= moment) return refuse(`ended at ${old.validUntil}`);
    if ((await tx.accounts.disabledAt(old.accountId)) !== null) return refuse('is of a disabled account');
    await tx.macaroons.add(session);
    await tx.macaroons.replace(sessionId, session.sessionId, endsAt);
    await touchedByOther(tx, session.accountId, doing, 'rotate_token');
  },
});

/** Records a token that was made for an account by another one. A token of one's own proves nothing new. */
async function touchedByOther(
  tx: Pick<Changes, 'accounts'>,
  id: string,
  doing: Pick<Doing, 'at' | 'actor'>,
  what: string,
): Promise<void> {
  if (doing.actor !== id) await touched(tx, id, doing, what);
}

interface Rotation extends OfSession {
  /** The session of the new token, which is narrowed as the other one is. */
  session: NewSession;
  /** The latest time that the store has seen. */
  moment: string;
  /** When the other one ends. */
  endsAt: string;
}

export const exchangeCredential = act({
  name: 'offline_exchange_macaroon',
  summary: "Exchange the store administrator's credential for a token.",
  on: 'session/ID',
  object: ofSession,
  gate: { never: 'it is what somebody does to his own login' },

  perform: begin,
});

export const beginBrowserSession = act({
  name: 'begin_browser_session',
  summary: 'Begin a session in the console, by whoever has logged in there.',
  on: 'session/ID',
  object: ofSession,
  gate: { never: 'it is what somebody does to his own login' },

  perform: begin,
});

/** Keeps a session that somebody begins who came from an address. */
async function begin(tx: Changes, { session, address }: Begun, { note }: Pick<Doing, 'note'>): Promise<void> {
  note({ address, account: session.accountId, until: session.validUntil });
  await existing(tx, session.accountId);
  await tx.macaroons.add(session);
}

interface Begun {
  session: NewSession;
  address: string;
}

interface ExchangedLogin {
  session: NewSession;
  /** When the login was issued, in milliseconds since the epoch. */
  issued: number;
  /** Who exchanges it; nothing where the login itself is used as a token, and begins its session by that. */
  address: string | undefined;
}

export const exchangeLogin = act({
  name: 'exchange_macaroons',
  summary: 'Begin the session of a login, once the identity provider has said who logged in.',
  on: 'session/ID',
  object: ofSession,
  gate: { never: 'it is what somebody does to his own login' },

  /** Again only for the one who began it, and never after it has been revoked, nor without its root key. */
  async perform(tx, { session, issued, address }: ExchangedLogin, { note }): Promise<void> {
    const { sessionId, accountId, rootKeyId, description, validUntil } = session;
    // What an administrator has ended is not begun again by a login that was kept for later.
    const endedAt = await tx.accounts.tokensEndedAt(accountId);
    if (endedAt !== null && issued < Date.parse(endedAt)) throw notThisAccount();
    const begun = await tx.macaroons.claim(session);
    const how = address === undefined ? { directly: true } : { address };
    note({ ...how, account: accountId, until: validUntil, ...(!begun && { again: true }) });
    const kept = await tx.macaroons.session(sessionId, rootKeyId);
    if (kept?.accountId !== accountId) throw notThisAccount();
    if (!begun && description !== null) await tx.macaroons.describe(sessionId, description);
  },
});

/** Revoked, somebody else's, of an account that is gone or disabled: it is all the same to whoever asks. */
export const notThisAccount = (): Refusal =>
  new Refusal(
    'macaroon-authorization-required',
    'The macaroon has been revoked, or is not of this account; log in again.',
  );

export const revokeOwnToken = act({
  name: 'revoke_macaroon',
  summary: "Revoke one of one's own tokens.",
  on: 'session/ID',
  object: sessionObject,
  gate: { never: 'what somebody gave up may be in wrong hands already' },

  /** `accountId` is the one that revokes it, whose it must be. Revoking twice keeps the first time. */
  async perform(tx, { sessionId, accountId }: OfSession & { accountId: string }, { at }): Promise<void> {
    if (await tx.macaroons.revoke(sessionId, accountId, at)) return;
    throw new Refusal('resource-not-found', `This account has no macaroon with the session-id '${sessionId}'.`);
  },
});

export const revokeToken = act({
  name: 'revoke_token',
  summary: "Revoke one token of anybody's, at once and for good.",
  on: 'session/ID',
  object: sessionObject,
  gate: { never: 'whoever should not have the token is kept out at once' },

  async perform(tx, { sessionId }: OfSession, { at, actor, note }): Promise<OwnedMacaroon> {
    const ended = await tx.macaroons.end(sessionId, { at, by: actor });
    if (ended === undefined) {
      throw new Refusal(
        'resource-not-found',
        `There is no token with the session '${sessionId}'; 'larder token list --ended' lists them.`,
      );
    }
    note({ account: ended.accountId });
    return ended;
  },
});

export const endTokens = act({
  name: 'end_tokens',
  summary: 'End all tokens of an account at once and for good, or those issued before a moment.',
  on: 'account/ID',
  object: ({ id }: OfAccount) => `account/${id}`,
  gate: { never: 'whoever should not have the tokens is kept out at once' },

  /** How many were good until then; `moment` is the latest time that the store has seen. */
  async perform(
    tx,
    { id, moment, issuedBefore }: OfAccount & { moment: string; issuedBefore: string | null },
    { actor, note },
  ): Promise<number> {
    await existing(tx, id);
    const ended = await tx.macaroons.endAll(id, { at: moment, by: actor, issuedBefore });
    note({ ...(issuedBefore !== null && { 'issued-before': issuedBefore }), 'ended-tokens': ended });
    return ended;
  },
});

export const forgetSessions = act({
  name: 'forget_sessions',
  summary: 'Forget sessions that ended long ago.',
  on: 'sessions',
  object: () => 'sessions',
  gate: { never: 'it follows from the time alone' },

  /** Forgets at most so many, which ended before the one time and, where they were revoked, began before the other. */
  async perform(
    tx,
    { endedBefore, begunBefore, most }: { endedBefore: string; begunBefore: string; most: number },
    { note },
  ): Promise<number> {
    const sessions = await tx.macaroons.forgetEnded(endedBefore, begunBefore, most);
    note({ sessions });
    return sessions;
  },
});
