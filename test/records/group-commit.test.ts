// Changes that wait are committed together, and each must have the same result as alone.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { mock } from 'node:test';
import timers from 'node:timers/promises';

import SQLite from 'better-sqlite3';
import fc from 'fast-check';
import t from 'tap';

import { Refusal } from '#domain/refusal.ts';
import { sql, type Database, type Queries } from '#engine/database.ts';
import { openSqlite, type SqliteOptions } from '#engine/sqlite/driver.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { logFrames } from '#test/fixtures/records/log-frames.ts';
import { noSmallDisk, smallDisk } from '#test/fixtures/small-disk.ts';

type Test = { teardown(work: () => unknown): void };

/** A database with an empty table, and a second connection, which sees committed rows only. */
async function open(t: Test, options: SqliteOptions = {}, directory = mkdtempSync(join(tmpdir(), 'larder-group-'))) {
  const file = join(directory, 'test.db');
  const db = openSqlite(file, options);
  await db.transaction((tx) =>
    tx.script('CREATE TABLE written (id TEXT PRIMARY KEY, by TEXT NOT NULL, filler BLOB NOT NULL)'),
  );
  const outside = new SQLite(file);
  outside.pragma('wal_checkpoint(TRUNCATE)');
  t.teardown(async () => {
    outside.close();
    await db.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const ids = (): string[] => outside.prepare<[], string>('SELECT id FROM written ORDER BY id').pluck().all();
  return { db, file, ids };
}

const insert = (tx: Queries, id: string, bytes = 1): Promise<number> =>
  tx.run(sql`INSERT INTO written (id, by, filler) VALUES (${id}, 'ada', zeroblob(${bytes}))`);

/** A group also ends after some milliseconds, which a busy machine may need for a few changes. */
function endGroupsBySize(t: Test): void {
  const still = mock.method(performance, 'now', () => 0);
  t.teardown(() => {
    still.mock.restore();
  });
}

const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `row-${String(at).padStart(3, '0')}`);

t.test('waiting changes are committed together, at most 64, in the order of the calls', async (t) => {
  const { db, file, ids } = await open(t);
  const ran: string[] = [];
  const expected = numbered(150);
  endGroupsBySize(t);
  await Promise.all(
    expected.map((id) =>
      db.transaction(async (tx) => {
        ran.push(id);
        await insert(tx, id);
      }),
    ),
  );
  t.same(ran, expected);
  t.same(ids(), expected);
  t.equal(logFrames(file).commits, 3, '64, 64 and 22');
  await db.transaction((tx) => insert(tx, 'alone'));
  t.equal(logFrames(file).commits, 4, 'one that is alone waits for nobody');
});

t.test('the changes of a commit share a state, without that of refused changes', async (t) => {
  const { db, file, ids } = await open(t);
  endGroupsBySize(t);
  const change = (id: string, refusal?: string) =>
    db.transaction(async (tx, commit) => {
      const before = commit.current();
      await insert(tx, id);
      commit.leave([...((before ?? []) as string[]), id], (queries, all) =>
        insert(queries, all.join(' ')).then(() => undefined),
      );
      if (refusal !== undefined) throw new Error(refusal);
      return before;
    });
  t.same(
    (await Promise.allSettled([change('a'), change('b', 'refused'), change('c')])).map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as Error).message,
    ),
    [undefined, 'refused', ['a']],
  );
  t.same(ids(), ['a', 'a c', 'c'], 'it is finished once, in the same commit');
  t.equal(logFrames(file).commits, 1);
  await t.rejects(change('d'), /UNIQUE/, 'the next commit begins without it: its only row and its state have one name');
  t.same(ids(), ['a', 'a c', 'c'], 'and a failed finish leaves nothing');
});

t.test('a slow change delays only the changes of its group', async (t) => {
  const { db, file } = await open(t);
  let moment = 0;
  t.intercept(performance, 'now', { value: () => moment });
  await Promise.all(
    numbered(4).map((id, at) =>
      db.transaction(async (tx) => {
        await insert(tx, id);
        if (at === 1) moment += 20;
      }),
    ),
  );
  t.equal(logFrames(file).commits, 2, 'the second of four ends the batch');
});

