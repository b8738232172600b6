// Ephemeral rows: durable while they last, in no audit log and no backup, and removed after their end.
import { join } from 'node:path';

import t from 'tap';

import { days } from '#domain/clock.ts';
import type { Database } from '#engine/database.ts';
import { copyDatabase } from '#engine/sqlite/check.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { sweepEphemeralRows } from '#jobs/store/sweep-ephemeral-rows.ts';
import { databaseOf, engine, statement, tablesOf } from '#test/fixtures/records/engines.ts';
import { begin, discharge, logInAt, password, startIdentity, waysIn } from '#test/identity/world.ts';

/** How many rows each of the tables has that hold what passes. */
async function rowsIn(db: Database): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const name of (await tablesOf(db)).filter((table) => table.startsWith('passing_'))) {
    rows[name] = (await db.get<{ count: number }>(statement(`SELECT COUNT(*) AS count FROM ${name}`)))!.count;
  }
  return rows;
}

t.test('ephemeral rows survive the process, are in no backup, and are swept when they have ended', async (t) => {
  const store = await startIdentity(t);
  const { records } = store.beside;
  const db = await databaseOf(t, store.directory);
  const { caveatId } = await begin(store);
  const { VisitURL, WaitTokenURL } = (await waysIn(store, caveatId)).InteractionMethods['browser-window'];
  t.match(await logInAt(VisitURL, { username: 'ada', password: 'wrong' }), { status: 401 });
  const head = await records.audit.head();
  t.match(await rowsIn(db), { passing_logins: 1, passing_failures: 2 });

  await store.restart();
  t.same(await records.audit.head().then((now) => now!.seq >= head!.seq), true);
  t.match(await logInAt(VisitURL, { username: 'ada', password }), { status: 200 }, 'the login goes on after a restart');
  const { token64 } = (await (await fetch(WaitTokenURL)).json()) as { token64: string };
  t.match(await rowsIn(db), { passing_logins: 1, passing_proofs: 1, passing_familiar_places: 1 });

  if (engine === 'sqlite') {
    const copied = join(store.directory, 'copy.db');
    await copyDatabase(join(store.directory, 'larder.db'), copied);
    const copy = openSqlite(copied);
    t.teardown(() => copy.close());
    t.same([...new Set(Object.values(await rowsIn(copy)))], [0], 'a copy has none of it');
  }
  const proof = { id64: caveatId.toString('base64'), token64, 'token-kind': 'login' };
  t.match(await discharge(store, proof), { status: 200 }, 'and the store still has it');

  const job = sweepEphemeralRows(records, () => store.clock.now);
  t.same(await job.run(), { forgotten: 0 }, 'nothing that lasts is swept');
  store.clock.advance(days(31));
  t.match(await job.run(), { forgotten: Number });
  t.same([...new Set(Object.values(await rowsIn(db)))], [0]);
});
