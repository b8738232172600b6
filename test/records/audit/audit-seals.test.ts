// A person with write access to the database and without a site key cannot cut or rewrite the audit log unseen. An
// honest log stays valid after any end of the process that wrote it.
import t, { type Test } from 'tap';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type SQLite from 'better-sqlite3';
import fc from 'fast-check';

import { hours, minutes, timestamp } from '#domain/clock.ts';
import { records as recordsIn } from '#records/index.ts';
import { auditHash } from '#records/audit/audit.ts';
import type { SealFile } from '#records/audit/audit-seals.ts';
import { verifyAudit } from '#records/audit/audit-verdict.ts';
import { migrate } from '#engine/migrate.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { openRecords } from '#test/fixtures/records/writable.ts';
import { migrations } from '#data/upgrade.ts';
import { sealFileIn } from '#data/seal-file.ts';
import {
  chainAnew,
  copyOf,
  cutBehind,
  endAtLast,
  folder,
  insertRow,
  siteKey,
  tamper,
  verdictOn,
  writtenLog,
} from './audit-log.ts';

const long = process.env['LARDER_LONG'] === '1';
const entry = { at: '2026-03-01T12:00:00.000Z', actor: 'bob', action: 'try', object: 'x' };

/** Rows 1, 101 and 201 are sealed: 201 is the newest seal. */
const rows = 250;

const tampers: [string, (db: SQLite.Database) => void][] = [
  ['the tail is cut behind the newest seal, and the end mark set', (db) => cutBehind(db, 230)],
  ['the tail is cut right behind the newest seal', (db) => cutBehind(db, 201)],
  ['the last row alone is cut', (db) => cutBehind(db, rows - 1)],
  [
    'a row behind the newest seal is changed, and the chain computed anew',
    (db) => chainAnew(db, 220, () => ({ actor: 'x' })),
  ],
  [
    'a row behind the newest seal is removed, and the chain computed anew',
    (db) => {
      db.exec('DELETE FROM audit WHERE seq = 220');
      chainAnew(db, 220);
    },
  ],
  [
    'a row is changed, the chain computed anew, and all seals removed',
    (db) => {
      chainAnew(db, 50, () => ({ actor: 'x' }));
      db.exec('DELETE FROM audit_seal_chain');
    },
  ],
  [
    'a row is changed, the chain computed anew, and the seals behind it removed',
    (db) => {
      chainAnew(db, 150, () => ({ actor: 'x' }));
      db.exec('DELETE FROM audit_seal_chain WHERE seq >= 150');
    },
  ],
  [
    'the log is cut to an earlier seal, with the seals behind it',
    (db) => {
      cutBehind(db, 101);
      db.exec('DELETE FROM audit_seal_chain WHERE seq > 101');
    },
  ],
  [
    'the log, its seals and its end mark are emptied',
    (db) => db.exec('DELETE FROM audit; DELETE FROM audit_seal_chain; DELETE FROM noun_versions'),
  ],
  ['the seals alone are removed', (db) => db.exec('DELETE FROM audit_seal_chain')],
  ['the newest seal alone is removed', (db) => db.exec('DELETE FROM audit_seal_chain WHERE seq = 201')],
  ['a seal in the middle is removed', (db) => db.exec('DELETE FROM audit_seal_chain WHERE seq = 101')],
  [
    'a seal in the middle is removed, and the others counted anew',
    (db) =>
      db.exec('DELETE FROM audit_seal_chain WHERE number = 2; UPDATE audit_seal_chain SET number = 2 WHERE number = 3'),
  ],
  ['the end mark is removed', (db) => db.exec('DELETE FROM noun_versions')],
  ['the code of the end is removed', (db) => db.exec('UPDATE noun_versions SET mac = NULL')],
  [
    'a seal is made to tell of a restore',
    (db) => db.exec(`UPDATE audit_seal_chain SET anew = 'restore_store' WHERE number = 3`),
  ],
];

t.test('without the site key nothing is removed or rewritten unseen', async (t) => {
  const original = await writtenLog(t, rows);
  t.same((await verdictOn(original)).problems, []);
  for (const [label, work] of tampers) {
    const directory = copyOf(t, original);
    tamper(directory, work);
    t.not((await verdictOn(directory)).problems.length, 0, label);
  }
});

largeTest('a store that continues to write does not repair a cut log', async (t) => {
  const original = await writtenLog(t, rows);
  for (const [label, work] of tampers) {
    const directory = copyOf(t, original);
    tamper(directory, work);
    const seen: (string | undefined)[] = [];
    for (let turn = 0; turn < 2; turn++) {
      const { records, sealing, close } = await openRecords(directory, { siteKey });
      await records.settleSeals();
      seen.push(sealing.problem());
      for (let row = 0; row < 60; row++) await records.change(entry, () => Promise.resolve());
      await records.seal();
      seen.push(sealing.problem());
      await close();
    }
    t.not((await verdictOn(directory)).problems.length, 0, label);
    if (!/a seal in the middle|tell of a restore/.test(label))
      t.ok(seen.some(Boolean), `${label}: and the store notices`);
  }
});