t.test('no caller is answered before all is on disk, not even a refused one', async (t) => {
  endGroupsBySize(t);
  const { db, ids } = await open(t);
  const [first, second] = [numbered(5), numbered(7).slice(5)];
  const seen: [id: string, rows: number][] = [];
  const change = (id: string): Promise<unknown> =>
    db.transaction((tx) => insert(tx, id)).finally(() => seen.push([id, ids().length]));
  const outcomes = await Promise.allSettled([...first, first[0]!, ...second].map(change));
  t.same(
    outcomes.map(({ status }) => status),
    [...first.map(() => 'fulfilled'), 'rejected', ...second.map(() => 'fulfilled')],
  );
  t.equal(seen.length, 8);
  for (const [id, rows] of seen) t.equal(rows, 7, `${id} is answered when all rows are there`);
});

t.test('a change that fails affects none of the others, and leaves nothing', async (t) => {
  endGroupsBySize(t);
  const { db, file, ids } = await open(t);
  const outcomes = await Promise.allSettled(
    numbered(9).map((id, at) =>
      db.transaction(async (tx) => {
        await insert(tx, id);
        if (at % 3 === 1) throw new Error(`not ${id}`);
        return id;
      }),
    ),
  );
  t.same(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as Error).message)),
    numbered(9).map((id, at) => (at % 3 === 1 ? `not ${id}` : id)),
  );
  t.same(
    ids(),
    numbered(9).filter((_, at) => at % 3 !== 1),
  );
  t.equal(logFrames(file).commits, 1);
});

interface Step {
  does: 'insert' | 'insert and read' | 'remove' | 'double';
  row: number;
  fails: 'no' | 'before' | 'after' | 'by a rule';
  waits: number;
}

t.test('a group has the same result as the changes one after the other', async (t) => {
  const { db } = await open(t);
  const steps = fc.array(
    fc.record<Step>({
      does: fc.constantFrom('insert', 'insert and read', 'remove', 'double'),
      row: fc.nat({ max: 5 }),
      fails: fc.constantFrom('no', 'no', 'before', 'after', 'by a rule'),
      waits: fc.nat({ max: 2 }),
    }),
    { minLength: 1, maxLength: 80 },
  );
  const perform = async (tx: Queries, { does, row, fails, waits }: Step): Promise<unknown> => {
    if (fails === 'before') throw new Error(fails);
    for (let turn = 0; turn < waits; turn++) await tx.get(sql`SELECT 1`);
    const changed =
      does === 'insert'
        ? await insert(tx, `row-${row}`)
        : does === 'insert and read'
          ? await tx.get(
              sql`INSERT INTO written (id, by, filler) VALUES (${`row-${row}`}, 'bob', zeroblob(2)) RETURNING id`,
            )
          : does === 'remove'
            ? await tx.run(sql`DELETE FROM written WHERE id = ${`row-${row}`}`)
            : await tx.run(
                sql`UPDATE written SET filler = zeroblob(2 * length(filler) % 1009) WHERE id = ${`row-${row}`}`,
              );
    if (fails === 'by a rule') await tx.run(sql`INSERT INTO written (id, by) VALUES ('half', 'ada')`);
    if (fails === 'after') throw new Error(fails);
    const all = await tx.all(sql`SELECT id, length(filler) AS bytes FROM written ORDER BY id`);
    return { changed, all };
  };
  const outcome = (change: Promise<unknown>): Promise<unknown> => change.catch((error: unknown) => String(error));
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const empty = (): Promise<number> => db.transaction((tx) => tx.run(sql`DELETE FROM written`));
      await empty();
      const single: unknown[] = [];
      for (const step of steps) single.push(await outcome(db.transaction((tx) => perform(tx, step))));
      await empty();
      const together = await Promise.all(steps.map((step) => outcome(db.transaction((tx) => perform(tx, step)))));
      t.strictSame(together, single);
    }),
    { numRuns: 40 },
  );
});

