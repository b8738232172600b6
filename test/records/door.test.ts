// The interface of the database: its behaviour for every transaction of any caller.
import { mkdtempSync, openSync, rmSync, statSync, writeSync, closeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import SQLite from 'better-sqlite3';
import fc from 'fast-check';
import t from 'tap';

import { columns, list, sql, type Database, type Queries } from '#engine/database.ts';
import { openPostgres } from '#engine/postgres/driver.ts';
import { openSqlite, type SqliteOptions } from '#engine/sqlite/driver.ts';
import { emptyPlace, onSqlite } from '#test/fixtures/records/engines.ts';

interface Account {
  name: string;
  balance: number;
}

/** A database with two accounts; `beside` opens it as another process has it. */
async function open(
  t: { teardown(work: () => unknown): void },
  options: SqliteOptions = {},
): Promise<{ db: Database; file: string; beside(): Promise<Database> }> {
  const directory = mkdtempSync(join(tmpdir(), 'larder-door-'));
  const file = join(directory, 'test.db');
  const address = await emptyPlace();
  const opened: Database[] = [];
  const openAnother = async (): Promise<Database> => {
    const db = address === undefined ? openSqlite(file, options) : await openPostgres(address);
    opened.push(db);
    return db;
  };
  const db = await openAnother();
  t.teardown(async () => {
    for (const database of opened) await database.close();
    rmSync(directory, { recursive: true, force: true });
  });
  await db.transaction(async (tx) => {
    await tx.script(`
      CREATE TABLE accounts (name TEXT PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0));
      CREATE TABLE parts (owner TEXT NOT NULL REFERENCES accounts (name));`);
    await tx.run(sql`INSERT INTO accounts (name, balance) VALUES ('ada', 100), ('bob', 0)`);
  });
  return { db, file, beside: openAnother };
}

const balances = async (from: Pick<Queries, 'all'>): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await from.all<Account>(sql`SELECT name, balance FROM accounts ORDER BY name`)).map(({ name, balance }) => [
      name,
      balance,
    ]),
  );

const add = (tx: Queries, name: string, amount: number): Promise<number> =>
  tx.run(sql`UPDATE accounts SET balance = balance + ${amount} WHERE name = ${name}`);

t.test('every commit is on disk before it is reported', onSqlite, async (t) => {
  const { db } = await open(t);
  const pragma = async (from: Pick<Queries, 'get'>): Promise<unknown[]> => [
    await from.get(sql`PRAGMA synchronous`),
    await from.get(sql`PRAGMA journal_mode`),
    await from.get(sql`PRAGMA foreign_keys`),
    await from.get(sql`PRAGMA trusted_schema`),
    await from.get(sql`PRAGMA cell_size_check`),
  ];
  const expected = [
    { synchronous: 2 },
    { journal_mode: 'wal' },
    { foreign_keys: 1 },
    { trusted_schema: 0 },
    { cell_size_check: 1 },
  ];
  t.same(await pragma(db), expected, 'for the reader');
  t.same(await db.transaction((tx) => pragma(tx)), expected, 'and the writer');
});

t.test('a reader sees committed rows only', async (t) => {
  const { db } = await open(t);
  const began = Promise.withResolvers<undefined>();
  const goOn = Promise.withResolvers<undefined>();
  const change = db.transaction(async (tx) => {
    await add(tx, 'ada', -100);
    began.resolve(undefined);
    await goOn.promise;
    t.same(await balances(tx), { ada: 0, bob: 0 }, 'who changes sees his change');
    await add(tx, 'bob', 100);
  });
  await began.promise;
  for (let turn = 0; turn < 3; turn++) {
    t.same(await balances(db), { ada: 100, bob: 0 });
    await sleep(1);
  }
  goOn.resolve(undefined);
  await change;
  t.same(await balances(db), { ada: 0, bob: 100 });
});

