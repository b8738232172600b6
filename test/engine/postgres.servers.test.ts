// PostgreSQL behind the interface: its additions to the behaviour in test/records/door.test.ts, which covers every
// engine.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import SQLite from 'better-sqlite3';
import t, { type Test } from 'tap';

import { migrations, newStore } from '#data/upgrade.ts';
import { Refusal } from '#domain/refusal.ts';
import { list, sql, type Database, type Queries, type SqlStatement } from '#engine/database.ts';
import { migrate } from '#engine/migrate.ts';
import { readAddress, tlsOptions } from '#contract/postgres-address.ts';
import { refuseWeakDurability } from '#engine/postgres/connection.ts';
import { openPostgres } from '#engine/postgres/driver.ts';
import { postgresTarget } from '#engine/postgres/rows.ts';
import { postgresText, prepareStatement } from '#engine/postgres/statements.ts';
import { Versions } from '#engine/postgres/versions.ts';
import { sharedPostgres, startPostgres, type PostgresServer } from '#test/fixtures/servers/postgres.ts';
import { startProxy, type AtCommit } from '#test/fixtures/servers/postgres-proxy.ts';
import { sourceStatements } from '#test/fixtures/records/statements.ts';
import { until } from '#test/fixtures/until.ts';

/** A database with a table of its own, reached through a proxy. */
async function opened(t: Test, server: Promise<PostgresServer> = sharedPostgres(root)) {
  const { folder, newSchema } = await server;
  const proxy = await startProxy(folder);
  const address = await newSchema();
  const db = await openPostgres(address.replace(encodeURIComponent(folder), encodeURIComponent(proxy.folder)));
  t.teardown(async () => {
    await db.close();
    await proxy.end();
  });
  await db.transaction((tx) => tx.script('CREATE TABLE done (name TEXT COLLATE "C" NOT NULL)'));
  return { proxy, address, db };
}

const root = t;
const long = process.env['LARDER_LONG'] === '1';

const add = (tx: Queries, name: string): Promise<number> => tx.run(sql`INSERT INTO done (name) VALUES (${name})`);

/** How often each name was added. */
async function counted(db: Database): Promise<Record<string, number>> {
  const rows = await db.all<{ name: string; times: number }>(
    sql`SELECT name, count(*) AS times FROM done GROUP BY name ORDER BY name`,
  );
  return Object.fromEntries(rows.map(({ name, times }) => [name, times]));
}

t.test('the rows of a result are freed by the first collection of young objects', async (t) => {
  const { db } = await opened(t);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (how?: { type: 'minor' }) => void;
  const ask = async (): Promise<void> => {
    for (let times = 0; times < 5; times++) {
      await db.all(sql`SELECT lpad(CAST(i AS TEXT), 32, 'p') AS id, i AS number FROM generate_series(1, 1000) AS i`);
      await setImmediate();
    }
    collect({ type: 'minor' });
  };
  for (let times = 0; times < 4; times++) await ask();
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let times = 0; times < 6; times++) await ask();
  collect({ type: 'minor' });
  const bytes = (process.memoryUsage().heapUsed - before) / 30;
  // They have a hundred thousand.
  t.ok(bytes < 30_000, `an answer leaves ${bytes.toFixed(0)} bytes behind`);
});

t.test('the parameters of a statement are numbered, with their types', (t) => {
  const statementFor = (before: string | null) =>
    sql`SELECT 1 FROM x WHERE id IN ${list(['a'])} AND n NOT IN ${list([])} AND (${before} IS NULL OR at < ${before}) LIMIT ${2}`;
  t.equal(
    postgresText(statementFor('b')),
    `SELECT 1 FROM x WHERE id = ANY ($1) AND n <> ALL ($2) AND ($3::text COLLATE "C" IS NULL OR at < $4::text COLLATE "C") LIMIT $5::bigint`,
  );
  t.equal(
    postgresText(statementFor(null)),
    'SELECT 1 FROM x WHERE id = ANY ($1) AND n <> ALL ($2) AND (NULL IS NULL OR at < NULL) LIMIT $3::bigint',
  );
  t.equal(postgresText(sql`SELECT ${0.5}, ${Buffer.from('a')}`), 'SELECT $1::double precision, $2::bytea');
  t.same(prepareStatement(statementFor(null)).values, [['a'], [], 2]);
  t.equal(prepareStatement(statementFor('b')).name, prepareStatement(statementFor('c')).name, 'prepared once');
  t.not(
    prepareStatement(statementFor('b')).name,
    prepareStatement(statementFor(null)).name,
    'but for what is not there',
  );
  t.throws(() => postgresText(sql`SELECT ${list([])}`), { message: 'a list must follow IN' });
  t.end();
});

