import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { auditHash, type AuditRow } from '#records/audit/audit.ts';
import { verifyAudit } from '#records/audit/audit-verdict.ts';
import { migrate } from '#engine/migrate.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { databaseOf, engine, onSqlite } from '#test/fixtures/records/engines.ts';
import { openRecords } from '#test/fixtures/records/writable.ts';
import { migrations } from '#data/upgrade.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';

const rows = (store: TestAppliance): Promise<AuditRow[]> => store.beside.records.audit.list(0, 10_000);

/** The number of the first row that does not follow from the one before it. */
function firstFault(chain: AuditRow[]): number | undefined {
  let [seq, previous] = [0, '0'.repeat(64)];
  for (const row of chain) {
    if (row.seq !== seq + 1 || row.previous !== previous || row.hash !== auditHash(row)) return row.seq;
    [seq, previous] = [row.seq, row.hash];
  }
  return undefined;
}

async function withHistory(t: Parameters<typeof startStore>[0]): Promise<TestAppliance> {
  const store = await startStore(t);
  const ada = await store.as('ada');
  for (const name of ['one', 'two', 'three']) await ada.post('/v1/bin', { name });
  await ada.push('bin', 'one', 'content');
  await ada.post('/v1/bin/one/releases', [{ channel: 'edge', revision: 1 }]);
  await ada.patch('/v1/bin/one', { title: 'One' });
  await ada.delete('/v1/bin/two');
  return store;
}

t.test('every change has its row: actor, act, object, session and request', async (t) => {
  const store = await withHistory(t);
  const chain = await rows(store);
  t.equal(firstFault(chain), undefined);
  const actions = chain.map(({ action, object }) => `${action} ${object.replace(/[0-9a-f-]{36}/, '*')}`);
  for (const action of [
    'create_account account/root',
    'issue_token session/*',
    'register_name bin/one',
    'push_revision bin/one',
    'approve_upload bin/one',
    'push_releases bin/one',
    'update_package_metadata bin/one',
    'unregister_package bin/two',
  ]) {
    t.ok(actions.includes(action), action);
  }
  const ofAda = chain.filter(({ actor }) => actor === store.ids.ada);
  t.not(ofAda.length, 0);
  for (const row of ofAda) {
    t.match(row, { sessionId: /^[0-9a-f-]{36}$/, requestId: /^[0-9a-f-]{36}$/, at: '2026-03-01T12:00:00.000Z' });
  }
  t.match(
    chain.find(({ action }) => action === 'approve_upload'),
    { actor: 'larder', details: /"revision":1/ },
  );
});

t.test('no change is made without its row, and no row without its change', async (t) => {
  const store = await withHistory(t);
  const before = await rows(store);
  const { records } = store.beside;
  const at = store.clock.now.toISOString();
  await t.rejects(
    records.change({ at, actor: 'test', action: 'fails', object: 'bin/one' }, async (tx) => {
      await tx.packages.remove((await tx.packages.find('bin', 'one'))?.id ?? '');
      throw new Error('no');
    }),
  );
  t.same(await rows(store), before);
  t.ok(await records.packages.find('bin', 'one'));

  // An entry that cannot be written takes its change with it.
  const entry = { at: null as unknown as string, actor: 'test', action: 'register', object: 'bin/one' };
  await t.rejects(
    records.change(entry, (tx) => tx.packages.publish((before.length && 'x') || '')),
    /not.null/i,
  );
  await t.rejects(
    records.change(entry, async (tx) => tx.packages.remove((await tx.packages.find('bin', 'one'))?.id ?? '')),
    /not.null/i,
  );
  t.ok(await records.packages.find('bin', 'one'));
  t.same(await rows(store), before);
});

t.test('a value that a change finds out is in its row', async (t) => {
  const store = await startStore(t);
  const at = store.clock.now.toISOString();
  const entry = { at, actor: 'test', action: 'try', object: 'x', details: { asked: 1 } };
  await store.beside.records.change(entry, async (_tx, note) => {
    note({ found: 2 });
    note({ asked: 3 });
  });
  const last = (await rows(store)).at(-1);
  t.same(JSON.parse(last?.details ?? ''), { asked: 3, found: 2 });
});

t.test('rows of several processes make one chain', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const at = store.clock.now.toISOString();
  await Promise.all(
    [...Array(10).keys()].flatMap((turn) => [
      ada.post('/v1/bin', { name: `name-${turn}` }),
      store.beside.records.change({ at, actor: 'cli:root', action: 'try', object: `${turn}` }, () => Promise.resolve()),
    ]),
  );
  const chain = await rows(store);
  t.equal(firstFault(chain), undefined);
  t.ok(chain.length >= 20);
});

