// The audit log: who did what, in a chain of hashes that shows any later change.
import { hash } from 'node:crypto';

import {
  endMac,
  isEnd,
  keptIn,
  sealHead,
  type AuditHead,
  type AuditSeal,
  type EarlySeal,
  type NewestSeal,
  type Occasion,
  type Sealing,
} from './audit-seals.ts';
import { columns, sql, type Queries } from '#engine/database.ts';

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
  /** `done` unless said otherwise; `refused` where somebody was kept out, which changes nothing but this log. */
  outcome?: Outcome;
}

export type Outcome = 'done' | 'refused';

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
  /** Nothing in rows of the first release, which tell of what was done. */
  outcome: Outcome | null;
}

/** Of which rows somebody wants to know; what is left out narrows nothing. */
export interface AuditWanted {
  actor?: string | undefined;
  action?: string | undefined;
  object?: string | undefined;
}

/** The rows between two numbers, without these. */
export interface AuditSpan {
  after: number;
  before: number;
}

/** What a row tells to those who follow the log. */
export type Done = Pick<AuditRow, 'seq' | 'at' | 'action' | 'object' | 'outcome'>;

/** How the log stands. */
export interface Standing {
  /** Its last row. */
  head: (AuditHead & { at: string }) | undefined;
  /** Where it ended when it was last written, and the code under which that stands. */
  end: (AuditHead & { mac: string | null }) | undefined;
  newest: NewestSeal | undefined;
}

/** Of each that is not there everything is null. */
interface StandingRow {
  seq: number | null;
  hash: string;
  at: string;
  endSeq: number | null;
  endHash: string;
  endMac: string | null;
  sealNumber: number | null;
  sealSeq: number;
  sealAt: string;
  sealMac: string;
}

/** What stands before the first row. */
export const beginning = '0'.repeat(64);

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
      ...(row.outcome === null ? [] : [row.outcome]),
    ]),
  );

const auditColumns = columns`
  seq, at, actor, session_id AS "sessionId", action, object, request_id AS "requestId", details, previous, hash,
  outcome`;

export const audit = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Where the log ended when it was last written, whatever is there now, and the code under which that stands. */
  end: () =>
    db.get<AuditHead & { mac: string | null }>(sql`
      SELECT version AS seq, hash, mac FROM noun_versions WHERE noun = 'audit' AND hash IS NOT NULL`),

  /** The seals of the first release after a number, oldest first. */
  earlySeals: (after: number, limit: number) =>
    db.all<EarlySeal>(sql`SELECT seq, hash, at, mac FROM audit_seals WHERE seq > ${after} ORDER BY seq LIMIT ${limit}`),

  head: () => db.get<AuditHead & { at: string }>(sql`SELECT seq, hash, at FROM audit ORDER BY seq DESC LIMIT 1`),

  /** What each change asks before it is told there, by one statement. */
  async standing(): Promise<Standing> {
    const row = (await db.get<StandingRow>(sql`
      SELECT audit.seq, audit.hash, audit.at, written.version AS "endSeq", written.hash AS "endHash", written.mac AS "endMac",
        seal.number AS "sealNumber", seal.seq AS "sealSeq", seal.at AS "sealAt", seal.mac AS "sealMac"
      FROM (SELECT 1 AS one) AS store
      LEFT JOIN audit ON audit.seq = (SELECT max(seq) FROM audit)
      LEFT JOIN noun_versions AS written ON written.noun = 'audit' AND written.hash IS NOT NULL
      LEFT JOIN audit_seal_chain AS seal ON seal.number = (SELECT max(number) FROM audit_seal_chain)`))!;
    const { seq, endSeq, sealNumber } = row;
    return {
      head: seq === null ? undefined : { seq, hash: row.hash, at: row.at },
      end: endSeq === null ? undefined : { seq: endSeq, hash: row.endHash, mac: row.endMac },
      newest:
        sealNumber === null ? undefined : { number: sealNumber, seq: row.sealSeq, at: row.sealAt, mac: row.sealMac },
    };
  },

  /** The rows before a number, newest first. */
  newest: (before: number, limit: number) =>
    db.all<AuditRow>(sql`
      SELECT ${auditColumns}
      FROM audit WHERE seq < ${before} ORDER BY seq DESC LIMIT ${limit}`),

  /**
   * Of the rows between two numbers those that are wanted, newest first. All of these are looked at, so the caller keeps the
   * two close: 100,000 take 13 ms.
   */
  wanted: ({ actor, action, object }: AuditWanted, { after, before }: AuditSpan, limit: number) =>
    db.all<AuditRow>(sql`
      SELECT ${auditColumns}
      FROM audit
      WHERE seq > ${after} AND seq < ${before}
        AND (${actor ?? null} IS NULL OR actor = ${actor ?? null})
        AND (${action ?? null} IS NULL OR action = ${action ?? null})
        AND (${object ?? null} IS NULL OR object = ${object ?? null})
      ORDER BY seq DESC LIMIT ${limit}`),

  /** The same, oldest first. */
  wantedOldest: ({ actor, action, object }: AuditWanted, { after, before }: AuditSpan, limit: number) =>
    db.all<AuditRow>(sql`
      SELECT ${auditColumns}
      FROM audit
      WHERE seq > ${after} AND seq < ${before}
        AND (${actor ?? null} IS NULL OR actor = ${actor ?? null})
        AND (${action ?? null} IS NULL OR action = ${action ?? null})
        AND (${object ?? null} IS NULL OR object = ${object ?? null})
      ORDER BY seq LIMIT ${limit}`),

  /** When a row was written; undefined when there is none of that number. */
  writtenAt: async (seq: number) => (await db.get<{ at: string }>(sql`SELECT at FROM audit WHERE seq = ${seq}`))?.at,

  /** The newest row of an action. */
  newestOf: (action: string) =>
    db.get<{ seq: number; at: string }>(
      sql`SELECT seq, at FROM audit WHERE action = ${action} ORDER BY seq DESC LIMIT 1`,
    ),

  /** The backups after a row that were made or failed, oldest first; `details` is JSON. */
  backupsAfter: (seq: number) =>
    db.all<{ seq: number; at: string; action: 'backup' | 'backup-failed'; details: string }>(sql`
      SELECT seq, at, action, details FROM audit
      WHERE seq > ${seq} AND action IN ('backup', 'backup-failed') ORDER BY seq`),

  /** What was done after a number, oldest first, without by whom; what was refused is among it. */
  done: (after: number, limit: number) =>
    db.all<Done>(sql`
      SELECT seq, at, action, object, outcome FROM audit WHERE seq > ${after} ORDER BY seq LIMIT ${limit}`),

  /** The rows after a number, oldest first. */
  list: (after: number, limit: number) =>
    db.all<AuditRow>(sql`
      SELECT ${auditColumns}
      FROM audit WHERE seq > ${after} ORDER BY seq LIMIT ${limit}`),
});