t.test('a write that comes while a transaction waits neither joins it nor goes with it', async (t) => {
  const { db } = await open(t);
  const began = Promise.withResolvers<undefined>();
  const failing = db.transaction(async (tx) => {
    await add(tx, 'ada', -50);
    began.resolve(undefined);
    await sleep(10);
    throw new Error('changed my mind');
  });
  await began.promise;
  const other = db.transaction(async (tx) => {
    t.same(await balances(tx), { ada: 100, bob: 0 }, 'no dirty read');
    await add(tx, 'bob', 7);
    return 'done';
  });
  await t.rejects(failing, { message: 'changed my mind' });
  t.equal(await other, 'done');
  t.same(await balances(db), { ada: 100, bob: 7 }, 'no lost write');
});

t.test('transactions run one after the other in the order of the calls', async (t) => {
  const { db } = await open(t);
  const order: string[] = [];
  await Promise.allSettled(
    [...Array(20).keys()].map((at) =>
      db.transaction(async (tx) => {
        order.push(`begin ${at}`);
        const { ada = 0 } = await balances(tx);
        await sleep(at % 3);
        await tx.run(sql`UPDATE accounts SET balance = ${ada + 1} WHERE name = 'ada'`);
        order.push(`end ${at}`);
        if (at % 5 === 0) throw new Error('no');
      }),
    ),
  );
  t.ok(
    order.every((event, at) => at % 2 === 0 || event === order[at - 1]!.replace('begin', 'end')),
    'each run ends before the next begins',
  );
  // Those of a group begin again if one of them fails after it has written. Only the last run of each is kept.
  const lastRuns = order.filter((event, at) => order.lastIndexOf(event) === at);
  t.same(
    lastRuns,
    [...Array(20).keys()].flatMap((at) => [`begin ${at}`, `end ${at}`]),
  );
  t.same(await balances(db), { ada: 116, bob: 0 }, 'each saw what the one before had left');
});

