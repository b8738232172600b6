// A backup that is reported as valid is valid: `backup`, `--check` and `restore` name each corrupt or missing file.
import t from 'tap';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { lockBackups } from '#data/lock.ts';
import { hasContent, readContent, removeContent, writeContent } from '#test/fixtures/contents.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { openStore } from '#test/fixtures/records/writable.ts';
import { newStore } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { endedBy } from './ended-by.ts';
import { saved } from './saved.ts';

t.setTimeout(600_000);

t.test('a missing blob is named by its package, and fetched back from an earlier backup', async (t) => {
  const { store, folder, keys, sha3_384, run } = await saved(t);
  const [monday, tuesday] = [join(folder, 'monday.tar'), join(folder, 'tuesday.tar')];
  t.match(await run(`backup ${monday}`), { code: 0, out: /It was read back as it was written/ });
  t.match(await run(`backup --check ${monday}`), {
    code: 0,
    out: /is intact: \d+ files, each verified against its digest/,
  });
  removeContent(store.directory, sha3_384);

  const message = `snap/tiny-app revision 1 (${sha3_384}) is missing in the store`;
  const made = await run(`backup ${tuesday}`);
  t.equal(made.code, 1);
  t.match(made.out, `1 blob is not in it:\n  ${message}\n`);
  t.match(await run(`backup ${folder}/all-the-same.tar --even-so`), { code: 0, out: message });
  t.match(await run(`backup --check ${tuesday}`), {
    code: 1,
    out: `the blob ${sha3_384} is not in it (missing when it was made)`,
  });
  const data = join(folder, 'data');
  const restored = await larder(`restore ${tuesday} --data ${data} --keys ${keys}`);
  t.equal(restored.code, 1);
  t.match(
    restored.out,
    `1 item is not in the backup and missing from here on:\n  snap/tiny-app revision 1 (${sha3_384})\n`,
  );
  t.match(await larder(`verify --data ${data}`), { code: 1 });

  t.match(await run(`restore ${tuesday} --missing`), {
    code: 1,
    out: /^No missing blob is in .*tuesday\.tar/,
  });
  t.match(await larder(`restore ${monday} --missing --data ${data}`), {
    code: 0,
    out: `1 blob is restored, each verified against its digest:\n  snap/tiny-app revision 1 (${sha3_384})\n`,
  });
  t.match(await larder(`verify --data ${data}`), { code: 0 });
  t.match(await run(`restore ${monday} --missing`), { code: 0 }, 'also while the store serves');
  t.ok(hasContent(store.directory, sha3_384));
  t.match(await run(`restore ${monday} --missing`), { code: 0, out: 'Nothing is missing.\n' });
  const entries = await store.beside.records.audit.list(0, 1000);
  const fetched = entries.filter(({ action }) => action === 'restore_missing_blobs');
  t.match(fetched, [{ actor: /^cli:/, object: 'blobs' }]);
  t.match(JSON.parse(fetched[0]?.details ?? ''), { from: /./, blobs: [sha3_384] });
  t.equal(fetched.length, 1, 'only where anything came back');
  t.match(await run(`restore ${monday} --missing --keys ${keys}`), { code: 2, err: /the store has its own/ });
});

t.test('a blob that is damaged or was taken out of service is named, and not in the backup', async (t) => {
  const { store, folder, sha3_384, run } = await saved(t);
  const bytes = readContent(store.directory, sha3_384);
  writeContent(store.directory, sha3_384, Buffer.concat([bytes, Buffer.from('more')]));
  t.match(JSON.parse((await run(`backup ${folder}/longer.tar --json`)).out), {
    lacking: [{ sha3_384, why: 'damaged' }],
  });
  bytes[100]! ^= 1;
  writeContent(store.directory, sha3_384, bytes);
  const made = await run(`backup ${folder}/damaged.tar --json`);
  t.match(made, { code: 1 });
  t.match(JSON.parse(made.out), { damaged: [sha3_384], lacking: [{ sha3_384, why: 'damaged' }] });
  t.notOk(readFileSync(join(folder, 'damaged.tar')).includes(bytes.subarray(0, 200)), 'not even its bytes');
  await run('verify --quarantine --yes');
  t.match(await run(`backup ${folder}/quarantined.tar`), { code: 1, out: `revision 1 (${sha3_384}) is missing` });
});

