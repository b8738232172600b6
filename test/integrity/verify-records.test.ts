// The database and the audit log are looked over while the store serves.
import { truncateSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { days, hours } from '#domain/clock.ts';
import { inspectInThread, inspectOpenFile } from '#integrity/inspect-in-thread.ts';
import { createRecordsVerifier, type RecordsVerifier } from '#integrity/verify-records.ts';
import { startWorker } from '#platform/embedded.ts';
import { describeFault, textOf } from '#platform/faults.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';

const proofOf = ({ directory, beside: writableStore, clock }: TestAppliance): Promise<RecordsVerifier> =>
  createRecordsVerifier({
    inspect: () =>
      inspectInThread((worker) => startWorker('src/integrity/database-worker.ts', worker), {
        file: join(directory, 'larder.db'),
        native: undefined,
      }),
    mend: 'Restore it.',
    records: writableStore.records,
    acts: writableStore.acts,
    siteKey: writableStore.siteKey,
    sealFile: writableStore.sealing.file,
    now: () => clock.now,
  });

const lookedOver = async ({ beside: writableStore }: TestAppliance): Promise<number> =>
  (await writableStore.records.audit.list(0, 10_000)).filter(({ action }) => action === 'verify_records').length;

t.test('soon after every start, and every day', async (t) => {
  const store = await startStore(t);
  const { job } = await proofOf(store);
  t.same(await job.run(), {});
  t.equal(await lookedOver(store), 1, 'the first time at once');
  await job.run();
  store.clock.advance(days(1) - hours(1));
  await job.run();
  t.equal(await lookedOver(store), 1, 'not again within the day');
  store.clock.advance(hours(1));
  await job.run();
  t.equal(await lookedOver(store), 2);
  const next = await proofOf(store);
  await next.job.run();
  await next.job.run();
  t.equal(await lookedOver(store), 3, 'once by the next process');
});

t.test('a problem is reported until it is repaired', async (t) => {
  const store = await startStore(t);
  const change = (name: string): void => {
    const db = new SQLite(join(store.directory, 'larder.db'));
    db.prepare(`UPDATE accounts SET display_name = ? WHERE username = 'ada'`).run(name);
    db.close();
  };
  const { faults, job } = await proofOf(store);
  const text = (): string | undefined => {
    const facts = faults();
    return facts && textOf(describeFault('damaged-records', facts));
  };
  change('Eda');
  t.equal(text(), undefined);
  t.match(await job.run(), { problems: 1, first: [/^row \d+ of accounts is changed$/] });
  t.match(
    text(),
    /^When the records were looked over at 2026-03-01T12:00:00.*, 1 thing was wrong, the first: row \d+ of accounts is changed\. 'larder verify'/,
  );

  await store.restart();
  t.match(
    (await store.anyone.get('/readyz')).body,
    { problems: [/1 thing was wrong/] },
    'the next process knows of it',
  );
  change('Ada');
  const next = await proofOf(store);
  t.match(text(), /1 thing was wrong/);
  t.same(await next.job.run(), {}, 'looked over again at once');
  t.equal(next.faults(), undefined);
  t.equal(next.isBroken(), false);
});

t.test('a small database is checked in steps between other work, a large one in a thread', async (t) => {
  const { directory } = await startStore(t);
  const file = join(directory, 'larder.db');
  const db = new SQLite(file);
  db.exec(`UPDATE accounts SET display_name = 'Eda' WHERE username = 'ada'`);
  db.close();
  let threads = 0;
  const toCheck = { file, native: undefined };
  const check = (): ReturnType<typeof inspectOpenFile> =>
    inspectOpenFile((worker) => {
      threads += 1;
      return startWorker('src/integrity/database-worker.ts', worker);
    }, toCheck);
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 0);
  const small = await check();
  clearInterval(counting);
  t.match(small, { pages: [], rows: [/^row \d+ of accounts is changed$/] });
  t.equal(threads, 0);
  t.ok(turns > 5, `${turns} timers ran between the steps`);
  truncateSync(file, 5 * 1024 * 1024);
  t.same((await check()).rows, small.rows);
  t.equal(threads, 1);
});
