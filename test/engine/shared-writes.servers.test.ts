// The queries of one turn of the event loop go to PostgreSQL in one write, and their results come back to their callers.
import t, { type Test } from 'tap';

import { readAddress } from '#contract/postgres-address.ts';
import { list, sql, type Database, type Queries, type SqlStatement } from '#engine/database.ts';
import { PostgresConnection } from '#engine/postgres/connection.ts';
import { openPostgres } from '#engine/postgres/driver.ts';
import { isLost } from '#engine/postgres/errors.ts';
import { sharedPostgres } from '#test/fixtures/servers/postgres.ts';
import { startProxy } from '#test/fixtures/servers/postgres-proxy.ts';
import { until } from '#test/fixtures/until.ts';

const root = t;

/** A database with a table, reached through a proxy. `writesOf` returns the writes to the server while `work` runs. */
async function opened(t: Test) {
  const { folder, newSchema } = await sharedPostgres(root);
  const proxy = await startProxy(folder);
  t.teardown(proxy.end);
  const address = (await newSchema()).replace(encodeURIComponent(folder), encodeURIComponent(proxy.folder));
  const db = await openPostgres(address);
  t.teardown(() => db.close());
  await db.transaction((tx) => tx.script('CREATE TABLE done (name TEXT COLLATE "C" NOT NULL, times BIGINT)'));
  await db.get(sql`SELECT 1 AS first`);
  const writesOf = async (work: () => Promise<unknown>): Promise<string[]> => {
    const writes: string[] = [];
    proxy.passing = (data) => writes.push(data.toString('latin1'));
    await work();
    proxy.passing = () => undefined;
    return writes;
  };
  return { db, proxy, address, writesOf };
}

/** How many messages in a piece end a query (Sync). */
const countSyncs = (write: string): number => [...write.matchAll(/S\0\0\0\u0004/g)].length;

const divide = (divisor: number): SqlStatement => sql`SELECT ${divisor} AS divisor, 100 / ${divisor} AS result`;
const outcomesOf = (db: Pick<Database, 'get'>, statements: readonly SqlStatement[]) =>
  Promise.allSettled(statements.map((statement) => db.get(statement)));

t.test('the queries of one turn travel together, and each caller gets its own rows', async (t) => {
  const { db, writesOf } = await opened(t);
  for (const when of ['the first time', 'again']) {
    const numbers = [1, 2, 4, 5, 10];
    const writes = await writesOf(async () => {
      t.same(
        await Promise.all(numbers.map((divisor) => db.all(divide(divisor)))),
        numbers.map((divisor) => [{ divisor, result: 100 / divisor }]),
        when,
      );
    });
    t.same(writes.map(countSyncs), [5], `in one write ${when}`);
  }
  const two = await writesOf(async () => {
    await db.all(divide(1));
    await db.all(divide(2));
  });
  t.same(two.map(countSyncs), [1, 1], 'the queries of two turns do not');
});

t.test('a query that fails harms no other query of its turn, not even with the same statement', async (t) => {
  const { db, writesOf } = await opened(t);
  const statements = [
    divide(0),
    divide(5),
    sql`SELECT name FROM missing`,
    sql`SELECT name FROM done`,
    sql`SELECT ${'a\0b'} AS name`,
    divide(20),
  ];
  for (const when of ['the first time', 'again']) {
    const writes = await writesOf(async () => {
      t.match(
        await outcomesOf(db, statements),
        [
          { status: 'rejected', reason: { code: '22012' } },
          { status: 'fulfilled', value: { divisor: 5, result: 20 } },
          { status: 'rejected', reason: { code: '42P01' } },
          { status: 'fulfilled', value: undefined },
          { status: 'rejected', reason: { status: 400, message: /NUL character/ } },
          { status: 'fulfilled', value: { divisor: 20, result: 5 } },
        ],
        when,
      );
    });
    t.equal(writes.length, 1);
  }
  t.match(db.server!.pool(), { waiting: 0, lost: 0, retries: 0 });
});

t.test('a lost connection fails all its queries, and the store asks them on another one', async (t) => {
  const { db, proxy, address } = await opened(t);
  const connection = await PostgresConnection.open(readAddress(address), 'reads');
  const [done, ...lost] = [sql`SELECT 1 AS one`, sql`SELECT pg_sleep(${60})`, divide(5), divide(0)].map((statement) =>
    connection.query(statement),
  );
  t.match((await done!).rows, [{ one: 1 }]);
  const reads = Promise.all([
    db.get(sql`SELECT 1 AS slept FROM pg_sleep(${0.5})`),
    db.get(divide(5)),
    db.get(divide(10)),
  ]);
  await until(() => db.server!.pool().used === 1);
  proxy.breakAll();
  for (const outcome of await Promise.allSettled(lost)) {
    t.equal(outcome.status, 'rejected');
    t.ok(isLost((outcome as PromiseRejectedResult).reason));
  }
  t.equal(connection.pending, 0);
  t.ok(connection.isLost);
  await t.rejects(connection.query(divide(5)), 'nor does it take further queries');
  t.same(await reads, [{ slept: 1 }, { divisor: 5, result: 20 }, { divisor: 10, result: 10 }]);
  t.match(db.server!.pool(), { retries: 3 });
});