/**
 * Appends an entry to the chain, within the transaction of the change that it tells of; the seal that this came to, if
 * any, is to be kept in the file once the transaction is on disk.
 */
export async function appendAudit(
  db: Queries,
  entry: AuditEntry,
  sealing?: Sealing,
  occasion: Occasion = {},
): Promise<AuditSeal | undefined> {
  const standing = await audit(db).standing();
  const { head } = standing;
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
    outcome: entry.outcome ?? ('done' as const),
  };
  const written = { seq: row.seq, hash: auditHash(row), at: row.at };
  const isWhole = sealing && (occasion.anew !== undefined || endsAsWritten(sealing, standing));
  await db.run(sql`
    INSERT INTO audit (seq, at, actor, session_id, action, object, request_id, details, previous, hash, outcome)
    VALUES (${row.seq}, ${row.at}, ${row.actor}, ${row.sessionId}, ${row.action}, ${row.object}, ${row.requestId},
      ${row.details}, ${row.previous}, ${written.hash}, ${row.outcome})`);
  if (sealing === undefined) return undefined;
  // An end without a code stays without: what is appended to a log that somebody has cut does not make it whole.
  if (isWhole !== true) {
    sealing.report(`the audit log did not end as larder had written it when row ${String(row.seq)} was appended`);
    return undefined;
  }
  await db.run(sql`UPDATE noun_versions SET mac = ${endMac(sealing.siteKey, written)} WHERE noun = 'audit'`);
  return sealHead(db, sealing, written, standing.newest, occasion);
}

/** Seals the last row, when it is the one that larder has written last and is not sealed yet. */
export async function sealEnd(db: Queries, sealing: Sealing): Promise<AuditSeal | undefined> {
  const standing = await audit(db).standing();
  const { head } = standing;
  if (head === undefined) return undefined;
  if (!endsAsWritten(sealing, standing)) {
    sealing.report(`the audit log does not end with row ${String(head.seq)} as larder had written it`);
    return undefined;
  }
  await db.run(sql`UPDATE noun_versions SET mac = ${endMac(sealing.siteKey, head)} WHERE noun = 'audit'`);
  return sealHead(db, sealing, head, standing.newest, { now: true });
}

/** Whether the last row is the one that larder has written last. */
function endsAsWritten(sealing: Sealing, { head, end, newest }: Standing): boolean {
  if (end === undefined) return head === undefined;
  if (isEnd(sealing.siteKey, end)) return head?.seq === end.seq && head.hash === end.hash;
  // Data of the first release has an end without a code, and nothing of it is sealed in the chain yet.
  if (newest !== undefined) return false;
  const kept = keptIn(sealing.file, sealing.siteKey);
  return typeof kept === 'object' && kept.number === 0;
}
