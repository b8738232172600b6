// The audit log: who did what, in a chain of hashes that shows any later change.
import { createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto';

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
      ...(row.outcome === null ? [] : [row.outcome]),
    ]),
  );

/** A head of the log, with a code that only the holder of the site key can compute. */
export interface AuditSeal {
  seq: number;
  hash: string;
  at: string;
  mac: string;
}

export const audit = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Where the log ended when it was last written, whatever is there now. */
  end: () => db.get<{ seq: number; hash: string }>(sql`SELECT seq, hash FROM audit_end WHERE one = 1`),

  /** The seals after a number, oldest first. */
  seals: (after: number, limit: number) =>
    db.all<AuditSeal>(sql`SELECT seq, hash, at, mac FROM audit_seals WHERE seq > ${after} ORDER BY seq LIMIT ${limit}`),

  head: () => db.get<{ seq: number; hash: string }>(sql`SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1`),

  /** The rows before a number, newest first. */
  newest: (before: number, limit: number) =>
    db.all<AuditRow>(sql`
      SELECT seq, at, actor, session_id AS "sessionId", action, object, request_id AS "requestId", details, previous, hash, outcome
      FROM audit WHERE seq < ${before} ORDER BY seq DESC LIMIT ${limit}`),

  /** The newest row of an action. */
  newestOf: (action: string) =>
    db.get<{ seq: number; at: string }>(
      sql`SELECT seq, at FROM audit WHERE action = ${action} ORDER BY seq DESC LIMIT 1`,
    ),

  /** The rows after a number, oldest first. */
  list: (after: number, limit: number) =>
    db.all<AuditRow>(sql`
      SELECT seq, at, actor, session_id AS "sessionId", action, object, request_id AS "requestId", details, previous, hash, outcome
      FROM audit WHERE seq > ${after} ORDER BY seq LIMIT ${limit}`),
});

export const auditChanges = (db: Queries) => ({
  ...audit(db),

  /** Seals the head; false when there is none, or when it is sealed already. */
  async seal(siteKey: Buffer, at: string): Promise<boolean> {
    const head = await audit(db).head();
    if (head === undefined) return false;
    const seal = { ...head, at };
    return (
      0 <
      (await db.run(sql`
        INSERT INTO audit_seals (seq, hash, at, mac) VALUES (${head.seq}, ${head.hash}, ${at}, ${sealOf(siteKey, seal)})
        ON CONFLICT (seq) DO NOTHING`))
    );
  },
});

const sealOf = (siteKey: Buffer, { seq, hash: head, at }: Omit<AuditSeal, 'mac'>): string =>
  createHmac('sha256', Buffer.from(hkdfSync('sha256', siteKey, '', 'audit seal', 32)))
    .update(JSON.stringify([seq, head, at]))
    .digest('hex');

/** Whether the site key's holder sealed this head. */
export function isSealed(siteKey: Buffer, seal: AuditSeal): boolean {
  const [known, computed] = [Buffer.from(seal.mac, 'hex'), Buffer.from(sealOf(siteKey, seal), 'hex')];
  return known.length === computed.length && timingSafeEqual(known, computed);
}

/** What was found out about the log. */
export interface AuditVerdict {
  rows: number;
  seals: number;
  head: { seq: number; hash: string } | undefined;
  problems: string[];
}

const batch = 2000;
const enough = 100;

/**
 * Follows the whole chain: every row's hash, the links between them, the numbers without a gap, the end where the log
 * was last written, and the sealed heads. `expected` is a head that somebody has copied off the host.
 */
export async function verifyAudit(
  records: Pick<ReturnType<typeof audit>, 'list' | 'end' | 'seals'>,
  {
    siteKey,
    expected,
    progress,
  }: {
    siteKey: Buffer;
    expected?: { seq: number; hash: string } | undefined;
    progress?: (rows: number) => void;
  },
): Promise<AuditVerdict> {
  const problems: string[] = [];
  // Asked first: what is appended meanwhile makes the log longer, never shorter.
  const end = await records.end();
  const seals = new Map<number, AuditSeal>();
  for (let after = -1; ;) {
    const some = await records.seals(after, batch);
    for (const seal of some) {
      seals.set(seal.seq, seal);
      after = seal.seq;
      if (!isSealed(siteKey, seal)) problems.push(`the seal of row ${String(seal.seq)} is not of this store`);
    }
    if (some.length < batch) break;
  }

  let rows = 0;
  let last = 0;
  let previous = beginning;
  let endSeen = end === undefined;
  for (;;) {
    const some = await records.list(last, batch);
    for (const row of some) {
      rows++;
      if (row.seq !== last + 1) problems.push(`rows ${String(last + 1)} to ${String(row.seq - 1)} are missing`);
      else if (row.previous !== previous) problems.push(`row ${String(row.seq)} does not follow the row before it`);
      if (auditHash(row) !== row.hash) problems.push(`row ${String(row.seq)} is not as it was written`);
      if (seals.size > 0) {
        const seal = seals.get(row.seq);
        if (seal !== undefined && seal.hash !== row.hash)
          problems.push(`row ${String(row.seq)} is not the one that was sealed`);
      }
      if (row.seq === end?.seq) {
        endSeen = true;
        if (row.hash !== end.hash) problems.push(`row ${String(row.seq)} is not the one at which the log ended`);
      }
      if (row.seq === expected?.seq && row.hash !== expected.hash) {
        problems.push(`row ${String(row.seq)} is not the one that was expected`);
      }
      [last, previous] = [row.seq, row.hash];
      if (problems.length >= enough) return { rows, seals: seals.size, head: undefined, problems };
    }
    progress?.(rows);
    if (some.length < batch) break;
  }
  if (!endSeen && last < (end?.seq ?? 0))
    problems.push(`the log is cut off behind row ${String(last)}; it ended at ${String(end?.seq)}`);
  if (end === undefined && rows > 0) problems.push('where the log ends is not recorded any more');
  const sealed = Math.max(0, ...seals.keys());
  if (sealed > last) problems.push(`the log is cut off behind row ${String(last)}; row ${String(sealed)} was sealed`);
  if (expected !== undefined && expected.seq > last) {
    problems.push(`the log is cut off behind row ${String(last)}; row ${String(expected.seq)} was expected`);
  }
  return { rows, seals: seals.size, head: rows === 0 ? undefined : { seq: last, hash: previous }, problems };
}

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
    outcome: entry.outcome ?? ('done' as const),
  };
  await db.run(sql`
    INSERT INTO audit (seq, at, actor, session_id, action, object, request_id, details, previous, hash, outcome)
    VALUES (${row.seq}, ${row.at}, ${row.actor}, ${row.sessionId}, ${row.action}, ${row.object}, ${row.requestId},
      ${row.details}, ${row.previous}, ${auditHash(row)}, ${row.outcome})`);
}