t.test('PostgreSQL understands every statement of the records, and its tables match those of SQLite', async (t) => {
  const address = await (await sharedPostgres(root)).newSchema();
  const db = await openPostgres(address);
  t.teardown(() => db.close());
  await migrate(db, migrations('postgres'), newStore('postgres'));
  const all = sourceStatements();
  t.ok(all.length > 500);
  const wrong: string[] = [];
  for (const { file, line, statement } of all) {
    const understood = (candidate: SqlStatement): Promise<void> =>
      db.transaction((tx) => tx.script(`PREPARE one AS ${postgresText(candidate)}; DEALLOCATE one`));
    // NULL has no type; a recursion needs that of its beginning.
    const texts = { ...statement, values: statement.values.map((value) => value ?? '') };
    await understood(statement)
      .catch(() => understood(texts))
      .catch((error: unknown) => wrong.push(`${file}:${String(line)}: ${(error as Error).message}`));
  }
  t.same(wrong, []);

  const sqlite = new SQLite(':memory:');
  t.teardown(() => sqlite.close());
  sqlite.exec('CREATE TABLE migrations (name TEXT PRIMARY KEY)');
  sqlite.exec(newStore('sqlite'));
  t.strictSame(await db.all(columnsInPostgres), sqlite.prepare(columnsInSqlite).all());
  t.strictSame(await db.all(triggersInPostgres), sqlite.prepare(triggersInSqlite).all());
});

const columnsInSqlite = `
  SELECT tables.name AS "table", columns.name AS "column", CASE columns.type
      WHEN 'TEXT' THEN 'text' WHEN 'INTEGER' THEN 'bigint' WHEN 'REAL' THEN 'double precision' END AS type,
    columns.pk > 0 AS "key",
    EXISTS (
      SELECT 1 FROM pragma_foreign_key_list(tables.name) AS refers WHERE refers."from" = columns.name) AS "refers"
  FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
  WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' AND tables.name NOT LIKE 'row_digest%'
  ORDER BY tables.name, columns.cid`;
const columnsInPostgres = sql`
  SELECT columns.table_name AS "table", column_name AS "column", data_type AS type,
    EXISTS (
      SELECT 1 FROM pg_constraint
      WHERE conrelid = to_regclass(columns.table_name) AND contype = 'p' AND ordinal_position = ANY (conkey)) AS "key",
    EXISTS (
      SELECT 1 FROM pg_constraint
      WHERE conrelid = to_regclass(columns.table_name) AND contype = 'f' AND ordinal_position = ANY (conkey)) AS "refers"
  FROM information_schema.columns JOIN information_schema.tables
    ON tables.table_name = columns.table_name AND tables.table_schema = columns.table_schema
  WHERE columns.table_schema = current_schema() AND table_type = 'BASE TABLE' AND columns.table_name <> 'larder_commits'
  ORDER BY columns.table_name COLLATE "C", ordinal_position`;

const triggersInSqlite = `SELECT name, tbl_name AS "table" FROM sqlite_master WHERE type = 'trigger' ORDER BY name`;
const triggersInPostgres = sql`
  SELECT tgname AS name, relname AS "table" FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
  WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace AND tgname NOT LIKE 'a_number_%'
  ORDER BY tgname COLLATE "C"`;

