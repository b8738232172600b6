// Cached rows, and the changes that evict them.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { countStoreFindings } from '#acts/vulnerabilities/count-findings.ts';
import { days, timestamp } from '#domain/clock.ts';
import type { Database, SqlStatement } from '#engine/database.ts';
import { createTimeKeeper } from '#jobs/store/remember-time.ts';
import { latestTime } from '#macaroons/latest-time.ts';
import { cachedTables, records } from '#records/index.ts';
import { createGenerationReader, memo, memoOfEach } from '#records/memo.ts';
import { nounVersions } from '#records/noun-versions.ts';
import { pendingWork } from '#transfers/pending.ts';
import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { databaseOf, onSqlite, statement } from '#test/fixtures/records/engines.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';

/** Versions that a test raises by hand. */
const byHand = (nouns: Record<string, number> = { a: 1 }) => {
  let count = 0;
  let last = { generation: 0, numbers: new Map(Object.entries(nouns)) };
  return {
    raise: (noun: string) => {
      last = { generation: 0, numbers: new Map(last.numbers).set(noun, (last.numbers.get(noun) ?? 0) + 1) };
    },
    asked: () => count,
    current: () => {
      count++;
      return Promise.resolve(last);
    },
  };
};

t.test('a cached row is returned without a query, until one of its tables has changed', async (t) => {
  const versions = byHand();
  const queries: string[] = [];
  const find = memo({ versions, nouns: ['a', 'b'] }, (first: string, other: string) =>
    Promise.resolve(queries.push(`${first} ${other}`)),
  );
  t.same([await find('a', 'b'), await find('a', 'b'), await find('ab', '')], [1, 1, 2]);
  versions.raise('c');
  t.equal(await find('a', 'b'), 1, 'another table is nothing to it');
  versions.raise('a');
  t.equal(await find('a', 'b'), 3);
  versions.raise('b');
  t.equal(await find('a', 'b'), 4, 'a table that changes for the first time, too');
});

t.test('a cached value is returned at once, without a promise', async (t) => {
  const versions = { current: () => snapshot };
  let snapshot = { generation: 0, numbers: new Map([['a', 1]]) };
  const find = memo({ versions, nouns: ['a'] }, (name: string) =>
    Promise.resolve(name === 'nobody' ? undefined : name),
  );
  const each = memoOfEach({ versions, nouns: ['a'] }, (name: string) => Promise.resolve(name));
  t.ok(find('ada', '') instanceof Promise);
  t.ok(each(['ada', 'bob'], '') instanceof Promise);
  t.equal(await find('nobody', ''), undefined);
  await find('ada', '');
  await each(['ada', 'bob'], '');
  t.equal(find('ada', ''), 'ada');
  t.same(each(['bob', 'ada'], ''), ['bob', 'ada']);
  t.ok(find('nobody', '') instanceof Promise, 'that there is nothing is remembered, too');
  const before = createGenerationReader({ versions, nouns: ['a'] });
  const of = before();
  snapshot = { generation: 0, numbers: new Map([['b', 1]]) };
  t.ok(find('ada', '') instanceof Promise);
  t.not(before(), of);
  t.equal(before(), before());
});

t.test('several are found with one look at the versions, and only the new ones looked for', async (t) => {
  const versions = byHand();
  const queries: string[] = [];
  const find = memoOfEach({ versions, nouns: ['a'] }, (key, common) => {
    queries.push(key);
    return Promise.resolve(`${key}/${common}`);
  });
  t.same(await find(['a', 'b'], 'x'), ['a/x', 'b/x']);
  t.same(await find(['b', 'c'], 'x'), ['b/x', 'c/x']);
  t.same([queries, versions.asked()], [['a', 'b', 'c'], 2]);
});

t.test('a failure is not remembered', async (t) => {
  let calls = 0;
  const find = memo({ versions: byHand(), nouns: ['a'] }, () =>
    ++calls === 1 ? Promise.reject(new Error('once')) : Promise.resolve('well'),
  );
  await t.rejects(async () => find('a', 'b'), { message: 'once' });
  t.equal(await find('a', 'b'), 'well');
});

t.test('the cache stays within its size', async (t) => {
  let calls = 0;
  const find = memo({ versions: byHand(), nouns: ['a'], maxResults: 2 }, (key: string) =>
    Promise.resolve(key === '' ? 0 : ++calls),
  );
  for (const key of ['a', 'b', 'c', 'a']) await find(key, 'of it');
  t.equal(calls, 4);
});

