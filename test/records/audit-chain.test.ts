// The audit log: whatever is done to it behind larder's back is found.
import t from 'tap';
import { randomInt } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { auditHash, verifyAudit, type AuditRow, type AuditVerdict } from '#records/audit.ts';
import { openRecords } from '#src/appliance.ts';

const long = process.env['LARDER_LONG'] === '1';
const size = long ? 100_000 : 3000;
const tampers = long ? 1000 : 60;
t.setTimeout(3_600_000);
const siteKey = Buffer.alloc(32, 7);

async function written(t: { teardown(work: () => unknown): void }): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'larder-audit-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const { records, close } = await openRecords(directory);
  const at = '2026-03-01T12:00:00.000Z';
  await records.change({ at, actor: 'ada', action: 'begin', object: 'audit' }, () => Promise.resolve());
  await close();
  const db = new SQLite(join(directory, 'larder.db'));
  const insert = db.prepare(
    `INSERT INTO audit VALUES (:seq, :at, :actor, :sessionId, :action, :object, :requestId, :details, :previous, :hash, :outcome)`,
  );
  db.transaction(() => {
    let previous = db.prepare<[], AuditRow>('SELECT * FROM audit').get()?.hash ?? '';
    for (let seq = 2; seq <= size; seq++) {
      const row = {
        seq,
        at,
        actor: 'ada',
        sessionId: null,
        action: 'register_name',
        object: `snap/hello-${seq}`,
        requestId: `r${seq}`,
        details: '{}',
        previous,
        outcome: 'done' as const,
      };
      previous = auditHash(row);
      insert.run({ ...row, hash: previous });
    }
  })();
  db.close();
  const store = await openRecords(directory);
  await store.records.change({ at, actor: 'larder', action: 'seal_audit', object: 'audit' }, (tx) =>
    tx.audit.seal(siteKey, at),
  );
  await store.close();
  return directory;
}

async function verdictOn(directory: string, expected?: { seq: number; hash: string }): Promise<AuditVerdict> {
  const { records, close } = await openRecords(directory);
  try {
    return await verifyAudit(records.audit, { siteKey, expected });
  } finally {
    await close();
  }
}

t.test('an untouched log is good, and the database itself refuses to change it', async (t) => {
  const directory = await written(t);
  const verdict = await verdictOn(directory);
  t.match(verdict, { rows: size + 1, seals: 1, problems: [], head: { seq: size + 1 } });
  const db = new SQLite(join(directory, 'larder.db'));
  t.teardown(() => db.close());
  t.throws(() => db.exec(`UPDATE audit SET actor = 'bob' WHERE seq = 5`), /append-only/);
  t.throws(() => db.exec(`DELETE FROM audit WHERE seq = 5`), /append-only/);
});

t.test('every edit, deletion, insertion and truncation is found', async (t) => {
  const original = join(await written(t), 'larder.db');
  const directory = mkdtempSync(join(tmpdir(), 'larder-audit-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const columns = [
    'at',
    'actor',
    'session_id',
    'action',
    'object',
    'request_id',
    'details',
    'previous',
    'hash',
    'outcome',
  ];
  const missed: string[] = [];
  for (let number = 0; number < tampers; number++) {
    const file = join(directory, 'larder.db');
    for (const ending of ['-wal', '-shm']) rmSync(file + ending, { force: true });
    copyFileSync(original, file);
    const db = new SQLite(file);
    db.exec(
      'DROP TRIGGER audit_is_append_only_update; DROP TRIGGER audit_is_append_only_delete; DROP TRIGGER audit_is_append_only_insert',
    );
    const seq = randomInt(2, size + 1);
    const kind = ['edit', 'delete', 'insert', 'cut', 'swap', 'rewrite'][number % 6]!;
    const column = columns[randomInt(columns.length)]!;
    if (kind === 'edit')
      db.prepare(
        column === 'outcome'
          ? `UPDATE audit SET outcome = CASE ${seq} % 2 WHEN 0 THEN 'refused' END WHERE seq = ?`
          : `UPDATE audit SET ${column} = COALESCE(${column}, '') || 'x' WHERE seq = ?`,
      ).run(seq);
    if (kind === 'delete') db.prepare(`DELETE FROM audit WHERE seq = ?`).run(seq);
    if (kind === 'cut') db.prepare(`DELETE FROM audit WHERE seq >= ?`).run(seq);
    if (kind === 'swap') {
      db.exec(`UPDATE audit SET seq = -1 WHERE seq = ${seq}; UPDATE audit SET seq = ${seq} WHERE seq = ${seq - 1};
        UPDATE audit SET seq = ${seq - 1} WHERE seq = -1`);
    }
    if (kind === 'insert') {
      db.exec(`UPDATE audit SET seq = -seq WHERE seq > ${seq}; UPDATE audit SET seq = 1 - seq WHERE seq < 0`);
      const row = db
        .prepare<[number], AuditRow>(
          `SELECT seq, at, actor, session_id AS sessionId, action, object, request_id AS requestId, details, previous, hash, outcome FROM audit WHERE seq = ?`,
        )
        .get(seq)!;
      const forged = { ...row, seq: seq + 1, actor: 'bob', previous: row.hash };
      db.prepare(
        `INSERT INTO audit VALUES (:seq, :at, :actor, :sessionId, :action, :object, :requestId, :details, :previous, :hash, :outcome)`,
      ).run({ ...forged, hash: auditHash(forged) });
    }
    if (kind === 'rewrite') {
      // The whole rest computed anew, end and all: only the seal shows it.
      const rows = db
        .prepare<[number], AuditRow>(
          `SELECT seq, at, actor, session_id AS sessionId, action, object, request_id AS requestId, details, previous, hash, outcome FROM audit WHERE seq >= ? ORDER BY seq`,
        )
        .all(seq);
      let previous = rows[0]!.previous;
      const update = db.prepare(`UPDATE audit SET actor = 'bob', previous = ?, hash = ? WHERE seq = ?`);
      db.transaction(() => {
        for (const row of rows) {
          const forged = { ...row, actor: 'bob', previous };
          const hash = auditHash(forged);
          update.run(previous, hash, row.seq);
          previous = hash;
        }
        db.prepare('UPDATE audit_end SET hash = ?').run(previous);
      })();
    }
    db.close();
    const { problems } = await verdictOn(directory);
    if (problems.length === 0) missed.push(`${kind} of ${column} at ${seq}`);
  }
  t.strictSame(missed, []);
});

t.test('a head that was copied off the host shows a log that was rolled back, seals and all', async (t) => {
  const directory = await written(t);
  const { head } = await verdictOn(directory);
  const db = new SQLite(join(directory, 'larder.db'));
  db.exec(`DROP TRIGGER audit_is_append_only_delete; DELETE FROM audit_seals; DELETE FROM audit WHERE seq > 100;
    UPDATE audit_end SET seq = 100, hash = (SELECT hash FROM audit WHERE seq = 100)`);
  db.close();
  t.match((await verdictOn(directory)).problems, [], 'from within nothing is to be seen');
  t.match((await verdictOn(directory, head)).problems, [/cut off behind row 100/]);
});

t.test('a seal of somebody else is none', async (t) => {
  const directory = await written(t);
  const { records, close } = await openRecords(directory);
  t.teardown(close);
  const { problems } = await verifyAudit(records.audit, { siteKey: Buffer.alloc(32, 8) });
  t.match(problems, [/the seal of row \d+ is not of this store/]);
});