t.test('an address has the place, the user, and the trust in the server', (t) => {
  t.match(readAddress('postgres://ada:s%40cret@db.example:6000/larder'), {
    host: 'db.example',
    port: 6000,
    database: 'larder',
    user: 'ada',
    password: 's@cret',
    tls: { mode: 'verify-full' },
  });
  const spoken = (text: string) => tlsOptions(readAddress(text));
  t.match(spoken('postgres://ada@db.example/larder'), {
    rejectUnauthorized: true,
    host: 'db.example',
    checkServerIdentity: undefined,
  });
  t.match(readAddress('postgresql://ada@/larder?host=/run/postgresql'), { host: '/run/postgresql', tls: false });
  t.match(readAddress('postgres://ada@[::1]/larder?sslmode=disable'), { host: '::1', port: 5432, tls: false });
  t.equal(spoken('postgres://ada@db/larder?sslmode=disable'), false);
  t.match(spoken('postgres://ada@db/larder?sslmode=require'), { rejectUnauthorized: false });
  t.match(spoken('postgres://ada@db/larder?sslmode=verify-ca'), {
    rejectUnauthorized: true,
    checkServerIdentity: Function,
  });
  t.throws(() => spoken('postgres://ada@db/larder?sslrootcert=/none'), {
    message: 'cannot read /none, which the address of PostgreSQL names',
  });
  for (const [address, pattern] of [
    ['mysql://ada@db/larder', /write it as postgres:\/\//],
    ['ada:secret', /write it as postgres:\/\//],
    ['postgres://db/larder', /does not say which user/],
    ['postgres://ada:secret@db', /does not say which database/],
    ['postgres://ada:secret@/larder', /does not say which host/],
    ['postgres://ada:secret@db/larder?sslmode=prefer', /its sslmode may be verify-full, verify-ca, require or disable/],
    ['postgres://ada:secret@db/larder?application_name=x', /behind its question mark it may say host, options/],
    ['postgres://ada:100%secret@db/larder', /write a percent sign in it as %25/],
  ] as const) {
    t.throws(() => readAddress(address), { message: pattern }, address);
    t.throws(() => readAddress(address), { message: /^(?!.*secret)/ }, 'without its password');
  }
  t.end();
});

t.test('one query serves all callers before it was sent, and no later one', async (t) => {
  const sent: { resolve(number: number): void; reject(error: Error): void }[] = [];
  const versions = new Versions(() => new Promise<number>((resolve, reject) => sent.push({ resolve, reject })));
  const first = [versions.current(), versions.current()];
  await sleep(0);
  t.equal(sent.length, 1);
  const later = [versions.current(), versions.current(), versions.current()];
  await sleep(0);
  t.equal(sent.length, 1, 'those wait for the next one');
  sent[0]!.resolve(1);
  t.same(await Promise.all(first), [1, 1]);
  await sleep(0);
  t.equal(sent.length, 2);
  sent[1]!.reject(new Error('no'));
  for (const pending of later) await t.rejects(pending, { message: 'no' });
  const again = versions.current();
  await sleep(0);
  sent[2]!.resolve(3);
  t.equal(await again, 3, 'what fails is asked again');
});

t.test('each problem with a database is one sentence, and changes nothing', async (t) => {
  const server = await startPostgres({
    access: ['local all ada scram-sha-256', 'local all bob reject', 'local all all trust'],
  });
  t.teardown(server.end);
  await server.ask(`CREATE ROLE ada LOGIN PASSWORD 'right'; CREATE ROLE bob LOGIN`);
  const as = (user: string, more = ''): string => server.address(more).replace('larder@', `${user}@`);
  const cannot = async (address: string, message: RegExp): Promise<void> => {
    // A permanent problem is reported at once, with any timeout.
    const lasting = /no server listens|knows no/.test(String(message)) ? 0 : 3_600_000;
    await t.rejects(openPostgres(address, { lasting }), { message }, String(message));
    await t.rejects(
      openPostgres(address, { lasting }),
      { message: /^(?!.*guessed)[^\n]*$/ },
      'one line, and no password',
    );
  };
  await cannot(as('ada:guessed'), /cannot open the database postgres at .*: it refuses the password of the user ada$/);
  await cannot(as('ada'), /it requires a password for the user ada/);
  await cannot(as('bob'), /does not admit the user bob from this machine; add a rule to its pg_hba.conf/);
  await cannot(
    server.address().replace('/postgres?', '/none?'),
    /the server has no database none; create it with createdb/,
  );
  await cannot('postgres://larder@/postgres?host=/nowhere', /no server listens there/);
  await cannot('postgres://larder@127.0.0.1:1/postgres?sslmode=disable', /no server listens there/);
  await cannot('postgres://larder@larder.invalid/postgres?sslmode=disable', /cannot resolve larder.invalid/);
  await cannot(
    as('larder', '&options=-c synchronous_commit=off'),
    /runs with synchronous_commit = off, so confirmed changes can be lost/,
  );
  await cannot(as('larder', '&options=-c search_path=none'), /no schema of its search_path exists/);
  await server.ask('CREATE TABLE customers (name TEXT)');
  await cannot(server.address(), /it contains tables that are not larder's, such as customers/);
  const tables = await server.ask(`SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`);
  t.same(tables.rows, [{ table_name: 'customers' }], 'nothing was made in it');

  const good = { version: '15.1', number: 150_001, synchronous: 'on', fsync: 'on', encoding: 'UTF8' } as const;
  const whole = { ...good, standby: 0, schema: 'public' } as const;
  refuseWeakDurability(whole, 'x');
  t.throws(
    () => refuseWeakDurability({ ...whole, version: '14.2', number: 140_002 }, 'x'),
    /PostgreSQL 14.2, but larder needs 15/,
  );
  t.throws(
    () => refuseWeakDurability({ ...whole, fsync: 'off' }, 'x'),
    /fsync = off, so confirmed changes can be lost/,
  );
  t.throws(() => refuseWeakDurability({ ...whole, encoding: 'LATIN1' }, 'x'), /its encoding is LATIN1/);
  t.throws(() => refuseWeakDurability({ ...whole, standby: 1 }, 'x'), /is a read-only standby; name the primary/);
});

t.test('a server is known by its certificate, for its name', async (t) => {
  const keys = mkdtempSync(join(tmpdir(), 'larder-postgres-tls-'));
  t.teardown(() => rmSync(keys, { recursive: true, force: true }));
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  const names = ['-addext', 'subjectAltName=DNS:localhost', '-keyout', 'key.pem', '-out', 'cert.pem'];
  execFileSync('openssl', [...made, ...names], { cwd: keys, stdio: 'ignore' });
  const server = await startPostgres({
    listen: true,
    access: ['local all all trust', 'host all all 127.0.0.1/32 trust'],
    files: { 'key.pem': join(keys, 'key.pem'), 'cert.pem': join(keys, 'cert.pem') },
    settings: ['ssl = on', `ssl_cert_file = 'cert.pem'`, `ssl_key_file = 'key.pem'`],
  });
  t.teardown(server.end);
  const at = (host: string, more = ''): string => `postgres://larder@${host}:${String(server.port)}/postgres?${more}`;
  const authority = `sslrootcert=${join(keys, 'cert.pem')}`;
  await t.rejects(openPostgres(at('localhost')), {
    message: /no trusted authority has signed its certificate; name the authority/,
  });
  await t.rejects(openPostgres(at('127.0.0.1', authority)), {
    message: /its certificate is not for the name 127.0.0.1/,
  });
  for (const good of [
    at('localhost', authority),
    at('127.0.0.1', `${authority}&sslmode=verify-ca`),
    at('127.0.0.1', 'sslmode=require'),
  ]) {
    const db = await openPostgres(good);
    const spoken = await db.get(sql`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`);
    t.same(spoken, { ssl: 1 }, good);
    await db.close();
  }
  await server.ask(`ALTER SYSTEM SET ssl = off`);
  await server.stop('order');
  await server.start();
  await t.rejects(openPostgres(at('localhost')), { message: /does not support TLS; turn on ssl there/ });
});

for (const [then, label] of [
  ['is cut before', 'a commit that never arrived is done again'],
  ['is cut behind', 'a commit whose answer was lost is found'],
] as const satisfies (readonly [AtCommit, string])[]) {
  t.test(`${label}, and its change is done once`, async (t) => {
    const { db, proxy } = await opened(t);
    let tries = 0;
    proxy.next = then;
    const alone = await db.transaction(async (tx) => {
      tries++;
      await add(tx, 'alone');
      return 'done';
    });
    t.equal(alone, 'done');
    t.equal(tries, then === 'is cut before' ? 2 : 1);
    proxy.next = then;
    const refused = new Error('no');
    const together = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((name) =>
        db.transaction(async (tx) => {
          await add(tx, name);
          if (name === 'c') throw refused;
          return name;
        }),
      ),
    );
    t.same(
      together.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason)),
      ['a', 'b', refused, 'd'],
    );
    t.equal(proxy.cut, 2);
    t.same(await counted(db), { a: 1, alone: 1, b: 1, d: 1 });
    t.match(db.server!.pool(), { lost: 2, retries: then === 'is cut before' ? 2 : 0, waiting: 0 });
  });
}