t.test('of ten thousand different keys, existing or not, the cache keeps its size', async (t) => {
  const values: WeakRef<object>[] = [];
  const find = memoOfEach({ versions: byHand(), nouns: ['a'], maxResults: 1000 }, async (key) => {
    if (key.startsWith('unknown')) return undefined;
    const value = { one: key };
    values.push(new WeakRef(value));
    return value;
  });
  for (let at = 0; at < 9999; at++) await find([`known ${at}`, `unknown ${at}`], 'of it');
  setFlagsFromString('--expose-gc');
  await setImmediate();
  (runInNewContext('gc') as () => void)();
  const remaining = values.filter((value) => value.deref() !== undefined).length;
  await find(['known 9998'], 'of it');
  t.equal(values.length, 9999, 'the last is among them');
  t.ok(remaining > 0 && remaining <= 500, `${remaining} of them, and as many that are not there`);
});

t.test('the versions are read after a commit and never else; a failure is read again', async (t) => {
  let [version, queries, broken] = [1, 0, false];
  const versions = nounVersions({
    version: () => version,
    all: () => {
      queries++;
      return broken ? Promise.reject(new Error('no')) : Promise.resolve([]);
    },
  });
  const first = await versions.current();
  t.equal(await versions.current(), first);
  t.equal(queries, 1);
  version++;
  broken = true;
  await t.rejects(async () => versions.current(), { message: 'no' });
  broken = false;
  t.not(await versions.current(), first);
  t.equal(queries, 3);
  versions.forget();
  t.equal((await versions.current()).generation, first.generation + 1);
});

/** Records that tell which statements reach the database from outside of transactions. */
async function watched(t: Parameters<typeof startStore>[0]) {
  const store = await startStore(t);
  const db = await databaseOf(t, store.directory);
  const statements: string[] = [];
  const see =
    <Answer>(ask: (statement: SqlStatement) => Answer) =>
    (statement: SqlStatement): Answer => {
      statements.push(statement.text.join('?').replace(/\s+/g, ' ').trim());
      return ask(statement);
    };
  const watching: Database = { ...db, get: see(db.get) as Database['get'], all: see(db.all) as Database['all'] };
  return { store, asked: statements, records: records(watching) };
}

t.test('ephemeral rows and batched counters evict nothing, however often', async (t) => {
  const { store, asked: statements, records } = await watched(t);
  const at = store.clock.now.toISOString();
  const ask = () =>
    Promise.all([
      records.macaroons.session('s', 'r'),
      records.packages.snapsFor(['a', 'b'], 'x'),
      records.counts.all(),
    ]);
  await ask();
  statements.length = 0;
  for (let times = 0; times < 10; times++) {
    store.beside.records.countEvent('download', 'x', at);
    await store.beside.records.writeCounters();
    await store.beside.records.ephemeral(({ failures }) => failures.set('login', 'x', { count: 1, endsAt: at }));
    await ask();
  }
  const others = statements.filter((text) => text !== 'SELECT noun, version FROM noun_versions');
  t.same(others, [], 'nothing was looked for again');
  t.ok(statements.length <= 20, 'and the versions once a commit');
  const db = await databaseOf(t, store.directory);
  t.same(await db.all(statement("SELECT noun FROM noun_versions WHERE noun LIKE 'passing%' OR noun = 'notes'")), []);
  records.forgetRemembered();
  await ask();
  t.equal(statements.filter((text) => text !== 'SELECT noun, version FROM noun_versions').length, 4, 'all of it');
});