const add = (tx: Queries, name: string | null): Promise<void> =>
  tx.write(sql`INSERT INTO done (name) VALUES (${name})`);

t.test('a change waits for its reads only, and its statements between two of them travel together', async (t) => {
  const { db, writesOf } = await opened(t);
  const change = (name: string) => async (tx: Queries) => {
    await tx.get(sql`SELECT times FROM done WHERE name = ${name}`);
    await add(tx, name);
  };
  await Promise.all(['a', 'b'].map((name) => db.transaction(change(name))));
  await db.transaction(change('c'));
  const shown = (write: string): string =>
    [...write.matchAll(/BEGIN|RELEASE|SAVEPOINT|COMMIT|larder_\d+|ROLLBACK/g)]
      .map(([text]) => text.replace(/larder_\d+/, 'query'))
      .filter((text, at, all) => text !== all[at - 1])
      .join(' ');
  const writes = await writesOf(() => db.transaction(change('d')));
  t.same(writes.map(shown), ['BEGIN query', 'query COMMIT'], 'alone');
  const together = (...works: ((tx: Queries) => Promise<unknown>)[]) =>
    Promise.allSettled(works.map((work) => db.transaction(work))).then((outcomes) =>
      outcomes.map(({ status }) => status),
    );
  const trusting = await writesOf(() => together(change('e'), change('f'), change('g')));
  t.same(trusting.map(shown), ['BEGIN query', 'query', 'query', 'query COMMIT']);

  const refuse = () => Promise.reject(new Error('refused'));
  const readsOnly = (tx: Queries) => tx.get(sql`SELECT times FROM done`).then(refuse);
  const untouched = await writesOf(async () => {
    t.same(await together(readsOnly, change('h'), refuse), ['rejected', 'fulfilled', 'rejected']);
  });
  t.same(
    untouched.map(shown),
    ['BEGIN query', 'query', 'query COMMIT'],
    'a refusal without a change needs no rollback',
  );
  const undone = (tx: Queries) => change('never')(tx).then(refuse);
  t.same(await together(undone, change('i'), undone, undone, change('j')), [
    'rejected',
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ]);
  const careful = await writesOf(() => together(change('k'), undone, change('l')));
  t.same(
    careful.map(shown),
    [
      'BEGIN SAVEPOINT query',
      'query RELEASE SAVEPOINT query',
      'query',
      'ROLLBACK',
      'RELEASE SAVEPOINT query',
      'query COMMIT',
    ],
    'after a change that had to be rolled back, each has a savepoint',
  );
  for (let times = 0; times < 16; times++) await together(change('m'), change('m'));
  const again = await writesOf(() => together(change('n'), change('o')));
  t.same(again.map(shown), ['BEGIN query', 'query', 'query COMMIT'], 'for 16 commits');
  const returning = (tx: Queries) => tx.get(sql`INSERT INTO done (name) VALUES ('never') RETURNING name`).then(refuse);
  t.same(await together(returning, change('p')), ['rejected', 'fulfilled']);
  t.same(
    (await db.all<{ name: string }>(sql`SELECT DISTINCT name FROM done ORDER BY name`))
      .map(({ name }) => name)
      .join(''),
    'abcdefghijklmnop',
  );
});

t.test('rows are the same whether or not the columns of their statement are known', async (t) => {
  const { db } = await opened(t);
  const values = (name: string | null) => sql`
    SELECT ${name} AS "text", CAST(NULL AS BIGINT) AS nothing, ${2 ** 53 - 1} AS "number", ${-0.5} AS fraction, 1 = 1 AS "yes",
      ${Buffer.from([0, 255])} AS bytes, '{"a":[1]}' AS "__proto__x", sum(n) AS "sum", ${name} IN ${list(['ä', 'a"b\\c,{}', ''])} AS among
    FROM generate_series(1, 3) AS n`;
  const expected = (text: string) => ({
    text,
    nothing: null,
    number: 2 ** 53 - 1,
    fraction: -0.5,
    yes: 1,
    bytes: Buffer.from([0, 255]),
    __proto__x: '{"a":[1]}',
    sum: 6,
    among: 1,
  });
  for (const text of ['ä', 'a"b\\c,{}', '']) t.same(await db.get(values(text)), expected(text));
  t.same(await Promise.all([db.get(values('ä')), db.get(values(''))]), [expected('ä'), expected('')]);

  const changed = (name: string) => db.transaction((tx) => tx.run(sql`UPDATE done SET times = 1 WHERE name = ${name}`));
  await db.transaction(async (tx) => {
    await add(tx, 'a');
    await add(tx, 'a');
  });
  t.same(
    [await changed('b'), await changed('a'), await changed('a')],
    [0, 2, 2],
    'a statement without rows has a number',
  );

  const all = sql`SELECT * FROM done LIMIT ${1}`;
  for (let times = 0; times < 2; times++) t.same(await db.all(all), [{ name: 'a', times: 1 }]);
  await db.transaction((tx) =>
    tx.script('ALTER TABLE done ADD COLUMN further TEXT; ALTER TABLE done RENAME name TO label'),
  );
  t.same(await db.all(all), [{ label: 'a', times: 1, further: null }], 'after a change of the table');
});
