// Changes behind the back of larder are found, in the rows of the database as in its pages.
import t from 'tap';
import { hash, randomInt } from 'node:crypto';
import { closeSync, copyFileSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { audit } from '#records/audit/audit.ts';
import { auditSeals } from '#records/audit/audit-seals.ts';
import { verifyAudit } from '#records/audit/audit-verdict.ts';
import { checkDatabase, copyDatabase } from '#engine/sqlite/check.ts';
import type { ChangeRecords } from '#records/index.ts';
import { sql, type Queries, type SqlStatement } from '#engine/database.ts';
import { migrate } from '#engine/migrate.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { openRecords } from '#test/fixtures/records/writable.ts';
import { migrations } from '#data/upgrade.ts';
import { filler } from '#test/fixtures/records/filler.ts';

const long = process.env['LARDER_LONG'] === '1';
const flips = long ? 2000 : 80;
const siteKey = Buffer.alloc(32);
t.setTimeout(600_000);

async function filled(t: { teardown(work: () => unknown): void }): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'larder-digests-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const { records, close } = await openRecords(directory, { siteKey });
  const at = '2026-03-01T12:00:00.000Z';
  await records.change({ at, actor: 'test', action: 'fill', object: 'all' }, async (tx) => {
    for (let number = 0; number < 300; number++) {
      await filler(tx, at).account(`account-${number}`, `user-${number}`);
    }
  });
  await close();
  return join(directory, 'larder.db');
}

t.test('rows written by larder are valid, also after changes and removals', async (t) => {
  const file = await filled(t);
  t.strictSame(checkDatabase(file), []);
  const { records, close } = await openRecords(join(file, '..'), { siteKey });
  const at = '2026-03-01T12:00:00.000Z';
  await records.change({ at, actor: 'test', action: 'change', object: 'all' }, async (tx) => {
    await tx.accounts.makeStoreAdministrator('account-1', at);
    await tx.appliance.set('latest-time', at);
    await tx.appliance.set('latest-time', `${at}!`);
    await tx.damagedBlobs.add({ sha3_384: '0'.repeat(96), size: 1, foundAt: at });
    await tx.damagedBlobs.mended('0'.repeat(96));
  });
  await close();
  t.strictSame(checkDatabase(file), []);
});

