// The audit log: one row per act, in a chain of hashes that shows any later change.
import { computeDigest } from '#domain/cryptography.ts';
import {
  endMac,
  isEnd,
  readSealFile,
  sealHead,
  type AuditHead,
  type AuditSeal,
  type EarlySeal,
  type NewestSeal,
  type SealOccasion,
  type Sealing,
} from './audit-seals.ts';
import { columns, list, sql, type CommitState, type Queries } from '#engine/database.ts';

/** The entry of a change. */
export interface AuditEntry {
  /** When, RFC 3339. */
  at: string;
  /** An account id, `cli:<user>` for a command on the host, or `larder` for its own acts. */
  actor: string;
  sessionId?: string | null;
  /** The name of the act, such as `register_name`. */
  action: string;
  /** The object of the act, such as `snap/hello`. */
  object: string;
  requestId?: string | null;
  details?: Record<string, unknown>;
  /** `done` by default. `refused` records a refused attempt, which changes nothing but this log. */
  outcome?: AuditOutcome;
}

export type AuditOutcome = 'done' | 'refused';

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
  /** Null in rows of the first release, which recorded only completed acts. */
  outcome: AuditOutcome | null;
}

/** Filters for rows. A filter that is left out matches all rows. */
export interface AuditFilter {
  actor?: string | undefined;
  /** Any of these words. */
  actions?: readonly string[] | undefined;
  object?: string | undefined;
}

/** The rows between two numbers, exclusive. */
export interface AuditSpan {
  after: number;
  before: number;
}

/** The members of a row in the change feed. */
export type ChangeFeedEntry = Pick<AuditRow, 'seq' | 'at' | 'action' | 'object' | 'outcome'>;

/** The state of the log. */
export interface AuditState {
  /** Its last row. */
  head: (AuditHead & { at: string }) | undefined;
  /** The last row that larder wrote, as recorded outside the log, with its code. If it differs from `head`, the log was changed. */
  end: (AuditHead & { mac: string | null }) | undefined;
  newest: NewestSeal | undefined;
}

