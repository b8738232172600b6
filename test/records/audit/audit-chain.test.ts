// The audit log: every change behind the back of larder is found.
import t from 'tap';
import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { auditHash, type AuditRow } from '#records/audit/audit.ts';
import { verifyAudit } from '#records/audit/audit-verdict.ts';
import { openRecords } from '#data/records.ts';
import { allRows, chainAnew, copyOf, cutBehind, insertRow, tamper, verdictOn, writtenLog } from './audit-log.ts';

const long = process.env['LARDER_LONG'] === '1';
const size = long ? 100_000 : 2000;
const tampers = long ? 1000 : 18;
t.setTimeout(3_600_000);

t.test('an untouched log is good, and the database itself refuses to change it', async (t) => {
  const directory = await writtenLog(t, size);
  const verdict = await verdictOn(directory);
  t.match(verdict, { rows: size, seals: Math.ceil(size / 100), problems: [], restarts: [], head: { seq: size } });
  const db = new SQLite(join(directory, 'larder.db'));
  t.teardown(() => db.close());
  t.throws(() => db.exec(`UPDATE audit SET actor = 'bob' WHERE seq = 5`), /append-only/);
  t.throws(() => db.exec(`DELETE FROM audit WHERE seq = 5`), /append-only/);
});

t.test('every edit, deletion, insertion and truncation is found', async (t) => {
  const original = await writtenLog(t, size);
  const members = [
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
  const kinds = ['edit', 'delete', 'insert', 'cut', 'swap', 'rewrite'];
  const missed: string[] = [];
  for (let number = 0; number < tampers; number++) {
    const directory = copyOf(t, original);
    const seq = randomInt(2, size + 1);
    const kind = kinds[number % kinds.length]!;
    const column = members[randomInt(members.length)]!;
    tamper(directory, (db) => {
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
        const row = db.prepare<[number], AuditRow>(`${allRows} WHERE seq = ?`).get(seq)!;
        const forged = { ...row, seq: seq + 1, actor: 'bob', previous: row.hash };
        db.prepare(insertRow).run({ ...forged, hash: auditHash(forged) });
      }
      if (kind === 'rewrite') chainAnew(db, seq, () => ({ actor: 'bob' }));
    });
    const { problems } = await verdictOn(directory);
    if (problems.length === 0) missed.push(`${kind} of ${column} at ${seq}`);
    // Not a disk full of them.
    rmSync(directory, { recursive: true });
  }
  t.strictSame(missed, []);
});

t.test('a row that another program adds after the end is found', async (t) => {
  const directory = await writtenLog(t, 10);
  tamper(directory, (db) => {
    const row = db.prepare<[], AuditRow>(`${allRows} ORDER BY seq DESC LIMIT 1`).get()!;
    const forged = { ...row, seq: row.seq + 1, actor: 'bob', previous: row.hash };
    db.prepare(insertRow).run({ ...forged, hash: auditHash(forged) });
  });
  t.strictSame((await verdictOn(directory)).problems, ['rows 11 to 11 were not written by larder']);
});

t.test('a head that was copied off the host reveals a data directory that was restored as a whole', async (t) => {
  const earlier = await writtenLog(t, 150);
  const { head } = await verdictOn(await writtenLog(t, 400));
  t.same((await verdictOn(earlier)).problems, [], 'from within nothing is to be seen');
  t.match((await verdictOn(earlier, head!)).problems, [/cut off after row 150; row 400 was expected/]);
  t.match((await verdictOn(earlier, { seq: 7, hash: head!.hash })).problems, [
    /row 7 is not the row that was expected/,
  ]);
});

t.test('a seal of another key is invalid', async (t) => {
  const directory = await writtenLog(t, 10);
  const { records, close } = await openRecords(directory);
  t.teardown(close);
  const { problems } = await verifyAudit(records, { siteKey: Buffer.alloc(32, 8) });
  t.match(problems, [/seal 1 is not of this store/, /the end of the log is not the end that larder has written/]);
});

t.test('a log that was cut while its end mark was forgotten shows its last known row', async (t) => {
  const directory = await writtenLog(t, 250);
  tamper(directory, (db) => db.exec('DELETE FROM audit WHERE seq > 120'));
  t.match((await verdictOn(directory)).problems, ['the log is cut off after row 120; row 250 was the end of the log']);
  tamper(directory, (db) => cutBehind(db, 110));
  t.match((await verdictOn(directory)).problems, [
    /the end of the log/,
    'the log is cut off after row 110; row 201 was sealed',
  ]);
});
