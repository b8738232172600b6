// All rows of a database, from one engine to the other and back: every value is unchanged.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import fc from 'fast-check';
import t, { type Test } from 'tap';

import { postgresSource, postgresTarget, settleAttempt } from '#engine/postgres/rows.ts';
import { copyRows, type Cell, type RowTarget } from '#engine/rows.ts';
import { sqliteSource, sqliteTarget } from '#engine/sqlite/rows.ts';
import { allRows, rowsOfFile } from '#test/fixtures/records/all-rows.ts';
import { sharedPostgres } from '#test/fixtures/servers/postgres.ts';

const root = t;

/** Tables that refer to one another against the order of the list, with a trigger on them. */
const tables = {
  sqlite: `
    CREATE TABLE migrations (name TEXT PRIMARY KEY);
    CREATE TABLE z (id TEXT PRIMARY KEY, number INTEGER, part REAL, bytes BLOB);
    CREATE TABLE a (number INTEGER PRIMARY KEY, z TEXT REFERENCES z (id), "order" TEXT NOT NULL);
    CREATE TABLE passing_x (id TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE figures (name TEXT PRIMARY KEY, count INTEGER NOT NULL);
    CREATE TABLE row_digest_tables (of_table TEXT PRIMARY KEY, columns TEXT NOT NULL);
    CREATE TABLE row_digests (row TEXT NOT NULL, of_table TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (row, of_table));
    CREATE INDEX a_by_z ON a (z);
    INSERT INTO figures VALUES ('a', 0);
    CREATE TRIGGER a_added AFTER INSERT ON a BEGIN UPDATE figures SET count = count + 1 WHERE name = 'a'; END;`,
  postgres: `
    CREATE TABLE migrations (name TEXT COLLATE "C" PRIMARY KEY);
    CREATE TABLE a ("order" TEXT NOT NULL, number BIGINT PRIMARY KEY, z TEXT COLLATE "C");
    CREATE TABLE z (id TEXT COLLATE "C" PRIMARY KEY, number BIGINT, part DOUBLE PRECISION, bytes BYTEA);
    ALTER TABLE a ADD FOREIGN KEY (z) REFERENCES z (id);
    CREATE TABLE passing_x (id TEXT COLLATE "C" PRIMARY KEY);
    CREATE TABLE figures (name TEXT COLLATE "C" PRIMARY KEY, count BIGINT NOT NULL);
    CREATE VIEW all_of_a AS SELECT * FROM a;
    INSERT INTO figures VALUES ('a', 0);
    CREATE FUNCTION a_added() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN UPDATE figures SET count = count + 1 WHERE name = 'a'; RETURN NEW; END $$;
    CREATE TRIGGER a_added AFTER INSERT ON a FOR EACH ROW EXECUTE FUNCTION a_added();`,
};

const folder = mkdtempSync(join(tmpdir(), 'larder-rows-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** A file with the tables. */
function newFile(): string {
  const file = join(folder, `${String(files++)}.db`);
  const db = new SQLite(file);
  db.exec(tables.sqlite);
  db.close();
  return file;
}

const target = (address: string, attempt = 'one') =>
  postgresTarget(address, { attempt, make: (tx) => tx.script(tables.postgres) });

/** To a server and back into another file; returns the rows of the file and of the server. */
async function thereAndBack(file: string, address: string, leave?: (table: string) => boolean) {
  const from = sqliteSource(file);
  const to = await target(address);
  await copyRows(from, to, leave ? { leave } : {});
  await to.commit();
  await to.close();
  from.close();
  const server = await postgresSource(address);
  const back = newFile();
  const fresh = sqliteTarget(back);
  await copyRows(server, fresh);
  fresh.finish();
  fresh.close();
  const serverRows = await allRows(server);
  await server.close();
  return { back, there: serverRows };
}

const anyText = fc
  .string({
    unit: fc.constantFrom('a', 'é', '😀', '"', "'", '\\', '{', '}', ',', '\n', '\u0001', 'NULL', ' ', '$1', '\u007f'),
  })
  .filter((text) => !text.includes('\u0000'));
const nothingOr = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { freq: 5 });
const anyRow = fc.tuple(
  nothingOr(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  nothingOr(fc.double({ noNaN: true, noDefaultInfinity: true })),
  nothingOr(fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))),
  anyText,
);

t.test('every value of a row survives a copy', async (t) => {
  const server = await sharedPostgres(root);
  await fc.assert(
    fc.asyncProperty(fc.array(anyRow, { maxLength: 30 }), async (rows) => {
      const file = newFile();
      const db = new SQLite(file);
      for (const [at, [number, part, bytes, text]] of rows.entries()) {
        db.prepare('INSERT INTO z VALUES (?, ?, ?, ?)').run(`${text}${String(at)}`, number, part, bytes);
        db.prepare('INSERT INTO a VALUES (?, ?, ?)').run(BigInt(at) * 2n ** 50n, `${text}${String(at)}`, text);
        db.prepare('INSERT INTO passing_x VALUES (?)').run(`${text}${String(at)}`);
      }
      db.close();
      const before = await rowsOfFile(file);
      const { back, there: serverRows } = await thereAndBack(file, await server.newSchema());
      t.strictSame(serverRows, before);
      t.strictSame(await rowsOfFile(back), before);
    }),
    { numRuns: process.env['LARDER_LONG'] === '1' ? 300 : 15 },
  );
});

/** A file with some rows. */
function someRows(count = 3): string {
  const file = newFile();
  const db = new SQLite(file);
  db.transaction(() => {
    for (let at = 0; at < count; at++) {
      db.prepare('INSERT INTO z VALUES (?, ?, 0.5, NULL)').run(`z${String(at)}`, at);
      db.prepare('INSERT INTO a VALUES (?, ?, ?)').run(7 * at, `z${String(at)}`, 'x'.repeat(at % 100));
      db.prepare('INSERT INTO passing_x VALUES (?)').run(String(at));
    }
  })();
  db.close();
  return file;
}