t.test('the seals of another time do not fit a log of this one', async (t) => {
  const [earlier, later] = [await writtenLog(t, 120), await writtenLog(t, rows)];
  const directory = copyOf(t, later);
  tamper(directory, (db) => {
    db.exec(`ATTACH '${join(earlier, 'larder.db')}' AS earlier;
      DELETE FROM audit; DELETE FROM audit_seal_chain; DELETE FROM noun_versions WHERE noun = 'audit';
      INSERT INTO audit SELECT * FROM earlier.audit; INSERT INTO audit_seal_chain SELECT * FROM earlier.audit_seal_chain;
      INSERT INTO noun_versions SELECT * FROM earlier.noun_versions WHERE noun = 'audit'`);
  });
  t.match((await verdictOn(directory)).problems, [
    /^the last rows of the audit log were removed, or the database is an older copy: the seal in .*audit\.seal covers the log up to row 201:[0-9a-f]{64}/,
  ]);
});

t.test('a missing seal file is noticed, and no other program can write it', async (t) => {
  const directory = await writtenLog(t, rows);
  const file = join(directory, 'audit.seal');
  const honest = readFileSync(file, 'utf8');
  for (const [text, problem] of [
    [undefined, /newest seal is missing: there is no .*audit\.seal/],
    ['', /is not of this store, or was changed/],
    ['{}', /is not of this store/],
    ['null', /is not of this store/],
    [honest.replace('"seq":201', '"seq":101'), /is not of this store/],
    [honest.replace(/"number":\d+/, '"number":0'), /is not of this store/],
  ] as const) {
    if (text === undefined) rmSync(file);
    else writeFileSync(file, text);
    t.match((await verdictOn(directory)).problems, [problem]);
  }
  writeFileSync(file, honest);
  t.same((await verdictOn(directory)).problems, []);
});