t.test('after any failure, the sum stays', async (t) => {
  const { db } = await open(t);
  const transfer = fc.record({
    from: fc.constantFrom('ada', 'bob'),
    amount: fc.nat({ max: 150 }),
    fails: fc.constantFrom('no', 'before', 'between', 'after'),
    waits: fc.nat({ max: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(transfer, { minLength: 1, maxLength: 12 }), async (transfers) => {
      await Promise.allSettled(
        transfers.map(({ from, amount, fails, waits }) =>
          db.transaction(async (tx) => {
            if (fails === 'before') throw new Error(fails);
            await add(tx, from, -amount);
            for (let turn = 0; turn < waits; turn++) await sleep(0);
            if (fails === 'between') throw new Error(fails);
            await add(tx, from === 'ada' ? 'bob' : 'ada', amount);
            if (fails === 'after') throw new Error(fails);
          }),
        ),
      );
      const { ada = 0, bob = 0 } = await balances(db);
      return ada + bob === 100;
    }),
    { numRuns: 40 },
  );
});

t.test('a change that breaks a constraint of the database is refused, and the transaction with it', async (t) => {
  const { db } = await open(t);
  await t.rejects(
    db.transaction(async (tx) => {
      await add(tx, 'bob', 5);
      await add(tx, 'ada', -101);
    }),
    /check constraint/i,
  );
  await t.rejects(
    db.transaction(async (tx) => {
      await add(tx, 'bob', 5);
      await tx.run(sql`INSERT INTO parts (owner) VALUES ('nobody')`);
    }),
    /foreign key constraint/i,
  );
  await t.rejects(
    db.transaction(async (tx) => {
      await add(tx, 'bob', 5);
      await tx.run(sql`NONSENSE`);
    }),
    /syntax error/,
  );
  t.same(await balances(db), { ada: 100, bob: 0 });
});

t.test('outside a transaction nothing is written', async (t) => {
  const { db } = await open(t);
  await t.rejects(
    db.all(sql`UPDATE accounts SET balance = 0 RETURNING name`),
    /readonly|read-only|query_only|attempt to write/i,
  );
  t.same(await balances(db), { ada: 100, bob: 0 });
});

t.test('a transaction that has ended takes nothing more', async (t) => {
  const { db } = await open(t);
  let queries: Queries | undefined;
  await db.transaction(async (tx) => {
    queries = tx;
  });
  if (queries === undefined) throw new Error('cannot be');
  const ended = /a transaction that has ended/;
  await t.rejects(add(queries, 'ada', 1), ended);
  await t.rejects(balances(queries), ended);
  await t.rejects(queries.get(sql`SELECT 1`), ended);
  await t.rejects(queries.script('DELETE FROM accounts'), ended);
  const tx = queries;
  await db.transaction(async () => {
    await t.rejects(add(tx, 'ada', 1), ended, 'not even while another runs');
  });
  t.same(await balances(db), { ada: 100, bob: 0 });
});

t.test('the changes of a commit share what one of them has read, until one of them forgets it', async (t) => {
  const { db } = await open(t);
  let reads = 0;
  const key = {};
  let seen: string[] = [];
  const change = (name: string, how: 'reads' | 'changes' | 'is refused' | 'fails to read' = 'reads') =>
    db.transaction(async (tx, commit) => {
      // A server may begin them all again, because a change is refused.
      if (name === 'a') [seen, reads] = [[], 0];
      if (how === 'fails to read')
        await commit.recall(key, () => Promise.reject(new Error('no'))).catch(() => undefined);
      const read = async (): Promise<number> => {
        reads++;
        return (await balances(tx))['ada']!;
      };
      seen.push(`${name} ${String(await commit.recall(key, read))}`);
      if (how === 'reads' || how === 'fails to read') return;
      await add(tx, 'ada', -1);
      commit.forget(key);
      seen.push(`${name} ${String(await commit.recall(key, read))}`);
      if (how === 'is refused') throw new Error('refused');
    });
  await Promise.allSettled([
    change('a', 'fails to read'),
    change('b'),
    change('c', 'is refused'),
    change('d'),
    change('e', 'changes'),
    change('f'),
  ]);
  t.same(seen, ['a 100', 'b 100', 'c 100', 'c 99', 'd 100', 'e 100', 'e 99', 'f 99']);
  t.equal(reads, 3);
  await change('g');
  t.equal(reads, 4, 'the next commit reads again');
  t.same(await balances(db), { ada: 99, bob: 0 });
});

t.test('values are unchanged, with any characters', async (t) => {
  const { db } = await open(t);
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 40 }), async (name) => {
      fc.pre(!name.includes('\0') && name.isWellFormed() && name !== 'ada' && name !== 'bob');
      await db.transaction((tx) => tx.run(sql`INSERT INTO accounts (name, balance) VALUES (${name}, 1)`));
      const account = await db.get<Account>(sql`SELECT name, balance FROM accounts WHERE name = ${name}`);
      await db.transaction((tx) => tx.run(sql`DELETE FROM accounts WHERE name = ${name}`));
      return account?.name === name;
    }),
    { numRuns: 60 },
  );
  const injected = "'; DROP TABLE accounts; --";
  t.equal(await db.get(sql`SELECT 1 FROM accounts WHERE name = ${injected}`), undefined);
  t.same(await balances(db), { ada: 100, bob: 0 });
});

t.test('a list of values has any length, and columns are named once', async (t) => {
  const { db } = await open(t);
  const both = columns`name, balance AS "has"`;
  const of = (names: string[], least: number) =>
    db.all(sql`SELECT ${both} FROM accounts WHERE name IN ${list(names)} AND balance >= ${least} ORDER BY name`);
  const [ada, bob] = [
    { name: 'ada', has: 100 },
    { name: 'bob', has: 0 },
  ];
  t.same(await of(['bob', 'ada', 'ada', '") OR 1=1 --'], 0), [ada, bob]);
  t.same(await of(['bob', 'ada'], 1), [ada], 'what stands behind a list is where it belongs');
  t.same(await of([], 0), []);
  t.same(await db.all(sql`SELECT name FROM accounts WHERE balance NOT IN ${list([100])}`), [{ name: 'bob' }]);
  const other = columns`name`;
  const either = (which: typeof both) => db.all(sql`SELECT ${which} FROM accounts`);
  await either(both);
  t.throws(() => either(other), { message: 'a statement has the same columns every time' });
});