t.test('the metrics count findings and waiting uploads again only after a change of their tables', async (t) => {
  const { store, asked: statements, records } = await watched(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'tiny-app' })).body as { id: string };
  await ada.push('snap', 'tiny-app', await snapFixture('app-xz'));
  const now = new Date(store.clock.now);
  /** The tables that are counted whole. */
  const scrape = async (): Promise<string[]> => {
    statements.length = 0;
    await countStoreFindings(records, timestamp(now));
    await pendingWork(records, now);
    const wholes = {
      releases: /DISTINCT .* FROM releases/,
      findings: /GROUP BY severity, is/,
      uploads: /AS uploads FROM/,
    };
    return Object.entries(wholes).flatMap(([name, form]) => (statements.some((text) => form.test(text)) ? [name] : []));
  };
  t.same(await scrape(), ['releases', 'findings', 'uploads']);
  t.same(await scrape(), []);
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'edge/fix', revision: 1 }]);
  t.same(await scrape(), ['releases']);
  t.same(await scrape(), []);
  now.setTime(now.getTime() + days(60));
  t.same(await scrape(), ['releases'], 'the branch has ended');
  t.same(await scrape(), []);
  const finding = { severity: 'high', isExploited: false, state: 'open', since: timestamp(now) } as const;
  const entry = { at: timestamp(now), actor: 'test', action: 'find', object: 'snap/tiny-app' };
  await store.beside.records.change(entry, (tx) =>
    tx.packageFindings.set(id, { vulnerability: 'CVE-2026-1', ...finding }),
  );
  t.same(await scrape(), ['findings']);
  await store.anyone.upload('some bytes');
  t.same(await scrape(), ['uploads']);
  t.same(await scrape(), []);
});

/** The audit log is added to, and nothing else; with it comes every new account. */
const eventsOf: Record<string, string[]> = { audit: ['INSERT'], accounts: ['UPDATE', 'DELETE'] };

/** Columns that repeat values of another table, and raise its version. */
const unheard: Record<string, string[]> = { packages: ['revisions', 'bytes'] };

const columnsOf = (db: SQLite.Database, table: string): string[] =>
  db
    .prepare<[string], { name: string }>('SELECT name FROM pragma_table_info(?)')
    .all(table)
    .map(({ name }) => name);

t.test('a cached value names its tables', onSqlite, async (t) => {
  const { store, asked: statements, records } = await watched(t);
  const askings = {
    counts: () => records.counts.all(),
    session: () => records.macaroons.session('s', 'r'),
    snapsFor: () => records.packages.snapsFor(['a'], 'x'),
    held: () => records.releases.held('a'),
    packageForDevices: () => records.packages.forDevices('a'),
    revisionForDevices: () => records.revisions.forDevices('a', 1),
    channels: () =>
      Promise.all([records.releases.held('b'), records.packages.forDevices('b'), records.revisions.forDevices('b', 1)]),
    findingCoverage: () => records.packageFindings.countCoverage('2026-05-01T12:00:00.000Z'),
    openFindings: () => records.packageFindings.countOpenOfStore(),
    uploadsToReview: () => records.pending.countUploads(),
  };
  const db = new SQLite(join(store.directory, 'larder.db'), { readonly: true });
  t.teardown(() => db.close());
  for (const [name, ask] of Object.entries(askings)) {
    statements.length = 0;
    await ask();
    // A figure of a table stands in the row of its noun.
    const tables = statements.flatMap((text) =>
      [...text.matchAll(/\bFROM noun_versions WHERE noun = '(\w+)'|\b(?:FROM|JOIN) (\w+)/g)].map(
        ([, noun, table = '']) => noun ?? table.replace(/^passing_/, ''),
      ),
    );
    const nouns: readonly string[] = cachedTables[name as keyof typeof cachedTables];
    t.same(new Set(nouns), new Set(tables.filter((table) => table !== 'noun_versions')), name);
    for (const noun of nouns) {
      const table = noun === 'matched_revisions' ? `passing_${noun}` : noun;
      const triggers = db
        .prepare<[string], { sql: string }>("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?")
        .all(table)
        .map((trigger) => trigger.sql);
      for (const event of eventsOf[noun] ?? ['INSERT', 'UPDATE', 'DELETE']) {
        const raises = new RegExp(`AFTER ${event}(?: OF ([\\w, ]+))? ON ${table} .* noun_versions .* noun = '${noun}'`);
        const [match] = triggers.flatMap((text) => [...text.matchAll(new RegExp(raises, 'g'))]);
        t.ok(match, `${name}: ${event} on ${noun}`);
        const heard = match?.[1]?.split(', ') ?? columnsOf(db, table);
        t.same(
          columnsOf(db, table).filter((column) => !heard.includes(column)),
          event === 'UPDATE' ? (unheard[noun] ?? []) : [],
          `${name}: ${event} of any column of ${noun}`,
        );
      }
    }
  }
});