t.test('a corrupt database is not backed up, unless the administrator asks for it', async (t) => {
  const { data, larder: run } = await newStore(t);
  const store = await openStore({ directory: data });
  const at = new Date().toISOString();
  await store.records.change({ at, actor: 'test', action: 'create_account', object: 'account' }, async (tx) => {
    const { account } = filler(tx, at);
    for (let number = 0; number < 40; number++) await account(`id-${String(number)}`, `u${String(number)}`);
  });
  await store.close();
  const db = new SQLite(join(data, 'larder.db'));
  db.pragma('wal_checkpoint(TRUNCATE)');
  const page = db.prepare<[], number>(`SELECT rootpage FROM sqlite_master WHERE name = 'accounts'`).pluck().get()!;
  db.close();
  const bytes = readFileSync(join(data, 'larder.db'));
  bytes.fill(0xa5, page * 4096 - 2000, page * 4096);
  writeFileSync(join(data, 'larder.db'), bytes);
  const file = join(data, '../bad.tar');
  const refused = await run(`backup ${file}`);
  t.match(refused, { code: 1, out: '' });
  t.match(refused.err, /^larder: the database is damaged: .*\. No backup was made, .* Restore the last good backup/);
  t.notOk(existsSync(file));
  t.match(await run(`backup ${file} --even-so`), {
    code: 0,
    out: /The database in it is damaged: .*cannot be restored/,
  });
  t.match(await run(`backup --check ${file}`), { code: 1, out: /is damaged:\n {2}its database: / });
  t.strictSame(
    readdirSync(join(data, '..')).filter((name) => name !== 'data'),
    ['bad.tar'],
    'nothing else is left',
  );
  t.notOk(existsSync(join(data, 'backup.tmp')));
});

largeTest('of a backup that a signal ends nothing is left, and it can be repeated', async (t) => {
  const { store, folder, run } = await saved(t);
  const file = join(folder, 'ended.tar');
  const line = ['backup', file, '--data', store.directory];
  const lying = () => [folder, store.directory].map((at) => readdirSync(at).filter((name) => !/\.lock\b/.test(name)));
  const before = lying();
  const listeners = process.listenerCount('SIGTERM');
  for (const [signal, step, code] of [
    ['SIGTERM', 'database', 143],
    ['SIGINT', 'blobs', 130],
    ['SIGHUP', 'reading back', 129],
  ] as const) {
    const ended = await endedBy(signal, step, line);
    t.match(ended, { code, err: '"error":"interrupted; unfinished work was undone","code":"interrupted"' }, step);
    t.strictSame(lying(), before, `${signal} at ${step}: nothing is left`);
  }
  t.equal(process.listenerCount('SIGTERM'), listeners, 'later signals do what signals do');
  t.match(await run('audit list --json'), { out: /^(?!.*"action":"make_backup")/s });
  t.match(await run(`backup ${file}`), { code: 0 });
});