/** Ten concurrent changes; the fifth fills the disk, as often as given. */
async function fillAtTheFifth(db: Database, times: number): Promise<{ runs: number[]; outcomes: unknown[] }> {
  const runs = Array.from({ length: 10 }, () => 0);
  const outcomes = await Promise.all(
    numbered(10).map((id, at) =>
      db
        .transaction(async (tx) => {
          const isFull = at === 4 && runs[at]! < times;
          runs[at]!++;
          await tx.script(`PRAGMA max_page_count = ${isFull ? '10' : '1000000'}`);
          await insert(tx, id, at === 4 ? 1_000_000 : 1);
          return 'done';
        })
        .catch((error: unknown) => (error as { code: unknown }).code),
    ),
  );
  return { runs, outcomes };
}

t.test('the fifth of ten fills the disk: it alone is refused, and the others are done', async (t) => {
  const calls: string[] = [];
  const { db, ids } = await open(t, {
    fatal: () => void calls.push('fatal'),
    makeRoom: async () => calls.push('room') > 9,
  });
  const { runs, outcomes } = await fillAtTheFifth(db, Infinity);
  t.same(
    outcomes,
    numbered(10).map((_, at) => (at === 4 ? 'insufficient-storage' : 'done')),
  );
  t.same(
    ids(),
    numbered(10).filter((_, at) => at !== 4),
  );
  t.same(runs, [2, 2, 2, 2, 1, 1, 1, 1, 1, 1], 'those before it were run again, once');
  t.same(calls, ['room']);
});

t.test('a change that fills the disk is told so, whatever a change before it in the batch was told', async (t) => {
  const { db, ids } = await open(t);
  const change = (id: string, end: (tx: Queries) => unknown) =>
    db
      .transaction(async (tx) => {
        await tx.script('PRAGMA max_page_count = 1000000');
        await insert(tx, id, 1);
        await end(tx);
        return 'done';
      })
      .catch((error: unknown) => (error as { code: unknown }).code);
  const [first, second, third] = numbered(3) as [string, string, string];
  const outcomes = await Promise.all([
    change(first, () => undefined),
    change(second, () => {
      throw new Refusal('conflict', 'This change is refused.');
    }),
    change(third, async (tx) => {
      await tx.script('PRAGMA max_page_count = 10');
      await insert(tx, `${third} and more`, 1_000_000);
    }),
  ]);
  t.same(outcomes, ['done', 'conflict', 'insufficient-storage']);
  t.same(ids(), [first]);
});

t.test('if space is freed, the change is done as well', async (t) => {
  const { db, ids } = await open(t, { makeRoom: async () => true });
  const { runs, outcomes } = await fillAtTheFifth(db, 1);
  t.same(new Set(outcomes), new Set(['done']));
  t.same(ids(), numbered(10));
  t.same(runs, [2, 2, 2, 2, 2, 1, 1, 1, 1, 1]);
});

largeTest('a disk that is too small for what ten write together', async (t) => {
  const place = smallDisk(t, '1m');
  if (place === undefined) {
    t.comment(noSmallDisk);
    return;
  }
  const fatal: Error[] = [];
  const { db, ids } = await open(t, { fatal: (error) => fatal.push(error) }, mkdtempSync(join(place, 'data-')));
  const outcomes = await Promise.all(
    numbered(10).map((id) =>
      db
        .transaction((tx) => insert(tx, id, 150_000))
        .then(() => id)
        .catch((error: unknown) => (error as { code: unknown }).code),
    ),
  );
  const done = outcomes.filter((outcome) => outcome !== 'insufficient-storage');
  t.ok(done.length > 0 && done.length < 10, `${String(done.length)} had room`);
  t.same(ids(), done, 'what was answered for is there, and nothing else');
  t.same(fatal, []);
});