t.test('rows have digests after a change that was rolled back, alone or together with others', async (t) => {
  const file = await filled(t);
  const { records, close } = await openRecords(join(file, '..'), { siteKey });
  const at = '2026-03-01T12:00:00.000Z';
  const change = (work: (tx: ChangeRecords) => Promise<unknown>) =>
    records.change({ at, actor: 'test', action: 'change', object: 'all' }, work);
  const add = (number: number) => (tx: ChangeRecords) => filler(tx, at).account(`new-${number}`, `newcomer-${number}`);
  const refused = async (tx: ChangeRecords): Promise<never> => {
    await add(0)(tx);
    throw new Error('refused');
  };
  await t.rejects(change(refused), /refused/);
  await change(add(1));
  const batch = await Promise.allSettled([change(add(2)), change(refused), change(add(3))]);
  t.strictSame(
    batch.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  await close();
  t.strictSame(checkDatabase(file), []);
});

t.test('a refused change costs the next change nothing', async (t) => {
  const file = await filled(t);
  const { records, close } = await openRecords(join(file, '..'), { siteKey });
  t.teardown(close);
  const at = '2026-03-01T12:00:00.000Z';
  const change = (number: number, refusal?: Error) =>
    records.change({ at, actor: 'test', action: 'change', object: 'all' }, async (tx) => {
      await filler(tx, at).account(`new-${number}`, `newcomer-${number}`);
      if (refusal !== undefined) throw refusal;
    });
  await change(1);
  const prepared = t.capture(SQLite.prototype, 'prepare', SQLite.prototype.prepare);
  await t.rejects(change(2, new Error('refused')), /refused/);
  await change(3);
  t.same(
    prepared().map(({ args }) => args[0]),
    [],
    'no trigger is made again',
  );
});

t.test('the first write to any table keeps its digests, alone and after many others', async (t) => {
  const file = await filled(t);
  const reader = new SQLite(file, { readonly: true });
  const tables = reader
    .prepare<[], string>(`SELECT of_table FROM row_digest_tables WHERE of_table NOT GLOB '(*' ORDER BY of_table`)
    .pluck()
    .all();
  reader.close();
  t.ok(tables.length > 60);
  const db = openSqlite(file);
  db.keepRowDigests();
  const run = (queries: Queries, text: string): Promise<number> => queries.run({ text: [text], values: [] });
  for (const group of [...tables.map((table) => [table]), tables]) {
    let triggers: string[] = [];
    const work = async (queries: Queries): Promise<never> => {
      for (const table of group) await run(queries, `DELETE FROM "${table}"`);
      triggers = (await queries.all<{ name: string }>(sql`SELECT name FROM sqlite_temp_master`)).map(
        ({ name }) => name,
      );
      throw new Error('undone');
    };
    await t.rejects(db.transaction(work), /undone/);
    const needed = group.flatMap((table) => ['new', 'changed', 'gone'].map((event) => `digest_${event}_${table}`));
    t.strictSame(
      needed.filter((name) => !triggers.includes(name)),
      [],
    );
  }
  await db.close();
});

largeTest('the digest of a long text is that of all of it at once, as it always was', async (t) => {
  const file = await filled(t);
  const { records, close } = await openRecords(join(file, '..'), { siteKey });
  const at = '2026-03-01T12:00:00.000Z';
  // Pieces of 64 Ki units end within some of these characters.
  const texts = ['😀', 'ü', 'abc', 'a😀'].map((character) => character.repeat(300_000 / character.length));
  const digests: unknown[] = [];
  for (const text of texts) {
    await records.change({ at, actor: 'test', action: 'change', object: 'all' }, (tx) =>
      tx.appliance.set('latest-time', text),
    );
    const db = new SQLite(file, { readonly: true });
    const query = db.prepare(
      "SELECT digest FROM row_digests WHERE of_table = 'appliance' AND row LIKE '%latest-time%'",
    );
    digests.push((query.pluck().get() as Buffer).toString('hex'));
    db.close();
  }
  await close();
  t.same(
    digests,
    texts.map((text) => hash('sha256', `t11:latest-time\0t${String(text.length)}:${text}`).slice(0, 32)),
  );
  t.strictSame(checkDatabase(file), []);
});

t.test('rows that a migration has changed are valid, also in tables with unchanged columns', async (t) => {
  const file = await filled(t);
  const db = openSqlite(file);
  const text = `UPDATE accounts SET email = 'new-' || email; DELETE FROM accounts WHERE id = 'account-9'`;
  await migrate(db, [...migrations(), { name: '9999-addresses', text }]);
  // A process that ended here would leave the rest to the next start.
  await db.close();
  t.match(checkDatabase(file), { length: 301 }, 'no digest was kept meanwhile');
  const next = openSqlite(file);
  next.keepRowDigests();
  await next.close();
  t.strictSame(checkDatabase(file), []);
});

t.test('a corrupt row stays corrupt through any update, until it is written completely', async (t) => {
  const file = await filled(t);
  const db = new SQLite(file);
  db.exec(`UPDATE accounts SET email = 'turned over' WHERE id = 'account-1';
    INSERT INTO appliance (name, value) VALUES ('latest-time', 'x')`);
  db.close();
  const before = checkDatabase(file);
  t.match(before, [/accounts .*is changed/, /appliance .*is not written by larder/]);
  const change = async (work: (tx: ChangeRecords) => Promise<unknown>): Promise<void> => {
    const { records, close } = await openRecords(join(file, '..'), { siteKey });
    await records.change({ at: '2026-03-01T12:00:00.000Z', actor: 'test', action: 'change', object: 'all' }, work);
    await close();
  };
  const at = '2026-03-02T12:00:00.000Z';
  for (let time = 0; time < 2; time++) await change((tx) => tx.accounts.disable('account-1', at));
  await change((tx) => tx.appliance.set('latest-time', at));
  await change((tx) => tx.accounts.disable('account-2', at));
  t.strictSame(checkDatabase(file), before, 'and those beside it are as good as before');
  const again = new SQLite(file);
  again.exec("DELETE FROM appliance WHERE name = 'latest-time'");
  again.close();
  await change((tx) => tx.appliance.set('latest-time', at));
  t.strictSame(checkDatabase(file), before.slice(0, 1));
});

t.test('a row that another program changed, added or removed is named', async (t) => {
  const file = await filled(t);
  const db = new SQLite(file);
  db.exec(`UPDATE accounts SET email = 'mallory@example.com' WHERE id = 'account-7';
    DELETE FROM accounts WHERE id = 'account-9';
    INSERT INTO appliance (name, value) VALUES ('latest-time', 'x')`);
  // An additional row does not make up for a missing one.
  db.exec(`INSERT INTO accounts (id, username, display_name, email, validation, created_at)
    SELECT 'mallory', 'mallory', display_name, 'm@example.com', validation, created_at FROM accounts LIMIT 1`);
  db.close();
  t.match(checkDatabase(file).sort(), [
    /^row 2 of appliance is not written by larder$/,
    /^row 301 of accounts is not written by larder$/,
    /^row 8 of accounts is changed$/,
    /^row \["account-9"\] of accounts is missing$/,
  ]);
});

t.test('tables that are not as larder made them are named', async (t) => {
  const file = await filled(t);
  const db = new SQLite(file);
  db.exec('DROP TRIGGER audit_is_append_only_update');
  db.close();
  t.strictSame(checkDatabase(file), ['row 0 of sqlite_master is changed']);
});

largeTest('every flipped bit in the values of the database is found', async (t) => {
  const original = await filled(t);
  const file = `${original}.copy`;
  await copyDatabase(original, file);
  const pristine = dump(file);
  const bytes = readFileSync(file);
  const written = [...bytes.keys()].filter((at) => bytes[at] !== 0);
  const missed: string[] = [];
  let harmless = 0;
  for (let number = 0; number < flips; number++) {
    const damaged = `${original}.damaged`;
    copyFileSync(file, damaged);
    // Most of a small database is empty, so every other bit is one of a byte that something was written to.
    const at = number % 2 === 0 ? randomInt(bytes.length) : written[randomInt(written.length)]!;
    const bit = randomInt(8);
    flip(damaged, at, bit);
    if (checkDatabase(damaged).length > 0 || (await auditProblems(damaged)).length > 0) continue;
    // Free space and counters in the header hold nothing: then every row of every table reads as before.
    if (dump(damaged) === pristine) harmless++;
    else missed.push(`bit ${bit} of byte ${at}`);
  }
  t.strictSame(missed, []);
  t.comment(`${flips} flips, ${harmless} of them in bytes that mean nothing`);
});

t.test('a migration that has another name than it had is named', async (t) => {
  const file = await filled(t);
  const db = new SQLite(file);
  db.exec("UPDATE migrations SET name = '0001-accountt' WHERE rowid = 1");
  db.close();
  t.strictSame(checkDatabase(file), ['row 0 of sqlite_master is changed']);
});

t.test('the rules for digests of rows cannot change unseen either', async (t) => {
  for (const change of [
    "UPDATE row_digest_tables SET columns = replace(columns, 'email', 'eMail') WHERE of_table = 'accounts'",
    "UPDATE row_digest_tables SET of_table = 'accountz' WHERE of_table = 'accounts'",
    "DELETE FROM row_digest_tables WHERE of_table = 'accounts'",
  ]) {
    const file = await filled(t);
    const db = new SQLite(file);
    db.exec(change);
    db.close();
    t.strictSame(checkDatabase(file), ['row 0 of row_digest_tables is changed'], change);
  }
});

/** The report of the other half of `larder verify` on a file that is only read. */
async function auditProblems(file: string): Promise<string[]> {
  const db = new SQLite(file, { readonly: true });
  const prepared = ({ text }: SqlStatement) => db.prepare(text.join('?'));
  const reading = {
    get: async <Row>(statement: SqlStatement) => prepared(statement).get(...statement.values) as Row | undefined,
    all: async <Row>(statement: SqlStatement) => prepared(statement).all(...statement.values) as Row[],
  };
  try {
    return (await verifyAudit({ audit: audit(reading), auditSeals: auditSeals(reading) }, { siteKey })).problems;
  } catch (error) {
    return [String(error)];
  } finally {
    db.close();
  }
}

/** Every row of every table as one text. */
function dump(file: string): string {
  const db = new SQLite(file, { readonly: true });
  try {
    const tables = db
      .prepare<[], { name: string; sql: string }>(
        `SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name`,
      )
      .all()
      // Numbers that say nothing but that they are others than before, and what can be made anew.
      .filter(({ name }) => !['noun_versions', 'catalog_words', 'catalog_stale'].includes(name));
    return tables
      .map(({ name, sql }) => {
        const rowid = /WITHOUT ROWID/i.test(sql) ? '' : 'rowid, ';
        return JSON.stringify([name, db.prepare(`SELECT ${rowid}* FROM "${name}" ORDER BY 1, 2`).all()]);
      })
      .join('\n');
  } finally {
    db.close();
  }
}

function flip(file: string, at: number, bit: number): void {
  const handle = openSync(file, 'r+');
  const byte = Buffer.alloc(1);
  readSync(handle, byte, 0, 1, at);
  byte[0]! ^= 1 << bit;
  writeSync(handle, byte, 0, 1, at);
  closeSync(handle);
}
