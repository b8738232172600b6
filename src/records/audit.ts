// The audit log: who did what, in a chain of hashes that shows any later change.
import { hash } from 'node:crypto';

import { sql, type Queries } from './database.ts';

/** What a change says of itself. */
export interface AuditEntry {
  /** When, RFC 3339. */
  at: string;
  /** An account id, or `cli:<user>` for a command on the host, or `larder` for its own doing. */
  actor: string;
  sessionId?: string | null;
  /** The operation or command, such as `register_name`. */
  action: string;
  /** What it was done to, such as `snap/hello`. */
  object: string;
  requestId?: string | null;
  details?: Record<string, unknown>;
}

export interface AuditRow {
  seq: number;
  at: string;
  actor: string;
  sessionId: string | null;
  action: string;
  object: string;
  requestId: string | null;
  details: string;
  previous: string;
  hash: string;
}

/** What stands before the first row. */
const beginning = '0'.repeat(64);

/** The hash of a row: SHA-256 over the previous hash and the row's members in this order, as JSON. */
export const auditHash = (row: Omit<AuditRow, 'hash'>): string =>
  hash(
    'sha256',
    JSON.stringify([
      row.previous,
      row.seq,
      row.at,
      row.actor,
      row.sessionId,
      row.action,
      row.object,
      row.requestId,
      row.details,
    ]),
  );

export const audit = (db: Pick<Queries, 'get' | 'all'>) => ({
  head: () => db.get<{ seq: number; hash: string }>(sql`SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1`),

  /** The rows after a number, oldest first. */
  list: (after: number, limit: number) =>
    db.all<AuditRow>(sql`
      SELECT seq, at, actor, session_id AS "sessionId", action, object, request_id AS "requestId", details, previous, hash
      FROM audit WHERE seq > ${after} ORDER BY seq LIMIT ${limit}`),
});

/** Appends an entry to the chain, within the transaction of the change that it tells of. */
export async function appendAudit(db: Queries, entry: AuditEntry): Promise<void> {
  const head = await audit(db).head();
  const row = {
    seq: (head?.seq ?? 0) + 1,
    at: entry.at,
    actor: entry.actor,
    sessionId: entry.sessionId ?? null,
    action: entry.action,
    object: entry.object,
    requestId: entry.requestId ?? null,
    details: JSON.stringify(entry.details ?? {}),
    previous: head?.hash ?? beginning,
  };
  await db.run(sql`
    INSERT INTO audit (seq, at, actor, session_id, action, object, request_id, details, previous, hash)
    VALUES (${row.seq}, ${row.at}, ${row.actor}, ${row.sessionId}, ${row.action}, ${row.object}, ${row.requestId},
      ${row.details}, ${row.previous}, ${auditHash(row)})`);
}