t.test('a backup is checked without restoring it, and each corrupt file is named', async (t) => {
  const { store, folder, keys, run, sha3_384 } = await saved(t);
  const [monday, tuesday] = [join(folder, 'monday.tar'), join(folder, 'tuesday.tar')];
  await run(`backup ${monday}`);
  await store.anyone.upload('what came on Tuesday');
  await run(`backup ${tuesday} --since ${monday}`);
  t.match(await run(`backup --check ${tuesday}`), {
    code: 0,
    out: / 2 blobs are in earlier backups; name those backups with --base/,
  });
  t.match(await run(`backup --check ${tuesday} --base ${monday}`), {
    code: 0,
    out: /its database\. It belongs to the site\.key with the fingerprint/,
  });

  const elsewhere = join(folder, 'nowhere');
  t.match(
    await larder(`backup --check ${monday} --data ${elsewhere} --keys ${keys}`),
    { code: 0 },
    'without the store',
  );
  t.notOk(existsSync(elsewhere));
  const whole = readFileSync(monday);
  const check = (bytes: Buffer) => {
    writeFileSync(join(folder, 'bad.tar'), bytes);
    return run(`backup --check ${folder}/bad.tar`);
  };
  const flipped = (at: number): Buffer => {
    const bytes = Buffer.from(whole);
    bytes[at]! ^= 1;
    return bytes;
  };
  // A header begins with the name, at a multiple of 512.
  let header = whole.indexOf(sha3_384);
  while (header % 512 !== 0) header = whole.indexOf(sha3_384, header + 1);
  t.match(await check(flipped(header + 512 + 10)), { code: 1, out: `blobs/${sha3_384} is damaged` });
  t.match(await check(flipped(512 + 4000)), { code: 1, out: /^ {2}larder\.db is damaged$/m });
  t.match(await check(whole.subarray(0, whole.length - 1024)), { code: 1, err: /is not an intact backup/ });
  t.match(await check(flipped(whole.indexOf('madeAt'))), {
    code: 1,
    err: /not made with this site key \(fingerprint [-0-9a-f]+\), or it has been changed/,
  });
  t.match(await run(`backup --check ${folder}/none.tar --base ${monday}`), {
    code: 1,
    err: /cannot read .*none\.tar: there is no/,
  });
  t.match(await run(`backup --check ${monday} --keep 3`), { code: 2, err: /--keep has no effect when --check reads/ });
  t.match(await run(`backup ${folder}/x.tar --base ${monday}`), { code: 2, err: /only with --check/ });
});

t.test('a new backup is made and checked in one run', async (t) => {
  const { store, folder, run, sha3_384 } = await saved(t);
  const [monday, tuesday] = [join(folder, 'monday.tar'), join(folder, 'tuesday.tar')];
  t.match(await run(`backup ${monday} --check`), {
    code: 0,
    out: /^The backup is in .*monday\.tar: [^]*\nThe backup of .* is intact: \d+ files, each verified against its digest/,
  });
  const files = join(folder, 'nightly');
  mkdirSync(files);
  const nightly = JSON.parse((await run(`backup ${files} --since ${monday} --keep 1 --check --json`)).out) as object;
  t.match(nightly, { removed: [], check: { good: true, 'blobs-elsewhere': 2 } });
  removeContent(store.directory, sha3_384);
  const lacking = await run(`backup ${tuesday} --check`);
  t.match(lacking, { code: 1, out: /1 blob is not in it:[^]*is damaged:\n {2}the blob/ });
});

t.test('one backup of a store is made at a time', async (t) => {
  const { folder, store, run } = await saved(t);
  const lock = lockBackups(store.directory);
  t.match(await run(`backup ${folder}/second.tar`), { code: 1, err: /another backup of this store is being made/ });
  lock.close();
  t.match(await run(`backup ${folder}/second.tar`), { code: 0 });
});

largeTest('in a folder of backups the newest stay, and nothing goes that is not one of them', async (t) => {
  const { folder, store, sha3_384, run } = await saved(t);
  const backups = t.testdir({ set: { 'larder-20200101T000000Z.tar': 'somebody wrote this', 'notes.tar': 'and this' } });
  const set = join(backups, 'set');
  const old = ['larder-20260101T000000Z.tar', 'larder-20260102T000000Z.tar', 'larder-20260103T000000Z.tar'];
  for (const name of old) t.equal((await run(`backup ${set}/${name}`)).code, 0);
  t.match(await run(`backup ${folder}/one.tar --keep 2`), { code: 2, err: /--keep needs a folder/ });
  const made = await run(`backup ${set} --keep 2`);
  t.match(made, { code: 0, out: /larder-20260101T000000Z\.tar was removed\.\n.*larder-20260102|larder-20260102/ });
  const left = readdirSync(set).sort();
  t.strictSame(
    left.slice(0, 2),
    ['larder-20200101T000000Z.tar', 'larder-20260103T000000Z.tar'],
    'what is no backup stays',
  );
  t.match(left[2], /^larder-\d{8}T\d{6}Z\.tar$/);
  t.equal(left[3], 'notes.tar');
  t.equal(left.length, 4);

  removeContent(store.directory, sha3_384);
  store.clock.advance(1000);
  rmSync(join(set, left[2]!));
  t.match(await run(`backup ${set} --keep 1`), { code: 1 });
  t.ok(existsSync(join(set, 'larder-20260103T000000Z.tar')), 'for one that lacks something nothing is removed');
});
