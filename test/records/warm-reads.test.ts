// Reads between transactions go through the connection that writes, and see what a connection of their own would see.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { sql, type Queries } from '#engine/database.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { readThroughWriter } from '#engine/sqlite/warm-reads.ts';

type Test = { teardown(work: () => unknown): void };

async function open(t: Test) {
  const directory = mkdtempSync(join(tmpdir(), 'larder-warm-'));
  const file = join(directory, 'test.db');
  const db = openSqlite(file);
  t.teardown(async () => {
    await db.close();
    rmSync(directory, { recursive: true, force: true });
  });
  await db.transaction((tx) => tx.script('CREATE TABLE written (id TEXT PRIMARY KEY)'));
  const ids = async (): Promise<string[]> =>
    (await db.all<{ id: string }>(sql`SELECT id FROM written ORDER BY id`)).map(({ id }) => id);
  return { db, file, ids };
}

const insert = (tx: Pick<Queries, 'run'>, id: string): Promise<number> =>
  tx.run(sql`INSERT INTO written (id) VALUES (${id})`);

t.test('a read while a change runs sees nothing of it, and all of it once it is acknowledged', async (t) => {
  const { db, ids } = await open(t);
  await db.transaction((tx) => insert(tx, 'ada'));
  await db.transaction(async (tx) => {
    await insert(tx, 'bob');
    t.same(await ids(), ['ada'], 'in the middle of the change');
    t.equal(await db.get(sql`SELECT id FROM written WHERE id = ${'bob'}`), undefined);
  });
  t.same(await ids(), ['ada', 'bob']);
  await t.rejects(
    db.transaction(async (tx) => {
      await insert(tx, 'carol');
      throw new Error('no');
    }),
    { message: 'no' },
  );
  t.same(await ids(), ['ada', 'bob'], 'nothing of a change that was rolled back');
});

t.test('a read sees the commit of another process', async (t) => {
  const { file, ids } = await open(t);
  t.same(await ids(), []);
  const other = new SQLite(file);
  other.exec(`INSERT INTO written VALUES ('ada')`);
  other.close();
  t.same(await ids(), ['ada']);
});

t.test('a statement that writes is refused outside of a transaction', async (t) => {
  const { db, ids } = await open(t);
  await t.rejects(db.get(sql`INSERT INTO written (id) VALUES (${'ada'}) RETURNING id`), /readonly database/);
  await t.rejects(db.all(sql`INSERT INTO written (id) VALUES (${'ada'}) RETURNING id`), /readonly database/);
  t.same(await ids(), []);
});

t.test('a read that fails is repeated through the reader, which says why', async (t) => {
  const { db } = await open(t);
  await t.rejects(db.all(sql`SELECT id FROM unknown`), /no such table: unknown/);
  const failing = { readonly: true, get: () => fail(), all: () => fail() } as unknown as SQLite.Statement<never[]>;
  const fail = (): never => {
    throw new SQLite.SqliteError('database is locked', 'SQLITE_BUSY_RECOVERY');
  };
  const { get, all } = readThroughWriter(
    { writer: { inTransaction: false }, prepare: () => failing, valuesOf: () => [] },
    db,
  );
  t.same(await get(sql`SELECT 1 AS one`), { one: 1 });
  t.same(await all(sql`SELECT 1 AS one`), [{ one: 1 }]);
});