t.test('two processes at one file wait for each other and see each other at once', async (t) => {
  const { db, beside: openBeside } = await open(t);
  const other = await openBeside();
  await other.transaction((tx) => add(tx, 'bob', 3));
  t.same(await balances(db), { ada: 100, bob: 3 });
  await Promise.all(
    [...Array(20).keys()].map((at) => (at % 2 === 0 ? db : other).transaction((tx) => add(tx, 'ada', 1))),
  );
  t.same(await balances(db), { ada: 120, bob: 3 });
  t.same(await balances(other), { ada: 120, bob: 3 });
});

t.test('rows that a change has read are unchanged when it writes, also with other processes', async (t) => {
  const { db, beside: openAnother } = await open(t);
  const both = [db, await openAnother()];
  await Promise.all(
    [...Array(10).keys()].map((at) =>
      both[at % 2]!.transaction(async (tx) => {
        const { ada = 0 } = await balances(tx);
        await sleep(2);
        await tx.run(sql`UPDATE accounts SET balance = ${ada + 1} WHERE name = 'ada'`);
      }),
    ),
  );
  t.same(await balances(db), { ada: 110, bob: 0 });
});

t.test('waiting for another process delays no transaction here', async (t) => {
  const { db, beside: openBeside } = await open(t);
  const other = await openBeside();
  const began = Promise.withResolvers<undefined>();
  const goOn = Promise.withResolvers<undefined>();
  const slow = other.transaction(async (tx) => {
    await add(tx, 'bob', 1);
    began.resolve(undefined);
    await goOn.promise;
  });
  await began.promise;
  const waiting = db.transaction((tx) => add(tx, 'bob', 1));
  let ticks = 0;
  for (; ticks < 20; ticks++) {
    t.same(await balances(db), { ada: 100, bob: 0 }, 'reading goes on');
    await sleep(1);
  }
  t.equal(ticks, 20);
  goOn.resolve(undefined);
  await Promise.all([slow, waiting]);
  t.same(await balances(db), { ada: 100, bob: 2 });
});

t.test('a closed database reports it', async (t) => {
  const { db, beside: openAnother } = await open(t);
  const other = await openAnother();
  const last = other.transaction((tx) => add(tx, 'ada', 1));
  await other.close();
  await last;
  t.same(await balances(db), { ada: 101, bob: 0 }, 'what was asked for before the close is done');
  await t.rejects(
    other.transaction((tx) => add(tx, 'ada', 1)),
    /cannot write: the database is closed/,
  );
  await other.close();
});

t.test('a damaged file is reported once it is met, and nothing is acknowledged', onSqlite, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'larder-door-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'test.db');
  const first = openSqlite(file);
  await first.transaction(async (tx) => {
    await tx.script('CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)');
    for (let at = 0; at < 2000; at++) await tx.run(sql`INSERT INTO rows (text) VALUES (${'x'.repeat(200)})`);
  });
  await first.close();
  const handle = openSync(file, 'r+');
  const { size } = statSync(file);
  for (let at = 4096; at < size; at += 4096) writeSync(handle, Buffer.alloc(2048, 0xff), 0, 2048, at);
  closeSync(handle);

  const errors: Error[] = [];
  const damaged = openSqlite(file, { fatal: (error) => errors.push(error) });
  t.teardown(() => damaged.close());
  await t.rejects(
    damaged.transaction(async (tx) => {
      await tx.run(sql`UPDATE rows SET text = 'y'`);
    }),
    /malformed|corrupt/i,
  );
  t.equal(errors.length, 1);
});

