// Sessions of the console that began with a client certificate, to check the certificates again. Ephemeral.
import { columns, sql, type Queries, type ReadQueries } from '#engine/database.ts';

export interface CertificateSession {
  sessionId: string;
  accountId: string;
  /** DER in base64. */
  certificate: string;
  confirmedAt: string;
  endsAt: string;
}

const sessionColumns = columns`
  session_id AS "sessionId", account_id AS "accountId", certificate, confirmed_at AS "confirmedAt", ends_at AS "endsAt"`;

export const certificateSessions = (db: ReadQueries) => ({
  /** Lists the sessions with certificates last confirmed at `confirmedBy` or before, oldest first. */
  due: (confirmedBy: string, limit: number) =>
    db.all<CertificateSession>(sql`
      SELECT ${sessionColumns} FROM passing_certificate_sessions
      WHERE confirmed_at <= ${confirmedBy} ORDER BY confirmed_at LIMIT ${limit}`),
});

export const ephemeralCertificateSessions = (db: Queries) => ({
  ...certificateSessions(db),

  add: ({ sessionId, accountId, certificate, confirmedAt, endsAt }: CertificateSession) =>
    db.run(sql`
      INSERT INTO passing_certificate_sessions (session_id, account_id, certificate, confirmed_at, ends_at)
      VALUES (${sessionId}, ${accountId}, ${certificate}, ${confirmedAt}, ${endsAt})`),

  confirm: (sessionId: string, confirmedAt: string) =>
    db.run(sql`
      UPDATE passing_certificate_sessions SET confirmed_at = ${confirmedAt} WHERE session_id = ${sessionId}`),

  remove: (sessionId: string) => db.run(sql`DELETE FROM passing_certificate_sessions WHERE session_id = ${sessionId}`),

  sweep: (now: string) => db.run(sql`DELETE FROM passing_certificate_sessions WHERE ends_at <= ${now}`),
});
