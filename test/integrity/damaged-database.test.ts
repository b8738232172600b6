// A corrupt database is reported everywhere: by the server, its health, and `larder verify`.
import t from 'tap';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { newStore, serve } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { snapFixture, startStore } from '#test/fixtures/appliance.ts';

/** Overwrites the first page of a table; returns its number. */
function damageTable(data: string, table: string): number {
  const file = join(data, 'larder.db');
  const db = new SQLite(file);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const { page, size } = db
    .prepare<[string], { page: number; size: number }>(
      'SELECT rootpage AS page, page_size AS size FROM sqlite_master, pragma_page_size WHERE name = ?',
    )
    .get(table)!;
  db.close();
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(size, 0xa5), 0, size, (page - 1) * size);
  closeSync(handle);
  return page;
}

t.test('a server with a corrupt page reports it soon after its start, and is not ready', async (t) => {
  const { data, larder } = await newStore(t);
  const page = damageTable(data, 'charm_libraries');
  const { url, says } = await serve(t, data);
  await says(/"job":"prove-records"/);
  const ready = await fetch(`${url}/readyz`);
  t.equal(ready.status, 503);
  const problem = new RegExp(
    `the first: page ${String(page)} of the table charm_libraries is corrupt\\. 'larder verify' names all`,
  );
  t.match(await ready.json(), { status: 'failing', problems: [problem] });
  t.equal((await fetch(`${url}/healthz`)).status, 200, 'the process is alive');
  t.match((await larder('status')).out.replace(/\s+/g, ' '), problem);
  t.match(await larder('doctor'), { code: 1, out: /WRONG Records: .*When the records were looked over/ });
});

t.test('verify names the page and its table, also if the store cannot be opened, and the remedy', async (t) => {
  for (const table of ['charm_libraries', 'appliance']) {
    const { data, larder } = await newStore(t);
    const page = damageTable(data, table);
    const { code, out, err } = await larder('verify');
    t.equal(code, 1, err);
    t.match(out, new RegExp(`${data}/larder\\.db: page ${String(page)} of the table ${table} is corrupt`));
    t.match(
      out,
      `Stop the server, move ${data} aside, and restore the last backup from before: larder restore FILE --data ${data}`,
    );
  }
});

t.test('a row and a content are named by package and revision, and by who pushed it', async (t) => {
  const store = await startStore(t, (text) => text.replace('# scrub_rate = "20 MiB"', 'scrub_rate = 0'));
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  await ada.push('snap', 'tiny-app', await snapFixture('app-xz'));
  t.match(await larder(`verify --data ${store.directory}`), { code: 0 });

  const db = new SQLite(join(store.directory, 'larder.db'));
  const sha3 = db.prepare<[], string>('SELECT sha3_384 FROM revisions').pluck().get()!;
  db.prepare(`UPDATE revisions SET version = version || '1'`).run();
  db.close();
  const handle = openSync(join(store.directory, 'blobs/sha3', sha3.slice(0, 2), sha3), 'r+');
  writeSync(handle, Buffer.from([0x55]), 0, 1, 1000);
  closeSync(handle);
  const { code, out } = await larder(`verify --data ${store.directory} --quarantine`);
  t.equal(code, 1);
  t.match(out, /larder\.db: row \d+ of revisions \(snap\/tiny-app revision 1\) is changed/);
  t.match(out, `snap/tiny-app revision 1 (pushed by ada): its content is damaged (blob ${sha3})`);
  t.match(await larder(`doctor --data ${store.directory}`), {
    out: /WRONG Blobs: Files of this store are corrupt and out of service: .*; in detail: snap\/tiny-app revision 1 \(pushed by ada\)/,
  });
});

t.test('a database for which no descriptors are left is not called damaged', async (t) => {
  const { data } = await newStore(t);
  const script = `
    const { openSync } = await import('node:fs');
    const { inspectFile } = await import('#engine/sqlite/check.ts');
    const file = process.argv[1];
    console.log(JSON.stringify(inspectFile(file)));
    try { for (;;) openSync('/dev/null'); } catch (error) { console.log(error.code); }
    try { console.log(JSON.stringify(inspectFile(file))); } catch (error) { console.log(error.code); }
  `;
  const limited = ['-c', 'ulimit -n 64 && exec "$@"', 'sh', process.execPath, '--input-type=module', '--eval', script];
  const out = execFileSync('/bin/sh', [...limited, join(data, 'larder.db')], {
    encoding: 'utf8',
    cwd: join(import.meta.dirname, '../..'),
  });
  t.strictSame(out.split('\n'), ['{"pages":[],"rows":[]}', 'EMFILE', 'SQLITE_CANTOPEN', '']);
});

t.test('a database that another process holds is not called damaged', async (t) => {
  const { data, larder } = await newStore(t);
  const holder = new SQLite(join(data, 'larder.db'));
  t.teardown(() => holder.close());
  holder.pragma('locking_mode = EXCLUSIVE');
  holder.exec('BEGIN EXCLUSIVE');
  const { code, out } = await larder('doctor');
  t.equal(code, 1);
  t.match(out, /WRONG Records: another process holds the database \S+larder\.db; try again in a moment/);
  t.notMatch(out, /damaged/);
});
