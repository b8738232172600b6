// Audit logs written by larder, and attacks on them by a person with write access to the database and without a site
// key.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { appendAudit, auditHash, type AuditRow } from '#records/audit/audit.ts';
import { writeSeal, type AuditHead, type AuditSeal } from '#records/audit/audit-seals.ts';
import { verifyAudit, type AuditVerdict } from '#records/audit/audit-verdict.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { openRecords } from '#data/records.ts';
import { sealFileIn } from '#data/seal-file.ts';

export const siteKey = Buffer.alloc(32, 7);

interface Test {
  teardown(work: () => unknown): void;
}

/** A folder for one test. */
export function folder(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'larder-audit-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A data directory with this many rows in its log, all of them in one transaction; the seals are those of larder. */
export async function writtenLog(t: Test, rows: number): Promise<string> {
  const directory = folder(t);
  const { close } = await openRecords(directory, { siteKey });
  await close();
  const sealing = { siteKey, file: sealFileIn(directory), report: () => undefined };
  const db = openSqlite(join(directory, 'larder.db'));
  let newest: AuditSeal | undefined;
  await db.transaction(async (tx, commit) => {
    for (let seq = 1; seq <= rows; seq++) {
      const entry = {
        at: '2026-03-01T12:00:00.000Z',
        actor: 'ada',
        action: 'register_name',
        object: `snap/hello-${seq}`,
      };
      newest = (await appendAudit({ db: tx, commit, sealing }, { ...entry, requestId: `r${seq}` })) ?? newest;
    }
  });
  if (newest) await writeSeal(sealing, newest);
  await db.close();
  return directory;
}

/** The same log again, in a folder of its own. */
export function copyOf(t: Test, original: string): string {
  const directory = folder(t);
  for (const name of ['larder.db', 'audit.seal']) copyFileSync(join(original, name), join(directory, name));
  return directory;
}

/** What `larder audit verify` would find. */
export async function verdictOn(directory: string, ...expected: AuditHead[]): Promise<AuditVerdict> {
  const { records, close } = await openRecords(directory);
  try {
    return await verifyAudit(records, { siteKey, file: sealFileIn(directory), expected });
  } finally {
    await close();
  }
}

export const allRows = `SELECT seq, at, actor, session_id AS sessionId, action, object, request_id AS requestId, details, previous, hash, outcome FROM audit`;
export const insertRow = `INSERT INTO audit VALUES (:seq, :at, :actor, :sessionId, :action, :object, :requestId, :details, :previous, :hash, :outcome)`;

/** Goes behind larder's back: the triggers are out of the way for as long as it takes, and back afterwards. */
export function tamper(directory: string, work: (db: SQLite.Database) => void): void {
  const db = new SQLite(join(directory, 'larder.db'));
  const triggers = db
    .prepare<[], { name: string; sql: string }>(`SELECT name, sql FROM sqlite_master WHERE type = 'trigger'`)
    .all();
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
  db.transaction(() => work(db))();
  for (const { sql } of triggers) db.exec(sql);
  db.close();
}

/** Removes every row behind this one, and says that the log ended there. */
export function cutBehind(db: SQLite.Database, seq: number): void {
  db.prepare('DELETE FROM audit WHERE seq > ?').run(seq);
  endAtLast(db);
}

/** Says that the log ends with the last row that is there. */
export function endAtLast(db: SQLite.Database): void {
  db.exec(`UPDATE noun_versions SET (version, hash) = (SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1)
    WHERE noun = 'audit'`);
}

/** Computes every hash again from this row on, with numbers without a gap, and the end as well. */
export function chainAnew(
  db: SQLite.Database,
  from: number,
  change: (row: AuditRow) => Partial<AuditRow> = () => ({}),
): void {
  const rows = db.prepare<[number], AuditRow>(`${allRows} WHERE seq >= ? ORDER BY seq`).all(from);
  let previous =
    db.prepare<[number], string>('SELECT hash FROM audit WHERE seq < ? ORDER BY seq DESC LIMIT 1').pluck().get(from) ??
    '0'.repeat(64);
  db.prepare('DELETE FROM audit WHERE seq >= ?').run(from);
  const insert = db.prepare(insertRow);
  for (const [at, row] of rows.entries()) {
    const forged = { ...row, ...change(row), seq: from + at, previous };
    previous = auditHash(forged);
    insert.run({ ...forged, hash: previous });
  }
  endAtLast(db);
}
