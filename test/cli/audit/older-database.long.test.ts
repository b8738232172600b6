// A database that is older than the file with the audit log's seal says: a copy without its write-ahead log, put to use.
import t from 'tap';
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { noteAuditEnd } from '#jobs/audit/seal-audit.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { commandsOn, folder, newStore, serve } from '#test/cli/process.ts';

/** Copies a data directory that is in use as a careless script does: without the log beside the database. */
function copyWithoutLog(t: { teardown(work: () => unknown): void }, data: string): string {
  const copy = join(folder(t), 'copy');
  cpSync(data, copy, { recursive: true });
  for (const ending of ['-wal', '-shm']) rmSync(join(copy, `larder.db${ending}`), { force: true });
  return copy;
}

t.test('a copy of the database without its write-ahead log is noticed by doctor and /readyz', async (t) => {
  const { data, larder } = await newStore(t);
  const server = await serve(t, data);
  const made = await larder('account create --email bob@example.org --username bob --display-name Bob --id bob-id');
  t.equal(made.code, 0);
  t.ok(statSync(join(data, 'larder.db-wal')).size > 0, 'the change is in the log beside the database');
  const copy = copyWithoutLog(t, data);
  t.match(await larder('doctor --json'), { code: 0 }, 'the store itself is well');
  server.child.kill('SIGTERM');
  await server.ended;

  const copied = commandsOn(copy);
  t.match((await copied.larder('account list')).out, /^(?!.*bob@example)/s, 'the copy starts without the change');
  const older = /WRONG Records: The database is older than .*audit\.seal says: .*the last changes are missing/;
  t.match(await copied.larder('doctor'), { code: 1, out: older });
  t.match(await copied.larder('audit verify'), { code: 1 });
  const serving = await serve(t, copy);
  const readiness = await (await fetch(`${serving.url}/readyz`)).text();
  t.match(readiness, /The database is older than .*audit\.seal says/);
  t.match(await copied.larder('doctor'), { code: 1, out: older }, 'also while it is served');
  serving.child.kill('SIGTERM');
  await serving.ended;

  t.match(await copied.larder('audit accept --yes'), { code: 0 });
  t.notMatch((await copied.larder('audit verify')).out, /older/, 'what people have accepted is no problem any more');
});

t.test('a job notes the changes over HTTP, and a log without new entries costs no write', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  t.equal((await ada.post('/v1/snap', { name: 'hello' })).status, 200);
  const seal = join(store.directory, 'audit.seal');
  const job = noteAuditEnd(store.beside.records);
  await job.run();
  const head = (await store.beside.records.audit.head())!;
  const text = readFileSync(seal, 'utf8');
  t.match(JSON.parse(text), { last: { seq: head.seq, hash: head.hash } });
  const { ino } = statSync(seal);
  await job.run();
  t.equal(statSync(seal).ino, ino, 'the file is the same');
  await store.beside.records.seal();
  t.match(JSON.parse(readFileSync(seal, 'utf8')), { seq: head.seq, last: undefined }, 'a newer seal needs no note');
});

t.test('a note with a foreign signature is ignored', async (t) => {
  const { data, larder } = await newStore(t);
  const seal = join(data, 'audit.seal');
  const storedSeal = JSON.parse(readFileSync(seal, 'utf8')) as object;
  writeFileSync(seal, JSON.stringify({ ...storedSeal, last: { seq: 999, hash: '0'.repeat(64), mac: '0'.repeat(64) } }));
  t.match(await larder('doctor'), {
    code: 1,
    out: /WRONG Records: The seal in .* is not of this store, or was changed/,
  });
  for (const last of [null, 7, {}, { seq: 1, hash: '0', mac: 7 }]) {
    writeFileSync(seal, JSON.stringify({ ...storedSeal, last }));
    t.match(await larder('doctor --json'), { code: 0 }, `${JSON.stringify(last)} is no note`);
  }
});