t.test('a transaction that conflicts with another is repeated from its start, a limited number of times', async (t) => {
  const { db } = await opened(t);
  for (const code of ['40001', '40P01']) {
    let tries = 0;
    await db.transaction(async (tx) => {
      await add(tx, code);
      // In every case the transaction has ended with the failure.
      if (++tries === 1) await tx.script(`DO $$ BEGIN RAISE SQLSTATE '${code}'; END $$`).catch(() => undefined);
    });
    t.equal(tries, 2);
  }
  let tries = 0;
  const never = db.transaction(async (tx) => {
    tries++;
    await tx.script(`DO $$ BEGIN RAISE SQLSTATE '40001'; END $$`);
  });
  await t.rejects(never, { code: '40001' });
  t.equal(tries, 5);
  t.same(await counted(db), { 40001: 1, '40P01': 1 });
});

t.test('a connection that is lost during a change costs no client anything: the change is repeated', async (t) => {
  const { db } = await opened(t);
  let tries = 0;
  const change = async (tx: Queries, name: string): Promise<void> => {
    await add(tx, name);
    if (++tries > 1) return;
    await (
      await sharedPostgres(root)
    ).ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'`);
    await until(() => db.server!.pool().lost === 1);
    await add(tx, 'never');
  };
  await Promise.all(['a', 'b'].map((name) => db.transaction((tx) => change(tx, name))));
  t.same(await counted(db), { a: 1, b: 1 });
});