t.test('the database refuses to change or remove a row, or to put one anywhere but at the end', async (t) => {
  const store = await withHistory(t);
  const before = await rows(store);
  const db = await databaseOf(t, store.directory);
  const insert = `(seq, at, actor, action, object, details, previous, hash) VALUES`;
  for (const statement of [
    `UPDATE audit SET actor = 'nobody'`,
    `UPDATE audit SET details = '{}' WHERE seq = 2`,
    `DELETE FROM audit`,
    `DELETE FROM audit WHERE seq = (SELECT MAX(seq) FROM audit)`,
    ...(engine === 'sqlite' ? ['INSERT OR REPLACE', 'REPLACE'] : []).map(
      (verb) => `${verb} INTO audit ${insert} (2, 'x', 'x', 'x', 'x', '{}', 'x', 'x')`,
    ),
    `INSERT INTO audit ${insert} (0, 'x', 'x', 'x', 'x', '{}', 'x', 'x')`,
    `INSERT INTO audit ${insert} (100000, 'x', 'x', 'x', 'x', '{}', 'x', 'x')`,
    `INSERT INTO audit ${insert} (2, 'x', 'x', 'x', 'x', '{}', 'x', 'x') ON CONFLICT (seq) DO UPDATE SET actor = 'x'`,
  ]) {
    await t.rejects(
      db.transaction((tx) => tx.script(statement)),
      /append-only|UNIQUE/,
      statement,
    );
  }
  t.same(await rows(store), before);
});

t.test('a change made directly in the database shows in the chain', async (t) => {
  const store = await withHistory(t);
  const honest = await rows(store);
  const { length } = honest;
  t.ok(length > 10);
  for (let at = 0; at < length - 1; at++) {
    const row = honest[at] as AuditRow;
    for (const [label, tampered] of [
      ['removed', honest.toSpliced(at, 1)],
      ['repeated', honest.toSpliced(at, 0, row)],
      ['moved', honest.toSpliced(at, 2, honest[at + 1] as AuditRow, row)],
      ...(['at', 'actor', 'action', 'object', 'details', 'previous', 'hash', 'sessionId', 'requestId'] as const).map(
        (member) => [`changed in ${member}`, honest.with(at, { ...row, [member]: `${row[member] ?? ''}x` })] as const,
      ),
      [
        'changed, with a hash that fits',
        honest.with(at, { ...row, actor: 'x', hash: auditHash({ ...row, actor: 'x' }) }),
      ],
      ['renumbered', honest.with(at, { ...row, seq: row.seq + 1 })],
    ] as const) {
      t.not(firstFault([...tampered]), undefined, `row ${row.seq} ${label}`);
    }
  }
  t.equal(firstFault(honest), undefined);
  t.not(honest.at(-1)?.hash, honest.at(-2)?.hash, 'a cut at the end shows only beside a head that was noted elsewhere');
});

t.test(
  'rows from before there were outcomes stay good, and how a row ended cannot be changed unseen',
  onSqlite,
  async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'larder-audit-'));
    t.teardown(() => rmSync(directory, { recursive: true, force: true }));
    const file = join(directory, 'larder.db');
    const before = openSqlite(file);
    await migrate(
      before,
      migrations().filter(({ name }) => name < '0025'),
    );
    await before.close();
    const plain = new SQLite(file);
    let previous = '0'.repeat(64);
    for (let seq = 1; seq <= 3; seq++) {
      const row = {
        seq,
        at: 'then',
        actor: 'ada',
        sessionId: null,
        action: 'x',
        object: 'y',
        requestId: null,
        details: '{}',
      };
      const hashed = auditHash({ ...row, previous, outcome: null });
      plain
        .prepare(
          `INSERT INTO audit (seq, at, actor, action, object, details, previous, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(seq, 'then', 'ada', 'x', 'y', '{}', previous, hashed);
      previous = hashed;
    }
    plain.close();

    writeFileSync(join(directory, 'larder.toml'), '');
    const siteKey = Buffer.alloc(32);
    const { records, close } = await openRecords(directory, { siteKey });
    t.teardown(close);
    const entry = { at: 'now', actor: 'ada', action: 'x', object: 'y' };
    await records.change(entry, () => Promise.resolve());
    await records.change({ ...entry, outcome: 'refused' }, () => Promise.resolve());
    const entries = await records.audit.list(0, 10);
    t.strictSame(
      entries.map(({ outcome }) => outcome),
      [null, null, null, 'done', 'done', 'refused'],
      'the upgrade, and two of ours',
    );
    const judged = async (rows: AuditRow[]): Promise<string[]> => {
      const audit = { ...records.audit, list: async (after: number) => rows.filter(({ seq }) => seq > after) };
      return (await verifyAudit({ ...records, audit }, { siteKey })).problems;
    };
    t.strictSame(await judged(entries), []);
    for (const [at, outcome] of [
      [0, 'done'],
      [4, 'refused'],
      [4, null],
      [5, 'done'],
      [5, null],
    ] as const) {
      const forged = entries.with(at, { ...entries[at]!, outcome });
      t.strictSame(await judged(forged), [`row ${String(at + 1)} was changed after it was written`]);
    }
  },
);
