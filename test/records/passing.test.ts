// What passes: durable while it lasts, in no audit log and no copy, and gone when it has ended.
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { days } from '#domain/clock.ts';
import { copyDatabase } from '#engine/sqlite/check.ts';
import { forgetPassing } from '#jobs/forget-passing.ts';
import { begin, discharge, logInAt, password, startIdentity, waysIn } from '#test/identity/world.ts';

/** How many rows each of the tables has that hold what passes. */
function rowsIn(file: string): Record<string, number> {
  const db = new SQLite(file, { readonly: true });
  const tables = db.prepare<[], string>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'passing_*'",
  );
  const count = (name: string) => db.prepare<[], number>(`SELECT COUNT(*) FROM ${name}`).pluck().get() ?? 0;
  const rows = Object.fromEntries(
    tables
      .pluck()
      .all()
      .map((name) => [name, count(name)]),
  );
  db.close();
  return rows;
}

t.test('what passes outlives the process, is in no copy, and is swept when it has ended', async (t) => {
  const store = await startIdentity(t);
  const { records } = store.beside;
  const file = join(store.directory, 'larder.db');
  const { caveatId } = await begin(store);
  const { VisitURL, WaitTokenURL } = (await waysIn(store, caveatId)).InteractionMethods['browser-window'];
  t.match(await logInAt(VisitURL, { username: 'ada', password: 'wrong' }), { status: 401 });
  const head = await records.audit.head();
  t.match(rowsIn(file), { passing_logins: 1, passing_failures: 2 });

  await store.restart();
  t.same(await records.audit.head().then((now) => now!.seq >= head!.seq), true);
  t.match(await logInAt(VisitURL, { username: 'ada', password }), { status: 200 }, 'the login goes on after a restart');
  const { token64 } = (await (await fetch(WaitTokenURL)).json()) as { token64: string };
  t.match(rowsIn(file), { passing_logins: 1, passing_proofs: 1, passing_familiar_places: 1 });

  const copy = join(store.directory, 'copy.db');
  await copyDatabase(file, copy);
  t.same([...new Set(Object.values(rowsIn(copy)))], [0], 'a copy has none of it');
  const proof = { id64: caveatId.toString('base64'), token64, 'token-kind': 'login' };
  t.match(await discharge(store, proof), { status: 200 }, 'and the store still has it');

  const job = forgetPassing(records, () => store.clock.now);
  t.same(await job.run(), { forgotten: 0 }, 'nothing that lasts is swept');
  store.clock.advance(days(31));
  t.match(await job.run(), { forgotten: Number });
  t.same([...new Set(Object.values(rowsIn(file)))], [0]);
});