t.test('transactions that wait for another process time out after five seconds, all together', async (t) => {
  const { db, address } = await opened(t);
  const other = await openPostgres(address);
  t.teardown(() => other.close());
  const [holding, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = other.transaction(async (tx) => {
    // The lock is there with the first result.
    await tx.get(sql`SELECT 1`);
    holding.resolve();
    await released.promise;
  });
  await holding.promise;
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((name) => db.transaction((tx) => add(tx, name))));
  for (const outcome of outcomes) {
    t.match(outcome, { reason: { name: 'Refusal', status: 503, retryAfter: 5, message: /Another process has held/ } });
  }
  released.resolve();
  await holder;
  await db.transaction((tx) => add(tx, 'd'));
  t.same(await counted(db), { d: 1 });
  t.match(db.server!.pool(), { retries: 0 });
});

t.test('a store reports at its start that another process has the lock, and opens once the lock is free', async (t) => {
  const { address, db } = await opened(t);
  const free = Promise.withResolvers<undefined>();
  const begun = Promise.withResolvers<undefined>();
  const holding = db.transaction(async (tx) => {
    await add(tx, 'held');
    begun.resolve(undefined);
    await free.promise;
  });
  await begun.promise;
  await t.rejects(openPostgres(address, { lasting: 0 }), {
    message: /^cannot use the database \S+ at \S+: another process holds the lock that changes need$/,
  });
  const opening = openPostgres(address);
  free.resolve(undefined);
  await holding;
  await (await opening).close();
});

t.test('a failure in a batch affects one change only', async (t) => {
  const { db } = await opened(t);
  const results = await Promise.allSettled(
    ['a', null, 'b', 'a'].map((name) => db.transaction((tx) => add(tx, name as string))),
  );
  t.same(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
  t.same(await counted(db), { a: 2, b: 1 });
});

const write = (tx: Queries, name: string | null): Promise<void> =>
  tx.write(sql`INSERT INTO done (name) VALUES (${name})`);

/** Runs the work; whether the event loop has turned before its end, as it does for a response of the server. */
async function turnsDuring(work: () => Promise<unknown>): Promise<boolean> {
  let hasTurned = false;
  const immediate = setImmediate().then(() => (hasTurned = true));
  await work();
  const during = hasTurned;
  await immediate;
  return during;
}

t.test('a write does not wait for the server, unless there are too many, and all are done', async (t) => {
  const { db } = await opened(t);
  await db.transaction(async (tx) => {
    t.notOk(await turnsDuring(() => write(tx, 'a')));
    t.same(await tx.all(sql`SELECT name FROM done`), [{ name: 'a' }], 'a later query sees it');
    const many = async (): Promise<void> => {
      for (let number = 0; number < 1000; number++) await write(tx, 'b');
    };
    t.ok(await turnsDuring(many));
  });
  t.same(await counted(db), { a: 1, b: 1000 });
});

const afterWrite: Record<string, (tx: Queries) => Promise<unknown>> = {
  'at the end of the change': () => Promise.resolve(),
  'with a query behind it': (tx) => tx.get(sql`SELECT name FROM done`),
  'with a failed query that the change catches': (tx) => tx.get(sql`SELECT name FROM done`).catch(() => undefined),
  'with many writes behind it': async (tx) => {
    for (let number = 0; number < 200; number++) await write(tx, 'never');
  },
  'in a change that is refused': () => Promise.reject(new Error('refused')),
};
for (const [label, after] of Object.entries(afterWrite)) {
  t.test(`a write that fails ${label} fails its change, and no other change of the commit`, async (t) => {
    const { db } = await opened(t);
    const failing = (tx: Queries): Promise<unknown> => write(tx, null).then(() => after(tx));
    const refused = async (tx: Queries): Promise<void> => {
      await tx.get(sql`SELECT name FROM done`);
      await write(tx, 'never');
      throw new Error('refused');
    };
    const changes = [
      (tx: Queries) => write(tx, 'a'),
      failing,
      refused,
      (tx: Queries) => add(tx, 'b'),
      refused,
      failing,
    ];
    const outcomes = await Promise.allSettled(changes.map((change) => db.transaction(change)));
    const [isDone, isFailed, isRefused] = [
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: '23502' } },
      { status: 'rejected', reason: { message: 'refused' } },
    ];
    t.match(outcomes, [isDone, isFailed, isRefused, isDone, isRefused, isFailed]);
    await t.rejects(db.transaction(failing), { code: '23502' }, 'alone');
    await db.transaction((tx) => write(tx, 'c'));
    t.same(await counted(db), { a: 1, b: 1, c: 1 });
  });
}

