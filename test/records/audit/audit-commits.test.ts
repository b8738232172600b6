// The changes of one commit share the end of the audit log: it is read, verified and given its code once for all of them.
import t from 'tap';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { openRecords } from '#test/fixtures/records/writable.ts';
import { copyOf, cutBehind, folder, siteKey, tamper, verdictOn, writtenLog } from './audit-log.ts';

const entry = { at: '2026-03-01T12:00:00.000Z', actor: 'bob', action: 'try', object: 'x' };

t.test('the changes of a commit form one chain, whichever of them are refused', async (t) => {
  const directory = folder(t);
  const { records, sealing, close } = await openRecords(directory, { siteKey });
  const attempts = Array.from({ length: 300 }, (_, at) => ({ ...entry, object: `change ${String(at)}` }));
  const isRefused = (at: number): boolean => at % 3 === 0 || (at > 60 && at < 70);
  const outcomes = await Promise.allSettled(
    attempts.map((attempt, at) =>
      records.change(attempt, () => (isRefused(at) ? Promise.reject(new Error('refused')) : Promise.resolve())),
    ),
  );
  t.same(
    outcomes.map(({ status }) => status === 'rejected'),
    attempts.map((_, at) => isRefused(at)),
  );
  const rows = await records.audit.list(0, 300);
  t.same(
    rows.map(({ object }) => object),
    attempts.filter((_, at) => !isRefused(at)).map(({ object }) => object),
    'the log has the changes that were done, in their order',
  );
  t.equal(sealing.problem(), undefined);
  t.match(await records.auditSeals.newest(), { number: 2, seq: 101 }, 'seals are made in the midst of a commit');
  await close();
  t.same((await verdictOn(directory)).problems, []);
});

t.test('a seal in the commit of a change covers that change', async (t) => {
  const directory = await writtenLog(t, 5);
  const { records, sealing, close } = await openRecords(directory, { siteKey });
  t.teardown(close);
  const change = (): Promise<void> => records.change(entry, () => Promise.resolve());
  await Promise.all([change(), change(), records.seal()]);
  t.equal(sealing.problem(), undefined);
  t.match(await records.auditSeals.newest(), { seq: 7 });
  t.same((await verdictOn(directory)).problems, []);
});

t.test('several changes of one commit do not repair a cut log', async (t) => {
  const original = await writtenLog(t, 50);
  for (const refused of [[], [0], [1]]) {
    const directory = copyOf(t, original);
    tamper(directory, (db) => cutBehind(db, 40));
    const { records, sealing, close } = await openRecords(directory, { siteKey });
    await Promise.allSettled(
      [0, 1, 2].map((at) =>
        records.change(entry, () => (refused.includes(at) ? Promise.reject(new Error('refused')) : Promise.resolve())),
      ),
    );
    t.match(sealing.problem(), /the audit log did not end as larder had written it when row 4\d was appended/);
    await close();
    const db = new SQLite(join(directory, 'larder.db'), { readonly: true });
    t.equal(db.prepare(`SELECT mac FROM noun_versions WHERE noun = 'audit'`).pluck().get(), null);
    db.close();
    t.not((await verdictOn(directory)).problems.length, 0);
  }
});
