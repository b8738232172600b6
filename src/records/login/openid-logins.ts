// Logins with the OpenID provider: the last confirmation of each account, the sessions, and values that are accepted once. Ephemeral.
import { columns, sql, type Queries, type ReadQueries } from '#engine/database.ts';

/** When the provider last confirmed an account. */
export interface OpenidConfirmation {
  accountId: string;
  /** Sealed; null if the provider issued none. */
  refreshToken: string | null;
  confirmedAt: string;
  endsAt: string;
}

export type RefreshableConfirmation = OpenidConfirmation & { refreshToken: string };

/** The result of asking the provider again; `unreadable` if its response cannot be trusted or understood. */
export type RenewalOutcome = 'confirmed' | 'ended' | 'unavailable' | 'unreadable';

/** A session of a browser that began with a login at the provider. */
export interface OpenidSession {
  sessionId: string;
  accountId: string;
  /** The id of the login at the provider (`sid`); null if it gives none. */
  providerId: string | null;
  endsAt: string;
}

const confirmationColumns = columns`
  account_id AS "accountId", refresh_token AS "refreshToken", confirmed_at AS "confirmedAt", ends_at AS "endsAt"`;

export const openidLogins = (db: ReadQueries) => ({
  confirmation: (accountId: string) =>
    db.get<OpenidConfirmation>(sql`
      SELECT ${confirmationColumns} FROM passing_openid_confirmations WHERE account_id = ${accountId}`),

  /** Lists the confirmations that can be refreshed and are from `confirmedBy` or before, oldest first. */
  due: (confirmedBy: string, limit: number) =>
    db.all<RefreshableConfirmation>(sql`
      SELECT ${confirmationColumns} FROM passing_openid_confirmations
      WHERE confirmed_at <= ${confirmedBy} AND refresh_token IS NOT NULL ORDER BY confirmed_at LIMIT ${limit}`),

  /** Lists the sessions of an account. */
  sessionsOf: async (accountId: string): Promise<string[]> =>
    (
      await db.all<{ sessionId: string }>(sql`
        SELECT session_id AS "sessionId" FROM passing_openid_sessions
        WHERE account_id = ${accountId} ORDER BY session_id`)
    ).map(({ sessionId }) => sessionId),

  /** Lists the sessions that began with a login at the provider, by its id there. */
  sessionsOfLogin: (providerId: string) =>
    db.all<Pick<OpenidSession, 'sessionId' | 'accountId'>>(sql`
      SELECT session_id AS "sessionId", account_id AS "accountId" FROM passing_openid_sessions
      WHERE provider_id = ${providerId} ORDER BY session_id`),
});

export const ephemeralOpenidLogins = (db: Queries) => ({
  ...openidLogins(db),

  confirm: ({ accountId, refreshToken, confirmedAt, endsAt }: OpenidConfirmation) =>
    db.run(sql`
      INSERT INTO passing_openid_confirmations (account_id, refresh_token, confirmed_at, ends_at)
      VALUES (${accountId}, ${refreshToken}, ${confirmedAt}, ${endsAt})
      ON CONFLICT (account_id) DO UPDATE SET
        refresh_token = excluded.refresh_token, confirmed_at = excluded.confirmed_at, ends_at = excluded.ends_at`),

  /** Removes a confirmation, unless a later login has replaced it. */
  endConfirmation: ({ accountId, confirmedAt }: Pick<OpenidConfirmation, 'accountId' | 'confirmedAt'>) =>
    db.run(sql`
      DELETE FROM passing_openid_confirmations WHERE account_id = ${accountId} AND confirmed_at = ${confirmedAt}`),

  addSession: ({ sessionId, accountId, providerId, endsAt }: OpenidSession) =>
    db.run(sql`
      INSERT INTO passing_openid_sessions (session_id, account_id, provider_id, ends_at)
      VALUES (${sessionId}, ${accountId}, ${providerId}, ${endsAt})`),

  /** Records the use of a value by its digest. Returns false if it was used before. */
  use: async (digest: string, endsAt: string) =>
    0 <
    (await db.run(sql`
      INSERT INTO passing_used_values (digest, ends_at) VALUES (${digest}, ${endsAt}) ON CONFLICT DO NOTHING`)),

  sweep: async (now: string) =>
    (await db.run(sql`DELETE FROM passing_openid_confirmations WHERE ends_at <= ${now}`)) +
    (await db.run(sql`DELETE FROM passing_openid_sessions WHERE ends_at <= ${now}`)) +
    (await db.run(sql`DELETE FROM passing_used_values WHERE ends_at <= ${now}`)),
});
