// Tokens: begin and end sessions.
import { Refusal } from '#domain/refusal.ts';
import { findSessionsToEnd, type SessionEndReason, type SessionRules } from '#domain/tokens/session-rules.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { NewMacaroon, OwnedMacaroon } from '#records/tokens/macaroons.ts';
import { requireAccount, markTouched, type AccountTarget } from '../accounts/accounts.ts';
import { act, DoneAlready, itself, type ActContext } from '../act.ts';

interface OfSession {
  sessionId: string;
}

const sessionObject = ({ sessionId }: OfSession): string => `session/${sessionId}`;

/** The record of a session that is about to begin. */
export type NewSession = NewMacaroon;

const ofSession = ({ session }: { session: NewSession }): string => `session/${session.sessionId}`;

export const issueToken = act({
  name: 'issue_token',
  summary: 'Issue a token for an account.',
  on: 'session/ID',
  object: ofSession,
  gate: { never: 'the token is shown once, to the caller' },

  async perform(tx, { session }: { session: NewSession }, doing): Promise<void> {
    doing.note({ account: session.accountId, until: session.validUntil });
    await requireAccount(tx, session.accountId);
    await tx.macaroons.add(session);
    await touchedByOther(tx, session.accountId, doing);
  },
});

export const rotateToken = act({
  name: 'rotate_token',
  summary: 'Replace a token with a new one; the old one ends after a grace period.',
  on: 'session/ID',
  object: ({ sessionId }: Rotation) => `session/${sessionId}`,
  gate: { never: 'the token is shown once, to the caller' },

  /** Works once per token, while the token is valid and its account is enabled. */
  async perform(tx, { sessionId, session, moment, endsAt }: Rotation, doing): Promise<void> {
    doing.note({ account: session.accountId, by: session.sessionId, until: session.validUntil, 'ends-at': endsAt });
    const old = await tx.macaroons.find(sessionId);
    const refuse = (reason: string): never => {
      throw new Refusal('conflict', `The token of the session ${sessionId} ${reason}.`);
    };
    if (old?.accountId !== session.accountId) return refuse('is gone');
    if (old.revokedAt !== null) return refuse(`was revoked at ${old.revokedAt}`);
    if (old.replacedBy !== null) return refuse(`was already replaced by that of the session ${old.replacedBy}`);
    if (old.validUntil <= moment) return refuse(`ended at ${old.validUntil}`);
    if ((await tx.accounts.disabledAt(old.accountId)) !== null) return refuse('belongs to a disabled account');
    await tx.macaroons.add(session);
    await tx.macaroons.replace(sessionId, session.sessionId, endsAt);
    await touchedByOther(tx, session.accountId, doing);
  },
});

/**
 * Records a change of an account if another account issued the token. A token for the caller's own account needs no
 * record.
 */
async function touchedByOther(
  tx: Pick<ChangeRecords, 'accounts'>,
  id: string,
  doing: Pick<ActContext, 'at' | 'actor' | 'action'>,
): Promise<void> {
  if (doing.actor !== id) await markTouched(tx, id, doing);
}

interface Rotation extends OfSession {
  /** The session of the new token, which has the same restrictions as the old one. */
  session: NewSession;
  /** The latest time that the store has seen. */
  moment: string;
  /** When the old token expires. */
  endsAt: string;
}

export const exchangeCredential = act({
  name: 'exchange_admin_credential',
  summary: "Exchange the store administrator's credential for a token.",
  on: 'session/ID',
  object: ofSession,
  gate: { never: 'it changes only the login of the same account' },

  perform: begin,
});

export const beginBrowserSession = act({
  name: 'begin_browser_session',
  summary: 'Begin a session in the console after a login.',
  on: 'session/ID',
  object: ofSession,
  gate: { never: 'it changes only the login of the same account' },

  /** Ends other sessions of the account, the longest unused first, if it would have more than the rules allow. */
  async perform(tx, { rules, ...begun }: Begun & { rules: SessionRules }, doing): Promise<void> {
    const { accountId, validSince } = begun.session;
    const others = await tx.macaroons.consoleSessions(accountId, validSince);
    const maxOthers = rules.maxPerAccount === undefined ? undefined : rules.maxPerAccount - 1;
    const ended = findSessionsToEnd(others, { ...rules, maxPerAccount: maxOthers }, new Date(validSince));
    for (const { sessionId } of ended) await tx.macaroons.end(sessionId, { at: doing.at, actor: itself.actor });
    if (ended.length > 0) doing.note({ 'ended-sessions': ended.map(({ sessionId }) => sessionId) });
    await begin(tx, begun, doing);
  },
});

export const expireBrowserSession = act({
  name: 'expire_browser_session',
  summary: 'End a session in the console by the rules of the configuration.',
  on: 'session/ID',
  object: sessionObject,
  gate: { never: 'it follows from the rules for sessions' },

  async perform(
    tx,
    { sessionId, reason }: OfSession & { reason: SessionEndReason },
    { at, actor, note },
  ): Promise<void> {
    if ((await tx.macaroons.find(sessionId))?.revokedAt !== null) throw new DoneAlready(undefined);
    const ended = await tx.macaroons.end(sessionId, { at, actor });
    note({ account: ended?.accountId, reason });
  },
});