/** If a part is missing, all its columns are null. */
interface AuditStateRow {
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

/** The hash before the first row. */
export const beginning = '0'.repeat(64);

/** Returns the hash of a row: SHA-256 over the previous hash and the row's members in this order, as JSON. */
export const auditHash = (row: Omit<AuditRow, 'hash'>): string =>
  computeDigest(
    'audit chain',
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
  /** Returns the end of the log as it was last written, with its code, whether or not the row still exists. */
  end: () =>
    db.get<AuditHead & { mac: string | null }>(sql`
      SELECT version AS seq, hash, mac FROM noun_versions WHERE noun = 'audit' AND hash IS NOT NULL`),

  /** Lists the seals of the first release after a number, oldest first. */
  earlySeals: (after: number, limit: number) =>
    db.all<EarlySeal>(sql`SELECT seq, hash, at, mac FROM audit_seals WHERE seq > ${after} ORDER BY seq LIMIT ${limit}`),

  head: () => db.get<AuditHead & { at: string }>(sql`SELECT seq, hash, at FROM audit ORDER BY seq DESC LIMIT 1`),

  /** Reads in one statement everything that a change needs before it appends its entry. */
  async standing(): Promise<AuditState> {
    const row = (await db.get<AuditStateRow>(sql`
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

  /** Lists the rows before a number, newest first. */
  newest: (before: number, limit: number) =>
    db.all<AuditRow>(sql`
      SELECT ${auditColumns}
      FROM audit WHERE seq < ${before} ORDER BY seq DESC LIMIT ${limit}`),

  /**
   * Lists the matching rows between two numbers, newest first. It scans the whole span, so keep the span small: 100,000 rows take 13 ms.
   */
  search: ({ actor, actions, object }: AuditFilter, { after, before }: AuditSpan, limit: number) =>
    db.all<AuditRow>(sql`
      SELECT ${auditColumns}
      FROM audit
      WHERE seq > ${after} AND seq < ${before}
        AND (${actor ?? null} IS NULL OR actor = ${actor ?? null})
        AND (${actions === undefined ? 1 : 0} = 1 OR action IN ${list(actions ?? [])})
        AND (${object ?? null} IS NULL OR object = ${object ?? null})
      ORDER BY seq DESC LIMIT ${limit}`),

  /** Lists the rows that match the filter, oldest first. */
  searchOldest: ({ actor, actions, object }: AuditFilter, { after, before }: AuditSpan, limit: number) =>
    db.all<AuditRow>(sql`
      SELECT ${auditColumns}
      FROM audit
      WHERE seq > ${after} AND seq < ${before}
        AND (${actor ?? null} IS NULL OR actor = ${actor ?? null})
        AND (${actions === undefined ? 1 : 0} = 1 OR action IN ${list(actions ?? [])})
        AND (${object ?? null} IS NULL OR object = ${object ?? null})
      ORDER BY seq LIMIT ${limit}`),

  /** Returns when a row was written; undefined if there is no row of that number. */
  writtenAt: async (seq: number) => (await db.get<{ at: string }>(sql`SELECT at FROM audit WHERE seq = ${seq}`))?.at,

  /** Lists the rows with any of these words after a row, oldest first; `details` is JSON. */
  withWords: (actions: readonly string[], seq: number) =>
    db.all<Pick<AuditRow, 'seq' | 'at' | 'action' | 'details'>>(sql`
      SELECT seq, at, action, details FROM audit WHERE seq > ${seq} AND action IN ${list(actions)} ORDER BY seq`),

  /** Lists the change feed after a number, oldest first, without actors. It includes refused attempts. */
  done: (after: number, limit: number) =>
    db.all<ChangeFeedEntry>(sql`
      SELECT seq, at, action, object, outcome FROM audit WHERE seq > ${after} ORDER BY seq LIMIT ${limit}`),

  /** Lists the rows after a number, oldest first. */
  list: (after: number, limit: number) =>
    db.all<AuditRow>(sql`
      SELECT ${auditColumns}
      FROM audit WHERE seq > ${after} ORDER BY seq LIMIT ${limit}`),
});

/** The parts that writing to the log needs: the queries of a change, and the state that it shares with the changes of the same commit. */
interface AuditWriter {
  db: Queries;
  commit: CommitState;
  sealing?: Sealing | undefined;
}

/** The end of the log within a commit. */
interface PendingEnd {
  head: (AuditHead & { at: string }) | undefined;
  newest: NewestSeal | undefined;
  /** Whether the log ended as larder had written it. If not, its end gets no code: appending a row must not make a cut log look intact. */
  isWhole: boolean;
}

/**
 * Appends an entry to the chain in the transaction of its change. If that creates a seal, the caller writes the returned seal to the file
 * after the commit. The end of the log is read, verified and given its code once for all changes of a commit: a tenth of the processor time
 * of 32 acts that wait together (`npm run bench -- writes`).
 */
export async function appendAudit(
  writer: AuditWriter,
  entry: AuditEntry,
  {
    occasion = {},
    end = pendingEnd(writer, occasion),
  }: {
    occasion?: SealOccasion;
    end?: Promise<PendingEnd>;
  } = {},
): Promise<AuditSeal | undefined> {
  const { db, sealing } = writer;
  const { head, newest, isWhole } = await end;
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
  await db.write(sql`
    INSERT INTO audit (seq, at, actor, session_id, action, object, request_id, details, previous, hash, outcome)
    VALUES (${row.seq}, ${row.at}, ${row.actor}, ${row.sessionId}, ${row.action}, ${row.object}, ${row.requestId},
      ${row.details}, ${row.previous}, ${written.hash}, ${row.outcome})`);
  if (sealing !== undefined && !isWhole)
    sealing.report(`the audit log did not end as larder had written it when row ${String(row.seq)} was appended`);
  return leaveEnd(writer, { head: written, newest, isWhole }, occasion);
}

/** Begins to read the end of the log before the change, so that a server answers it together with the first query of the change. */
export function readAuditEnd(writer: AuditWriter, occasion: SealOccasion): Promise<PendingEnd> {
  const end = pendingEnd(writer, occasion);
  // The change may fail first.
  end.catch(() => undefined);
  return end;
}

/** Seals the last row, if it is not sealed yet. Reports a problem instead if it is not the last row that larder wrote. */
export async function sealEnd(writer: AuditWriter & { sealing: Sealing }): Promise<AuditSeal | undefined> {
  const end = await pendingEnd(writer, {});
  if (end.head === undefined) return undefined;
  if (!end.isWhole)
    writer.sealing.report(`the audit log does not end with row ${String(end.head.seq)} as larder had written it`);
  return leaveEnd(writer, { ...end, head: end.head }, { now: true });
}

/** Returns the end of the log as the change before in the same commit left it, or as the last commit wrote it. */
async function pendingEnd({ db, commit, sealing }: AuditWriter, { restart }: SealOccasion): Promise<PendingEnd> {
  const pending = commit.current() as PendingEnd | undefined;
  if (pending !== undefined) return { ...pending, isWhole: pending.isWhole || restart !== undefined };
  const standing = await audit(db).standing();
  const { head, newest } = standing;
  return {
    head,
    newest,
    isWhole: restart !== undefined || (sealing !== undefined && endsAsWritten(sealing, standing)),
  };
}

/** Leaves the end of the log to the next change of the commit. Seals it, if a seal is due. */
async function leaveEnd(
  { db, commit, sealing }: AuditWriter,
  end: PendingEnd & { head: AuditHead & { at: string } },
  occasion: SealOccasion,
): Promise<AuditSeal | undefined> {
  const { head, newest, isWhole } = end;
  const seal = sealing && isWhole ? await sealHead(db, sealing, head, newest, occasion) : undefined;
  commit.leave({ ...end, newest: seal ?? newest }, async (queries) => {
    if (sealing === undefined || !isWhole) return;
    await queries.write(sql`UPDATE noun_versions SET mac = ${endMac(sealing.siteKey, head)} WHERE noun = 'audit'`);
  });
  return seal;
}

/** Returns whether the last row of the log is the last row that larder wrote. If not, the log was changed by another program. */
function endsAsWritten(sealing: Sealing, { head, end, newest }: AuditState): boolean {
  if (end === undefined) return head === undefined;
  if (isEnd(sealing.siteKey, end)) return head?.seq === end.seq && head.hash === end.hash;
  // Data of the first release has an end without a code, and none of its rows is sealed in the chain yet.
  if (newest !== undefined) return false;
  const content = readSealFile(sealing.file, sealing.siteKey);
  return typeof content === 'object' && content.number === 0;
}
