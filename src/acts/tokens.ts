// Tokens: the sessions that they begin, and how these end.
import { Refusal } from '#domain/refusal.ts';
import type { OwnedMacaroon } from '#records/macaroons.ts';
import { existing, type OfAccount } from './accounts.ts';
import { act } from './act.ts';

interface OfSession {
  sessionId: string;
}

const sessionObject = <Input extends OfSession>({ sessionId }: Input): string => `session/${sessionId}`;

export const revokeOwnToken = act({
  name: 'revoke_macaroon',
  summary: "Revoke one of one's own tokens.",
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
  object: ({ id }: OfAccount & { moment: string; issuedBefore: string | null }) => `account/${id}`,
  gate: { never: 'whoever should not have the tokens is kept out at once' },

  /** How many were good until then; `moment` is the latest time that the store has seen. */
  async perform(tx, { id, moment, issuedBefore }, { actor, note }): Promise<number> {
    await existing(tx, id);
    const ended = await tx.macaroons.endAll(id, { at: moment, by: actor, issuedBefore });
    note({ ...(issuedBefore !== null && { 'issued-before': issuedBefore }), 'ended-tokens': ended });
    return ended;
  },
});

export const forgetSessions = act({
  name: 'forget_sessions',
  summary: 'Forget sessions that ended long ago.',
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