/** Stores a session, with the address of the client. */
async function begin(
  tx: ChangeRecords,
  { session, address }: Begun,
  { note }: Pick<ActContext, 'note'>,
): Promise<void> {
  note({ address, account: session.accountId, until: session.validUntil });
  await requireAccount(tx, session.accountId);
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
  /** The address of the client; undefined if the login itself is used as a token and so begins its session. */
  address: string | undefined;
}

export const exchangeLogin = act({
  name: 'exchange_macaroons',
  summary: 'Begin a session after the identity provider has confirmed a login.',
  on: 'session/ID',
  object: ofSession,
  gate: { never: 'it changes only the login of the same account' },

  /**
   * A client can repeat the exchange, for example after a lost response. A repetition is refused if the session belongs to another account,
   * is revoked, or has lost its root key.
   */
  async perform(tx, { session, issued, address }: ExchangedLogin, { note }): Promise<void> {
    const { sessionId, accountId, rootKeyId, description, validUntil } = session;
    // A login that was saved before an administrator ended the account's sessions cannot begin a session.
    const endedAt = await tx.accounts.tokensEndedAt(accountId);
    if (endedAt !== null && issued < Date.parse(endedAt)) throw notThisAccount();
    const begun = await tx.macaroons.claim(session);
    const how = address === undefined ? { directly: true } : { address };
    note({ ...how, account: accountId, until: validUntil, ...(!begun && { again: true }) });
    const stored = await tx.macaroons.session(sessionId, rootKeyId);
    if (stored?.accountId !== accountId) throw notThisAccount();
    if (!begun && description !== null) await tx.macaroons.describe(sessionId, description);
  },
});

/**
 * The refusal for a revoked token, a token of another account, and a deleted or disabled account. It is the same for all of them, so that
 * the caller does not learn which it was.
 */
export const notThisAccount = (): Refusal =>
  new Refusal(
    'macaroon-authorization-required',
    'The macaroon has been revoked or belongs to another account. Log in again.',
  );

export const revokeOwnToken = act({
  name: 'revoke_macaroon',
  summary: 'Revoke one of your own tokens.',
  on: 'session/ID',
  object: sessionObject,
  gate: { never: 'a token in the wrong hands must stop working at once' },

  /** `accountId` is the caller, who must own the token. A second revocation keeps the time of the first. */
  async perform(tx, { sessionId, accountId }: OfSession & { accountId: string }, { at }): Promise<void> {
    if (await tx.macaroons.revoke(sessionId, accountId, at)) return;
    throw new Refusal('resource-not-found', `This account has no macaroon with the session-id '${sessionId}'.`);
  },
});

export const revokeToken = act({
  name: 'revoke_token',
  summary: 'Revoke one token of any account, at once and for good.',
  on: 'session/ID',
  object: sessionObject,
  gate: { never: 'a token in the wrong hands must stop working at once' },

  async perform(tx, { sessionId }: OfSession, { at, actor, note }): Promise<OwnedMacaroon> {
    const ended = await tx.macaroons.end(sessionId, { at, actor });
    if (ended === undefined) {
      throw new Refusal(
        'resource-not-found',
        `There is no token with the session '${sessionId}'. List the tokens with 'larder token list --ended'.`,
      );
    }
    note({ account: ended.accountId });
    return ended;
  },
});

export const endTokens = act({
  name: 'end_tokens',
  summary: 'End all tokens of an account at once and for good, or only those issued before a given time.',
  on: 'account/ID',
  object: ({ id }: AccountTarget) => `account/${id}`,
  gate: { never: 'tokens in the wrong hands must stop working at once' },

  /** Returns how many valid tokens it ended. `moment` is the latest time that the store has seen. */
  async perform(
    tx,
    { id, moment, issuedBefore }: AccountTarget & { moment: string; issuedBefore: string | null },
    { actor, note },
  ): Promise<number> {
    await requireAccount(tx, id);
    const ended = await tx.macaroons.endAll(id, { at: moment, actor, issuedBefore });
    note({ ...(issuedBefore !== null && { 'issued-before': issuedBefore }), 'ended-tokens': ended });
    return ended;
  },
});

export const sweepSessions = act({
  name: 'sweep_sessions',
  summary: 'Delete sessions that ended long ago.',
  on: 'sessions',
  object: () => 'sessions',
  gate: { never: 'it follows from the time alone' },

  /**
   * Removes at most `maxSessions` sessions that ended before `endedBefore` and, if they were revoked, began before
   * `begunBefore`.
   */
  async perform(
    tx,
    { endedBefore, begunBefore, maxSessions }: { endedBefore: string; begunBefore: string; maxSessions: number },
    { note },
  ): Promise<number> {
    const sessions = await tx.macaroons.forgetEnded(endedBefore, begunBefore, maxSessions);
    note({ sessions });
    return sessions;
  },
});