/** Starts `writing-process.ts`, which writes nothing to a file behind so many KiB. */
function startWriting(t: Test, args: string[], mostKiB = 0): { child: ChildProcess; lines: AsyncIterable<string> } {
  const program = join(import.meta.dirname, '../fixtures/processes/writing-process.ts');
  // A limit that is met sends a signal; ignored, it is an error of the write like any other.
  const limit = mostKiB === 0 ? '' : `trap "" XFSZ; ulimit -f ${String(mostKiB)};`;
  const child = spawn('bash', ['-c', `${limit} exec "$0" "$@"`, process.execPath, program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => kill(child));
  return { child, lines: createInterface(child.stdout) };
}

const doneIn = (lines: string[]): string[] =>
  lines.filter((line) => line.startsWith('done ')).map((line) => line.slice('done '.length));

t.test('an error of the disk at a commit: no change of the group is acknowledged, and none is repeated', async (t) => {
  const { file, ids } = await open(t);
  // Each batch of 16 writes more than 1 MiB into the log, which takes 4.
  const { child, lines } = startWriting(t, [file, 'ada', '16', '65536', 'still'], 4096);
  const received: string[] = [];
  for await (const line of lines) received.push(line);
  if (child.exitCode === null) await once(child, 'exit');
  t.same(
    received.filter((line) => line.startsWith('fatal')),
    ['fatal ada SQLITE_IOERR_WRITE'],
  );
  const after = received.slice(received.indexOf('fatal ada SQLITE_IOERR_WRITE') + 1);
  t.equal(after.length, 16);
  for (const line of after) t.match(line, /^failed ada-\d+-\d+ SQLITE_IOERR_WRITE$/);
  t.ok(doneIn(received).length > 0, 'others were done before');
  t.same(ids(), doneIn(received).sort(), 'what was answered for is there, and nothing else');
});

largeTest('killed while it commits, a process has lost nothing that it answered for', async (t) => {
  const { file, ids } = await open(t);
  for (let round = 0; round < 5; round++) {
    const { child, lines } = startWriting(t, [file, `ada${round}`, '16', '100']);
    const received: string[] = [];
    for await (const line of lines) {
      received.push(line);
      if (received.length === 100 + 37 * round) child.kill('SIGKILL');
    }
    const stored = new Set(ids());
    t.ok(doneIn(received).length > 50);
    t.same(
      doneIn(received).filter((id) => !stored.has(id)),
      [],
    );
  }
});

t.test('of two processes that both have 16 changes at a time, neither keeps the other waiting', async (t) => {
  const { file, ids } = await open(t);
  const done = { ada: 0, bob: 0 };
  const finished = Promise.withResolvers<undefined>();
  const children = (['ada', 'bob'] as const).map((name) => {
    const { child, lines } = startWriting(t, [file, name, '16', '100']);
    const read = (async () => {
      for await (const line of lines) {
        if (!line.startsWith('begun')) {
          t.match(line, /^done /);
          done[name]++;
        }
        if (done.ada >= 200 && done.bob >= 200) finished.resolve(undefined);
      }
    })();
    return { child, read };
  });
  await finished.promise;
  for (const { child } of children) child.stdin!.end();
  for (const { read } of children) await read;
  t.equal(ids().length, done.ada + done.bob);
});

t.test(
  'a change that waits for another process tries again after a millisecond, so that it uses a short gap',
  async (t) => {
    const { db, file, ids } = await open(t);
    const waited: number[] = [];
    const tired = Promise.withResolvers<undefined>();
    t.intercept(timers, 'setTimeout', {
      value: async (milliseconds: number) => {
        if (waited.push(milliseconds) === 20) tired.resolve(undefined);
        await timers.setImmediate();
      },
    });
    syncBuiltinESMExports();
    t.teardown(syncBuiltinESMExports);
    const other = new SQLite(file);
    other.exec('BEGIN IMMEDIATE');
    const change = db.transaction((tx) => insert(tx, 'after the other'));
    await tired.promise;
    t.same(ids(), []);
    other.exec('COMMIT');
    other.close();
    await change;
    t.same(ids(), ['after the other']);
    t.same(new Set(waited), new Set([1]));
  },
);