t.test('the version is another one after every commit, also within one turn and of another process', async (t) => {
  const { db, beside: openAnother } = await open(t);
  const others = await openAnother();
  const pay = sql`UPDATE accounts SET balance = balance + 1 WHERE name = 'bob'`;
  const seen = [await db.version()];
  t.equal(await db.version(), seen[0], 'without a commit it stays');
  await db.transaction(async (tx) => {
    await tx.run(pay);
    t.equal(await db.version(), seen[0], 'before the commit it stays');
  });
  seen.push(await db.version());
  // Asked again in the same turn as the commit that it has to show.
  const result = await db.transaction((tx) => tx.run(pay)).then(() => ({ version: db.version() }));
  seen.push(await result.version);
  await others.transaction((tx) => tx.run(pay));
  await sleep(0);
  seen.push(await db.version());
  t.equal(new Set(seen).size, 4, 'three commits, four versions');
});

t.test(
  'transactions that wait while another process writes all time out together, not one after the other',
  onSqlite,
  async (t) => {
    const { db, file } = await open(t);
    const other = new SQLite(file);
    t.teardown(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    let moment = 0;
    t.intercept(performance, 'now', { value: () => moment });
    const changes = [1, 2, 3, 4].map((amount) => db.transaction((tx) => add(tx, 'ada', amount)));
    // The full timeout. A transaction that began to wait only now would wait without end, since the clock stands still.
    moment = 5001;
    for (const change of changes)
      await t.rejects(change, { name: 'Refusal', status: 503, retryAfter: 5, message: /Another process has held/ });
    other.exec('ROLLBACK');
    await db.transaction((tx) => add(tx, 'ada', 1));
    t.same(await balances(db), { ada: 101, bob: 0 });
  },
);

t.test('a full disk refuses the change with the remedy, and leaves nothing of it', onSqlite, async (t) => {
  const calls: string[] = [];
  const { db } = await open(t, {
    fatal: () => void calls.push('fatal'),
    makeRoom: () => Promise.resolve(calls.push('room') > 1e9),
  });
  const refused = db.transaction(async (tx) => {
    await add(tx, 'ada', 1);
    await fill(tx, true);
  });
  await t.rejects(refused, {
    code: 'insufficient-storage',
    status: 507,
    retryAfter: 300,
    message: /is full, so nothing was changed/,
    cause: { code: 'SQLITE_FULL' },
  });
  t.same(calls, ['room'], 'it is no failure of the disk');
  t.same(await balances(db), { ada: 100, bob: 0 });
  await db.transaction((tx) => tx.script('PRAGMA max_page_count = 1000000'));
  await db.transaction((tx) => add(tx, 'ada', 1));
  t.same(await balances(db), { ada: 101, bob: 0 }, 'and it goes on when there is room');
});

t.test('so does a transaction that cannot extend the index of the log', onSqlite, async (t) => {
  const calls: string[] = [];
  const { db } = await open(t, { fatal: () => void calls.push('fatal') });
  const refused = db.transaction(async (tx) => {
    await add(tx, 'ada', 1);
    throw new SQLite.SqliteError('disk I/O error', 'SQLITE_IOERR_SHMSIZE');
  });
  await t.rejects(refused, { code: 'insufficient-storage', cause: { code: 'SQLITE_IOERR_SHMSIZE' } });
  t.same(calls, []);
  t.same(await balances(db), { ada: 100, bob: 0 });
});

t.test('a change on a full disk goes through when room is made for it', onSqlite, async (t) => {
  let full = true;
  const makeRoom = (): Promise<boolean> => {
    full = false;
    return Promise.resolve(true);
  };
  const { db } = await open(t, { makeRoom });
  let tries = 0;
  await db.transaction(async (tx) => {
    tries++;
    await add(tx, 'ada', 1);
    await fill(tx, full);
  });
  t.equal(tries, 2);
  t.same(await balances(db), { ada: 101, bob: 0 }, 'once');
});

/** Writes more than there is room for. */
async function fill(tx: Queries, full: boolean): Promise<void> {
  await tx.script(`PRAGMA max_page_count = ${full ? '20' : '1000000'}`);
  await tx.script('CREATE TABLE filler (content BLOB); INSERT INTO filler VALUES (zeroblob(1000000));');
}