t.test('a connection that is lost behind a write costs no client anything: the change is repeated', async (t) => {
  const { db } = await opened(t);
  let tries = 0;
  const change = async (tx: Queries, name: string): Promise<void> => {
    await write(tx, name);
    if (++tries === 1) await write(tx, 'lost').then(() => tx.script('SELECT pg_terminate_backend(pg_backend_pid())'));
  };
  await Promise.all(['a', 'b'].map((name) => db.transaction((tx) => change(tx, name))));
  t.same(await counted(db), { a: 1, b: 1 });
});

t.test('a slow query delays no query of a later turn of the event loop, if another connection is open', async (t) => {
  const { db } = await opened(t);
  const find = async () => (await db.all<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`))[0]!.pid;
  const first = await find();
  t.equal(
    new Set(await Promise.all([find(), find(), find(), find()])).size,
    1,
    'the queries of one turn share a connection',
  );
  const slow = db.all(sql`SELECT pg_sleep(${60})`).catch(() => 'canceled');
  await setImmediate();
  // It opens another connection, which it does not wait for.
  const behind = find();
  await until(() => db.server!.pool().open === 3);
  t.not(await find(), first);
  const { ask } = await sharedPostgres(root);
  await ask(`SELECT pg_cancel_backend(${first})`);
  t.equal(await slow, 'canceled');
  t.equal(await behind, first, 'a failed query fails no other query of its connection');
});

t.test('the changes of a commit share a state, without that of refused changes', async (t) => {
  const { db } = await opened(t);
  const change = (name: string, refusal?: string) =>
    db.transaction(async (tx, commit) => {
      const before = commit.current();
      await add(tx, name);
      commit.leave(`${(before as string | undefined) ?? ''}${name}`, (queries, all) =>
        add(queries, `all: ${all}`).then(() => undefined),
      );
      if (refusal !== undefined) throw new Error(refusal);
      return before;
    });
  t.same(
    (await Promise.allSettled([change('a'), change('b', 'refused'), change('c')])).map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as Error).message,
    ),
    [undefined, 'refused', 'a'],
  );
  t.same(await counted(db), { a: 1, 'all: ac': 1, c: 1 }, 'it is finished once');
  t.equal(await change('d'), undefined, 'and the next commit begins without it');
});

t.test('a text that cannot be stored is refused, and affects no other change', async (t) => {
  const { db } = await opened(t);
  const refused = { name: 'Refusal', status: 400, message: /contains the NUL character/ };
  await t.rejects(
    db.transaction((tx) => add(tx, 'a\0b')),
    refused,
  );
  await t.rejects(db.get(sql`SELECT 1 FROM done WHERE name = ${'a\0b'}`), refused);
  // An index has room for 2.7 kB; random text does not compress.
  await db.transaction((tx) => tx.script('CREATE INDEX done_by_name ON done (name)'));
  const long = randomBytes(2000).toString('hex');
  await t.rejects(
    db.transaction((tx) => add(tx, long)),
    { name: 'Refusal', status: 400, message: /too long for the index/ },
  );
  await db.transaction((tx) => add(tx, 'good'));
  t.same(await counted(db), { good: 1 });
});

t.test('texts are ordered and compared by their bytes, with any locale of the database', async (t) => {
  const { db } = await opened(t);
  for (const name of ['b', 'B', 'a', 'Ä', '-', 'é', '~']) await db.transaction((tx) => add(tx, name));
  const rows = await db.all<{ name: string }>(sql`SELECT name FROM done ORDER BY name`);
  t.same(
    rows.map(({ name }) => name),
    ['-', 'B', 'a', 'b', '~', 'Ä', 'é'],
  );
  t.same(await db.all(sql`SELECT name FROM done WHERE name > ${'a'} AND name < ${'~'}`), [{ name: 'b' }]);
  t.same(await db.all(sql`SELECT name FROM done WHERE lower(name) = lower(${'Ä'})`), [{ name: 'Ä' }]);
  t.same(await db.all(sql`SELECT name FROM done WHERE lower(name) = lower(${'ä'})`), [], 'as SQLite does');
});

t.test('the index of a statement is used, even if the server expects a small table', async (t) => {
  const { db } = await opened(t);
  const plan = sql`EXPLAIN SELECT number FROM numbered ORDER BY number DESC LIMIT 1`;
  await db.transaction(async (tx) => {
    await tx.script(
      'CREATE TABLE numbered (number BIGINT PRIMARY KEY); INSERT INTO numbered VALUES (1); ANALYZE numbered',
    );
    t.match(await tx.all(plan), [{ 'QUERY PLAN': /^Limit/ }, { 'QUERY PLAN': /Index Only Scan/ }], 'by who changes');
  });
  t.match(await db.all(plan), [{ 'QUERY PLAN': /^Limit/ }, { 'QUERY PLAN': /Index Only Scan/ }], 'and by who reads');
});

t.test('rows are looked up one by one in another table, with any limit in a cached plan', async (t) => {
  const { db } = await opened(t);
  await db.transaction((tx) =>
    tx.script(`
      CREATE TABLE owners (id BIGINT PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE sizes (id BIGINT PRIMARY KEY, bytes BIGINT NOT NULL);
      CREATE INDEX sizes_by_bytes ON sizes (bytes, id);
      INSERT INTO owners SELECT i, 'owner ' || i FROM generate_series(1, 20000) AS i;
      INSERT INTO sizes SELECT i, i FROM generate_series(1, 20000) AS i;
      ANALYZE owners; ANALYZE sizes`),
  );
  // A tenth of the table, as it is planned for a limit that is not known yet.
  const rows = await db.all<Record<'QUERY PLAN', string>>(sql`
    EXPLAIN SELECT name, bytes FROM (SELECT id, bytes FROM sizes ORDER BY bytes DESC LIMIT 2000) AS largest JOIN owners USING (id)`);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  t.match(plan, /Nested Loop/, plan);
  t.notMatch(plan, /Hash Join|Merge Join|Seq Scan/);
});

t.test('a statement is planned once, with any limit on a large table', async (t) => {
  const { db } = await opened(t);
  await db.transaction((tx) =>
    tx.script(`
      CREATE TABLE names (name TEXT PRIMARY KEY);
      INSERT INTO names SELECT 'name ' || i FROM generate_series(1, 20000) AS i;
      ANALYZE names`),
  );
  const page = (limit: number) => sql`SELECT name FROM names WHERE name > ${''} ORDER BY name LIMIT ${limit}`;
  const plans = sql`
    SELECT generic_plans AS kept, custom_plans AS made FROM pg_prepared_statements WHERE statement LIKE 'SELECT name FROM names%'`;
  // The server makes up its mind with the sixth call.
  for (let call = 1; call <= 10; call++) await db.all(page(call));
  t.same(await db.all(plans), [{ kept: 10, made: 0 }], 'by who reads');
  await db.transaction(async (tx) => {
    for (let call = 1; call <= 10; call++) await tx.all(page(call));
    t.same(await tx.all(plans), [{ kept: 10, made: 0 }], 'and by who changes');
  });
});

t.test('a store without its server reports it, and continues when the server is back', async (t) => {
  const server = await startPostgres();
  t.teardown(server.end);
  const { db } = await opened(t, Promise.resolve(server));
  await db.transaction((tx) => add(tx, 'before'));
  await server.stop('order');
  const gone = { name: 'Refusal', status: 503, retryAfter: 5, message: /does not respond\. Nothing was changed\./ };
  await Promise.all([
    t.rejects(
      db.transaction((tx) => add(tx, 'lost')),
      gone,
    ),
    t.rejects(db.get(sql`SELECT 1`), gone),
    t.rejects(async () => db.version(), gone),
  ]);
  await server.start();
  await db.transaction((tx) => add(tx, 'after'));
  t.same(await counted(db), { after: 1, before: 1 });
});

t.test('a server that is starting, or slow to accept connections, is waited for', async (t) => {
  const server = await startPostgres();
  t.teardown(server.end);
  const starting = async (): Promise<void> => {
    const places: string[] = [];
    const firstWait = Promise.withResolvers<undefined>();
    const opening = openPostgres(server.address(), {
      lasting: 3_600_000,
      waits(place) {
        places.push(place);
        firstWait.resolve(undefined);
      },
    });
    await firstWait.promise;
    await server.start();
    await (await opening).close();
    t.same(places, [`the database postgres at ${server.folder}`], 'which is told once');
  };
  await server.stop('order');
  await starting();

  // Longer than the timeout of one connection: each would be abandoned if it got only the time of the first.
  const proxy = await startProxy(server.folder);
  t.teardown(proxy.end);
  proxy.delay = 3000;
  const slow = await openPostgres(`postgres://larder@/postgres?host=${encodeURIComponent(proxy.folder)}`);
  proxy.delay = 0;
  t.same(await slow.get(sql`SELECT 1 AS one`), { one: 1 });
  await slow.close();
});

t.test('work on a whole store continues while its server is too busy for new connections', async (t) => {
  const { folder, newSchema } = await sharedPostgres(root);
  const proxy = await startProxy(folder);
  t.teardown(proxy.end);
  const address = await newSchema();
  const target = await postgresTarget(address.replace(encodeURIComponent(folder), encodeURIComponent(proxy.folder)), {
    attempt: 'busy',
    async make(tx) {
      proxy.delay = 3_600_000;
      // All clients with this timeout have been told that the server is away.
      await tx.script('CREATE TABLE migrations (name TEXT); SELECT pg_sleep(4.5)');
      proxy.delay = 0;
    },
  });
  await target.write({ name: 'migrations', columns: ['name'] }, [['one']]);
  await target.commit();
  await target.close();
  const db = await openPostgres(address);
  t.same(await db.all(sql`SELECT name FROM migrations`), [{ name: 'one' }]);
  await db.close();
});

t.test('a server that refuses new connections keeps its existing ones', async (t) => {
  const { newSchema, ask } = await sharedPostgres(root);
  const address = await newSchema();
  await ask('CREATE ROLE lone LOGIN');
  await ask(`GRANT ALL ON SCHEMA ${/search_path%3D(\w+)/.exec(address)![1]!} TO lone`);
  const db = await openPostgres(address.replace('larder@', 'lone@'));
  t.teardown(() => db.close());
  t.same(await db.get(sql`SELECT 1 AS one`), { one: 1 });
  await ask('ALTER ROLE lone CONNECTION LIMIT 1');
  t.same(await db.get(sql`SELECT 1 AS one FROM pg_sleep(5)`), { one: 1 }, 'the one connection that there is');
});

t.test('a silent server is abandoned, and a slow one is not', async (t) => {
  const { db, proxy } = await opened(t);
  await db.transaction((tx) => add(tx, 'before'));
  const slow = await db.get(sql`SELECT 1 AS one FROM pg_sleep(2)`);
  t.same(slow, { one: 1 });
  proxy.isSilent = true;
  const gone = { name: 'Refusal', status: 503, retryAfter: 5, message: /does not respond\. Nothing was changed\./ };
  await Promise.all([
    ...['a', 'b', 'c'].map((name) =>
      t.rejects(
        db.transaction((tx) => add(tx, name)),
        gone,
      ),
    ),
    t.rejects(db.get(sql`SELECT 1`), gone),
    t.rejects(async () => db.version(), gone),
    t.rejects(openPostgres(`postgres://larder@/postgres?host=${encodeURIComponent(proxy.folder)}`, { lasting: 0 }), {
      message: /^cannot open .*: the server does not answer$/,
    }),
  ]);
  proxy.isSilent = false;
  await db.transaction((tx) => add(tx, 'after'));
  t.same(await counted(db), { after: 1, before: 1 });
});

t.test('after any kill under load, no acknowledged change is lost, and none is done twice', async (t) => {
  const server = await startPostgres();
  t.teardown(server.end);
  const { db, proxy } = await opened(t, Promise.resolve(server));
  const restarts = long ? 50 : 3;
  const outcomes = new Map<string, 'done' | 'not' | 'unknown'>();
  let goOn = true;
  const load = async (who: number): Promise<void> => {
    for (let nth = 0; goOn; nth++) {
      const name = `${String(who)}-${String(nth)}`;
      try {
        await db.transaction(async (tx) => {
          await add(tx, name);
          await tx.get(sql`SELECT count(*) FROM done`);
        });
        outcomes.set(name, 'done');
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        outcomes.set(name, error.message.includes('not known') ? 'unknown' : 'not');
      }
    }
  };
  const of = (outcome: string): string[] =>
    [...outcomes].filter(([, state]) => state === outcome).map(([name]) => name);
  /** Until a few more changes are done. */
  const more = async (): Promise<void> => {
    const targetCount = of('done').length + 10 + Math.floor(Math.random() * 10);
    await until(() => of('done').length >= targetCount);
  };
  const loads = Array.from({ length: 6 }, (_, who) => load(who));
  for (let nth = 0; nth < restarts; nth++) {
    await more();
    const ends = [
      () => server.ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'larder'`),
      () => void (proxy.next = Math.random() < 0.5 ? 'is cut before' : 'is cut behind'),
      () => server.stop('crash').then(server.start),
    ];
    await ends[nth % ends.length]!();
  }
  await more();
  goOn = false;
  await Promise.all(loads);
  const counts = await counted(db);
  t.same(
    of('done').filter((name) => counts[name] !== 1),
    [],
    'what was acknowledged is there once',
  );
  t.same(
    of('not').filter((name) => counts[name] !== undefined),
    [],
    'what was refused is not there',
  );
  t.same(
    of('unknown').filter((name) => (counts[name] ?? 0) > 1),
    [],
  );
});