t.test('rows made by triggers are copied with the others, and the triggers continue on both sides', async (t) => {
  const address = await (await sharedPostgres(root)).newSchema();
  const file = someRows();
  const { back } = await thereAndBack(file, address, (table) => table.startsWith('passing_'));
  const content = await rowsOfFile(back);
  t.same(content['figures'], [[3n, 'a']]);
  t.same(content['passing_x'], [], 'what stays behind');
  const db = new SQLite(back);
  db.prepare(`INSERT INTO a (z, "order") VALUES ('z0', 'x')`).run();
  t.same(db.prepare('SELECT max(number), (SELECT count FROM figures) FROM a').raw().get(), [15, 4]);
  t.equal(db.prepare(`SELECT count(*) FROM row_digests WHERE of_table = 'z'`).pluck().get(), 3, 'with their digests');
  t.same(
    db.prepare(`SELECT name FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL`).pluck().all(),
    ['a_by_z', 'a_added'],
  );
  db.close();
});

t.test('many rows come batch by batch', async (t) => {
  const address = await (await sharedPostgres(root)).newSchema();
  const file = someRows(5000);
  const { there: serverRows } = await thereAndBack(file, address);
  t.strictSame(serverRows, await rowsOfFile(file));
});

t.test('a row that is read back differently is reported', async (t) => {
  const file = someRows();
  const wrong = (rows: (rows: Cell[][]) => Cell[][]): RowTarget => {
    const to = sqliteTarget(newFile());
    return { ...to, write: (table, some) => to.write(table, table.name === 'z' ? rows(some) : some) };
  };
  const source = sqliteSource(file);
  for (const [label, change] of Object.entries<(rows: Cell[][]) => Cell[][]>({
    'a row is lost': (rows) => rows.slice(1),
    'a value is another': (rows) => rows.map(([id, number, part]) => [id!, (number as bigint) + 1n, part!, null]),
    'a value moved from one row to another': (rows) =>
      rows.map(([id], at) => [id!, rows[(at + 1) % rows.length]![1]!, 0.5, null]),
  })) {
    await t.rejects(
      copyRows(source, wrong(change)),
      { message: /^the copy of the table z differs from the source/ },
      label,
    );
  }
  source.close();
});

t.test('tables of another release are refused', async (t) => {
  const file = someRows();
  const db = new SQLite(file);
  db.exec('ALTER TABLE z ADD COLUMN later TEXT');
  db.close();
  const source = sqliteSource(file);
  await t.rejects(copyRows(source, sqliteTarget(newFile())), {
    message: 'the table z differs between source and target: different releases made them',
  });
  source.close();
});

t.test('a row that refers to nothing is found', async (t) => {
  const file = someRows();
  const db = new SQLite(file);
  db.pragma('foreign_keys = OFF');
  db.exec(`DELETE FROM z WHERE id = 'z1'`);
  db.close();
  const source = sqliteSource(file);
  const to = sqliteTarget(newFile());
  await copyRows(source, to);
  t.throws(() => to.finish(), { message: 'a row of a refers to nothing in z' });
  to.close();
  const server = await target(await (await sharedPostgres(root)).newSchema());
  await t.rejects(copyRows(source, server), { message: 'cannot write the table a' });
  await server.close();
  source.close();
});

t.test('a copy is complete or absent, and the next attempt removes the rest of a failed one', async (t) => {
  const server = await sharedPostgres(root);
  const address = await server.newSchema();
  const file = someRows();
  const source = sqliteSource(file);
  const half = await target(address);
  await copyRows(source, half);
  await half.close();
  t.equal(await count(address), 0, 'nothing before the commit');
  const whole = await target(address);
  await copyRows(source, whole);
  await whole.commit();
  await whole.close();
  t.equal(await count(address), 5);
  await t.rejects(target(address, 'two'), {
    message: /^there is a store in the database postgres at .* already, or the remains of an interrupted command$/,
  });
  const again = await target(address);
  await copyRows(source, again);
  await again.commit();
  await again.close();
  t.equal(await count(address), 5, 'the same attempt begins anew');
  await settleAttempt(address);
  await t.rejects(target(address), { message: /already$/ });
  source.close();

  const other = await server.newSchema();
  const schema = /search_path%3D(\w+)/.exec(other)![1]!;
  await server.ask(`CREATE TABLE ${schema}.recipes (name TEXT)`);
  await t.rejects(target(other), {
    message: /is not empty: it contains tables that are not larder's, such as recipes$/,
  });
});

async function count(address: string): Promise<number> {
  const source = await postgresSource(address);
  const { length } = await source.tables();
  await source.close();
  return length;
}

t.test('a copy shows one moment, with any writes during it', async (t: Test) => {
  const server = await sharedPostgres(root);
  const address = await server.newSchema();
  const schema = /search_path%3D(\w+)/.exec(address)![1]!;
  const { back } = await thereAndBack(someRows(), address);
  t.equal((await rowsOfFile(back))['z']!.length, 3);
  const source = await postgresSource(address);
  await source.tables();
  await server.ask(
    `INSERT INTO ${schema}.z VALUES ('later', 1, 1, NULL); DELETE FROM ${schema}.a; UPDATE ${schema}.z SET number = 9`,
  );
  const fresh = sqliteTarget(newFile());
  await copyRows(source, fresh);
  t.strictSame(await allRows(fresh), await rowsOfFile(back));
  fresh.close();
  await source.close();
});
