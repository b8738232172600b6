// Every fault of the records and of the jobs is produced for real, and every place is asked about it.
import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { larder } from '#test/cli/world.ts';
import type { ConsoleStore } from '#test/console/world.ts';
import { onSqlite } from '#test/fixtures/records/engines.ts';
import { trustCommand } from '#test/transfers/two-of-three.ts';
import { testRows, type Row } from './rows.ts';

/** Does something to the database behind the back of the store. */
function behind({ directory }: Pick<ConsoleStore, 'directory'>, ...statements: string[]): void {
  const db = new SQLite(join(directory, 'larder.db'));
  for (const statement of statements) db.prepare(statement).run();
  db.close();
}

async function copyDatabase(from: string, to: string): Promise<void> {
  const db = new SQLite(from);
  await db.backup(to);
  db.close();
}

const rows: Row[] = [
  {
    code: 'database-held',
    says: /^Another program holds the database of the store: every change is refused/,
    isNoticedLater: true,
    produce({ directory }, t) {
      const db = new SQLite(join(directory, 'larder.db'));
      t.teardown(() => db.close());
      db.exec('BEGIN IMMEDIATE');
      return () => db.exec('ROLLBACK');
    },
  },
  {
    code: 'cannot-look',
    says: /^The store cannot check its own state \('transfers'\)/,
    async produce(store, t) {
      t.match(await larder(`${trustCommand(t)} --data ${store.directory}`), { code: 0 });
      behind(store, `UPDATE transfer_sources SET keys = substr(keys, 2)`);
      return () => behind(store, `UPDATE transfer_sources SET keys = '[' || keys`);
    },
  },
  {
    code: 'damaged-records',
    endsWithStart: true,
    says: /^When the records were looked over at .*, 1 thing was wrong, the first: /,
    runsJobs: true,
    isNoticedLater: true,
    async produce(store) {
      const ada = await store.as('ada');
      await ada.post('/v1/bin', { name: 'tool' });
      behind(store, `UPDATE packages SET private = 1 - private`);
      // A start looks the records over.
      await store.restart();
      return async () => {
        behind(store, `UPDATE packages SET private = 1 - private`);
        await store.restart();
      };
    },
  },
  {
    code: 'audit-log',
    says: /the audit log/i,
    endsWithStart: true,
    async produce(store, t) {
      const file = join(store.directory, 'larder.db');
      const [earlier, later] = [join(t.testdir(), 'earlier.db'), join(t.testdir(), 'later.db')];
      await copyDatabase(file, earlier);
      const ada = await store.as('ada');
      for (const name of ['one', 'two']) await ada.post('/v1/bin', { name });
      await store.appliance.stop();
      await copyDatabase(file, later);
      // Only the database is restored, and its seal is not.
      await copyDatabase(earlier, file);
      await store.restart();
      return async () => {
        await store.appliance.stop();
        await copyDatabase(later, file);
        await store.restart();
      };
    },
  },
  {
    code: 'jobs-fail',
    endsWithStart: true,
    says: /^A job fails: keep-room \(/,
    runsJobs: true,
    isNoticedLater: true,
    async produce(store) {
      // A folder takes the place of the file that the job writes.
      const place = join(store.directory, 'blobs/ballast.tmp');
      await store.appliance.stop();
      rmSync(join(store.directory, 'blobs/ballast'), { force: true });
      mkdirSync(place);
      await store.restart();
      return async () => {
        rmdirSync(place);
        await store.restart();
      };
    },
  },
];

if (onSqlite.skip === undefined) testRows(rows);