t.test('a change that is not made raises nothing', async (t) => {
  const store = await startStore(t);
  const db = await databaseOf(t, store.directory);
  const version = async (noun: string) =>
    (await db.get<{ version: number }>(statement('SELECT version FROM noun_versions WHERE noun = ?', noun)))?.version;
  const versions = () => Promise.all([version('audit'), version('damaged_blobs')]);
  const at = store.clock.now.toISOString();
  const entry = { at, actor: 'test', action: 'try', object: 'x' };
  const { records } = store.beside;
  const before = (await version('audit')) ?? 0;
  await records.change(entry, (tx) => tx.damagedBlobs.add({ sha3_384: 'a'.repeat(96), size: 1, foundAt: at }));
  t.same(await versions(), [before + 1, 1]);
  await records.change(entry, (tx) => tx.damagedBlobs.mended('b'.repeat(96)));
  t.same(await versions(), [before + 2, 1], 'no row was changed');
  await t.rejects(
    records.change(entry, async (tx) => {
      await tx.damagedBlobs.mended('a'.repeat(96));
      throw new Error('no');
    }),
    { message: 'no' },
  );
  t.same(await versions(), [before + 2, 1]);
  const collaborators = (await version('collaborators')) ?? 0;
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  await addCollaborator(store, id, 'bob');
  await ada.delete('/v1/snap/hello');
  t.equal(await version('collaborators'), collaborators + 2, 'what goes with a package is counted, too');
});

t.test('a reload, and a clock that is in doubt, let all be forgotten', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const db = await databaseOf(t, store.directory);
  /** A change that raises no version. */
  const revoke = (at: string | null) =>
    db.transaction(async (tx) => {
      await tx.run(statement('UPDATE macaroons SET revoked_at = ?', at));
      await tx.run(statement("UPDATE noun_versions SET version = version - 1 WHERE noun = 'macaroons'"));
    });
  const status = async () => (await ada.get('/v1/tokens/whoami')).status;
  t.equal(await status(), 200);
  await revoke(store.clock.now.toISOString());
  t.equal(await status(), 200, 'it is remembered');
  store.appliance.reload();
  t.equal(await status(), 401);

  const { records, acts } = store.beside;
  const clock = { now: store.clock.now };
  const latest = latestTime(() => clock.now);
  const { job } = await createTimeKeeper(records, acts, latest, () => clock.now);
  const session = async () => (await records.macaroons.session(sessionId, rootKeyId)) !== undefined;
  const { sessionId, rootKeyId } = (await db.get<{ sessionId: string; rootKeyId: string }>(
    statement('SELECT session_id AS "sessionId", root_key_id AS "rootKeyId" FROM macaroons'),
  ))!;
  await revoke(null);
  for (const step of [days(2), -days(2)]) {
    await job.run();
    const before = await session();
    await revoke(before ? clock.now.toISOString() : null);
    t.equal(await session(), before, 'it is remembered');
    clock.now = new Date(clock.now.getTime() + step);
    await job.run();
    t.equal(await session(), !before);
  }
});

t.test('a revocation by another process is effective on the next request', onSqlite, async (t) => {
  const store = await startStore(t);
  for (const name of ['ada', 'bob'] as const) {
    const person = await store.as(name);
    t.match(await person.get('/v1/tokens/whoami'), { status: 200 });
    const { macaroons } = (await person.get('/v1/tokens')).body as { macaroons: { 'session-id': string }[] };
    const session = macaroons.at(-1)?.['session-id'] ?? '';
    const { status, stderr } = spawnSync(process.execPath, [main, 'token', 'revoke', session, '--yes'], {
      env: { ...process.env, LARDER_DATA: store.directory },
      encoding: 'utf8',
    });
    t.equal(status, 0, stderr);
    t.match(await person.get('/v1/tokens/whoami'), { status: 401 });
  }
});

const main = join(import.meta.dirname, '../../src/main.ts');

t.test('a commit of another connection shows on the next request', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const at = store.clock.now.toISOString();
  for (let round = 0; round < 20; round++) {
    t.match(await ada.get('/v1/tokens/whoami'), { status: 200 });
    const token = await store.as('bob');
    t.match(await token.get('/v1/tokens/whoami'), { status: 200 });
    const [macaroon] = (await token.get('/v1/tokens')).body.macaroons.slice(-1) as { 'session-id': string }[];
    const session = macaroon?.['session-id'] ?? '';
    await store.beside.records.change({ at, actor: 'test', action: 'revoke', object: session }, (tx) =>
      tx.macaroons.revoke(session, store.ids.bob, at),
    );
    t.match(await token.get('/v1/tokens/whoami'), { status: 401 });
  }
});