t.test('a file that cannot be read proves nothing, and stops no change', async (t) => {
  const directory = await writtenLog(t, 99);
  const fails = (): never => {
    throw new Error('EIO: i/o error');
  };
  const broken = { path: 'audit.seal', read: fails };
  const { records: sealedRecords, close } = await openRecords(directory, { siteKey });
  await t.rejects(verifyAudit(sealedRecords, { siteKey, file: broken }), /EIO/);
  await close();
  rmSync(join(directory, 'audit.seal'));
  mkdirSync(join(directory, 'audit.seal'));
  const { records, sealing, close: end } = await openRecords(directory, { siteKey });
  t.teardown(end);
  for (let row = 0; row < 5; row++) await records.change(entry, () => Promise.resolve());
  t.match(sealing.problem(), /the audit log's newest seal cannot be kept in .*audit\.seal: cannot read/);
  t.match(await records.audit.head(), { seq: 104 });
});

t.test('larder seals the first row, every hundredth, after an hour, and the rest on command', async (t) => {
  const directory = folder(t);
  const { records, close } = await openRecords(directory, { siteKey });
  t.teardown(close);
  let now = Date.parse(entry.at);
  const write = () => records.change({ ...entry, at: timestamp(new Date(now)) }, () => Promise.resolve());
  const sealed = async () => (await records.auditSeals.list(0, 100)).map(({ seq }) => seq);
  for (let row = 1; row <= 205; row++) await write();
  t.same(await sealed(), [1, 101, 201]);
  now += minutes(59);
  await write();
  t.same(await sealed(), [1, 101, 201]);
  now += minutes(1);
  await write();
  t.same(await sealed(), [1, 101, 201, 207]);
  now -= hours(5);
  await write();
  t.same(await sealed(), [1, 101, 201, 207, 208], 'a clock that is set back makes nobody wait');
  await write();
  await records.seal();
  await records.seal();
  t.same(await sealed(), [1, 101, 201, 207, 208, 209]);
  const seal = JSON.parse(readFileSync(join(directory, 'audit.seal'), 'utf8')) as unknown;
  t.match(seal, { number: 6, seq: 209 });
  t.same((await verdictOn(directory)).problems, []);
});

t.test('rows that were not sealed in time are a problem', async (t) => {
  const directory = await writtenLog(t, 5);
  // Like a program that has the key of the end and seals nothing.
  const { records, close } = await openRecords(directory, { siteKey });
  for (let row = 0; row < 120; row++) await records.change(entry, () => Promise.resolve());
  await close();
  tamper(directory, (db) => db.exec('DELETE FROM audit_seal_chain WHERE number > 1'));
  const first = { number: 1, ...(await verdictOn(directory)) };
  t.match(first.problems.join('; '), /row 102 and the rows after it have no seal, but should have one/);
});

t.test('changes that run together leave their newest seal in the file, and wait for no other', async (t) => {
  const directory = folder(t);
  const { records, close } = await openRecords(directory, { siteKey });
  t.teardown(close);
  const rows = Array.from({ length: 350 }, () => records.change(entry, () => Promise.resolve()));
  await Promise.all(rows);
  const newest = (await records.auditSeals.newest())!;
  t.ok(newest.number >= 3);
  t.same(JSON.parse(sealFileIn(directory).read()!), newest);
});

t.test('a seal file is updated by one change after the other, also after one that failed', async (t) => {
  const file = sealFileIn(folder(t));
  const mayWrite = Promise.withResolvers<undefined>();
  const first = file.update(async () => {
    await mayWrite.promise;
    return 'first';
  });
  const failed = file.update(() => {
    throw new Error('EIO: i/o error');
  });
  const second = file.update((text) => `${String(text)} and second`);
  mayWrite.resolve(undefined);
  await t.rejects(failed, /EIO/);
  await Promise.all([first, second]);
  t.equal(file.read(), 'first and second');
});

t.test('only the change whose row is sealed waits for the seal file', async (t) => {
  const directory = folder(t);
  const { close } = await openRecords(directory, { siteKey });
  await close();
  const file = sealFileIn(directory);
  const mayWrite = Promise.withResolvers<undefined>();
  const held = {
    ...file,
    update: async (change: Parameters<SealFile['update']>[0]) => {
      await mayWrite.promise;
      await file.update(change);
    },
  };
  const db = openSqlite(join(directory, 'larder.db'));
  t.teardown(() => db.close());
  const { change } = recordsIn(db, { siteKey, file: held, report: () => undefined });
  let isAnswered = false;
  const first = change(entry, () => Promise.resolve()).then(() => (isAnswered = true));
  await change(entry, () => Promise.resolve());
  t.notOk(isAnswered, 'row 1 is sealed, and row 2 is not');
  mayWrite.resolve(undefined);
  await first;
  t.match(JSON.parse(file.read()!), { number: 1, seq: 1 });
});

largeTest('an honest log is valid after any end of the processes that write it', async (t) => {
  const step = fc.oneof(
    fc.record({ what: fc.constant('write' as const), count: fc.integer({ min: 1, max: 120 }), process: fc.nat(1) }),
    fc.record({
      what: fc.constant('killed before the file' as const),
      count: fc.integer({ min: 1, max: 3 }),
      process: fc.nat(1),
    }),
    fc.record({ what: fc.constant('seal' as const), process: fc.nat(1) }),
    fc.record({ what: fc.constant('open' as const), process: fc.nat(1) }),
    fc.record({ what: fc.constant('wait' as const), minutes: fc.integer({ min: -600, max: 600 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const directory = folder(t);
      const file = sealFileIn(directory);
      const open = () => openRecords(directory, { siteKey });
      const processes = [await open(), await open()];
      let now = Date.parse(entry.at);
      const write = (process: number): Promise<void> => {
        const at = timestamp(new Date(now));
        return processes[process]!.records.change({ ...entry, at }, () => Promise.resolve());
      };
      for (const action of steps) {
        if (action.what === 'wait') now += minutes(action.minutes);
        if (action.what === 'seal') await processes[action.process]!.records.seal();
        if (action.what === 'write') for (let row = 0; row < action.count; row++) await write(action.process);
        if (action.what === 'killed before the file') {
          const before = file.read();
          now += hours(2);
          for (let row = 0; row < action.count; row++) await write(action.process);
          await file.update(() => before);
        }
        if (action.what === 'open') {
          await processes[action.process]!.close();
          processes[action.process] = await open();
          await processes[action.process]!.records.settleSeals();
        }
      }
      t.same((await verdictOn(directory)).problems, [], { diagnostic: false });
      for (const { close, sealing } of processes) {
        await close();
        t.equal(sealing.problem(), undefined);
      }
      rmSync(directory, { recursive: true });
    }),
    { numRuns: long ? 200 : 8 },
  );
});

/** A log as the first release has left it, with its own seal. */
async function firstReleases(t: Test, count: number): Promise<string> {
  const directory = folder(t);
  const db = openSqlite(join(directory, 'larder.db'));
  const then = migrations().filter(({ name }) => name < '0027');
  await migrate(db, then);
  await db.close();
  tamper(directory, (plain) => {
    let previous = '0'.repeat(64);
    for (let seq = 1; seq <= count; seq++) {
      const about = { ...entry, sessionId: null, requestId: null, details: '{}', outcome: 'done' as const };
      const row = { ...about, seq, previous };
      previous = auditHash(row);
      plain.prepare(insertRow).run({ ...row, hash: previous });
    }
    plain.prepare('INSERT INTO audit_end (one, seq, hash) VALUES (1, ?, ?)').run(count, previous);
  });
  writeFileSync(join(directory, 'larder.toml'), '');
  return directory;
}

t.test('data of the first release is sealed as a whole when it is upgraded, with an entry in the log', async (t) => {
  const directory = await firstReleases(t, 300);
  const { records, sealing, close } = await openRecords(directory, { siteKey, held: true });
  t.teardown(close);
  t.match(await records.audit.newest(1000, 1), [{ seq: 301, action: 'upgrade_store' }]);
  const verdict = await verdictOn(directory);
  t.match(verdict, {
    rows: 301,
    seals: 1,
    problems: [],
    restarts: [{ seq: 301, by: 'upgrade_store', left: undefined }],
  });
  t.equal(sealing.problem(), undefined);
  t.match(JSON.parse(sealing.file.read() ?? ''), { number: 1, seq: 301 });
});

t.test('an upgrade that is killed before anything is sealed is finished by the next process', async (t) => {
  const directory = await firstReleases(t, 300);
  const first = await openRecords(directory, { siteKey, held: true });
  await first.close();
  // The rows after the migrations, and before the first row of the new release.
  tamper(directory, (db) => {
    db.exec('DELETE FROM audit WHERE seq > 300; DELETE FROM audit_seal_chain; UPDATE noun_versions SET mac = NULL');
    endAtLast(db);
  });
  const empty = folder(t);
  await (await openRecords(empty, { siteKey })).close();
  writeFileSync(join(directory, 'audit.seal'), readFileSync(join(empty, 'audit.seal')));
  const { records, sealing, close } = await openRecords(directory, { siteKey });
  t.teardown(close);
  await records.settleSeals();
  await records.seal();
  t.equal(sealing.problem(), undefined);
  t.match(await verdictOn(directory), { rows: 300, seals: 1, problems: [] });
});

t.test('a new chain names the rows that it leaves behind, and survives a kill at any moment', async (t) => {
  const [earlier, later] = [await writtenLog(t, 120), await writtenLog(t, rows)];
  const directory = copyOf(t, earlier);
  const left = readFileSync(join(later, 'audit.seal'), 'utf8');
  writeFileSync(join(directory, 'audit.seal'), left);
  const opened = await openRecords(directory, { siteKey });
  await opened.records.beginAnew({ ...entry, action: 'roll_back_upgrade' }, () => Promise.resolve());
  t.match(await opened.records.audit.newest(1000, 1), [
    { seq: 121, action: 'roll_back_upgrade', details: /"left-behind":\{"seq":201,/ },
  ]);
  await opened.close();
  const expected = { problems: [], restarts: [{ seq: 121, by: 'roll_back_upgrade', left: { seq: 201 } }] };
  t.match(await verdictOn(directory), expected);

  // Killed before the file was replaced: the chain has its content, and the next process replaces it.
  writeFileSync(join(directory, 'audit.seal'), left);
  t.match(await verdictOn(directory), expected);
  const next = await openRecords(directory, { siteKey });
  t.teardown(next.close);
  await next.records.settleSeals();
  t.equal(next.sealing.problem(), undefined);
  t.match(JSON.parse(next.sealing.file.read() ?? ''), { number: 3, seq: 121 });
});

t.test('the end of an abandoned log is not taken for the end of the current one', async (t) => {
  const [earlier, later] = [await writtenLog(t, 120), await writtenLog(t, rows)];
  const forgotten = await openRecords(later, { siteKey });
  await forgotten.records.noteAuditEnd();
  await forgotten.close();
  const left = readFileSync(join(later, 'audit.seal'), 'utf8');
  t.match(JSON.parse(left), { seq: 201, last: { seq: rows } });
  const directory = copyOf(t, earlier);
  writeFileSync(join(directory, 'audit.seal'), left);
  const opened = await openRecords(directory, { siteKey });
  await opened.records.beginAnew({ ...entry, action: 'go-back' }, () => Promise.resolve());
  await opened.close();
  // Killed before the file was replaced.
  writeFileSync(join(directory, 'audit.seal'), left);
  const next = await openRecords(directory, { siteKey });
  t.teardown(next.close);
  await next.records.settleSeals();
  t.equal(next.sealing.problem(), undefined);
  t.match((await verdictOn(directory)).problems, []);
  t.notMatch(readFileSync(join(directory, 'audit.seal'), 'utf8'), /"last"/);
});
