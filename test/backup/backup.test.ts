// larder backup and restore
import t from 'tap';
import { spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { fingerprintOf } from '#macaroons/site-key.ts';
import { snapFixture, startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { contentFiles } from '#test/fixtures/contents.ts';
import { larder } from '#test/cli/world.ts';
import { largeTest } from '#test/fixtures/large.ts';

const long = process.env['LARDER_LONG'] === '1';
/** A backup and a restore each; with LARDER_LONG=1 at many moments. */
const kills = long ? 50 : 2;
t.setTimeout(900_000);
const root = join(import.meta.dirname, '../..');

/**
 * Every row of every table in a backup, except for the epoch, which differs after a backup, and the batched counters,
 * which are written a moment later. The audit log and the exports gain rows about the backup itself.
 */
function rows(directory: string): Record<string, unknown[]> {
  const db = new SQLite(join(directory, 'larder.db'), { readonly: true });
  try {
    const tables = db
      .prepare<[], { name: string; wr: number }>(
        `SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name`,
      )
      .all();
    const compared = tables.filter(
      ({ name }) => !/^(?:audit.*|exports|notes|noun_versions|passing_.*|row_digests|sqlite_.*)$/.test(name),
    );
    const besides = `WHERE name <> 'store-epoch'`;
    return Object.fromEntries(
      compared.map(({ name, wr }) => [
        name,
        db
          .prepare(
            wr === 1
              ? `SELECT * FROM "${name}" ${name === 'appliance' ? besides : ''} ORDER BY 1`
              : `SELECT rowid, * FROM "${name}" ${name === 'appliance' ? besides : ''} ORDER BY rowid`,
          )
          .all(),
      ]),
    );
  } finally {
    db.close();
  }
}

async function filled(t: Parameters<typeof startStore>[0]): Promise<TestAppliance> {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello-larder' });
  await ada.push(
    'snap',
    'hello-larder',
    await snapFixture(readdirSync(join(root, 'test/fixtures/snaps'))[0]!.replace('.snap', '')),
  );
  for (let number = 0; number < 20; number++) await ada.upload(randomBytes(randomInt(1, 50_000)));
  return store;
}

/** The folder for copies of the keys. */
function keysOf(store: TestAppliance, parent: string): string {
  const folder = join(parent, 'keys');
  mkdirSync(folder);
  for (const name of ['site.key', 'master.key']) cpSync(join(store.directory, name), join(folder, name));
  return folder;
}

t.test('a store is restored row by row and blob by blob from a backup made while it served', async (t) => {
  const store = await filled(t);
  const folder = t.testdir();
  const keys = keysOf(store, folder);
  const file = join(folder, 'full.tar');
  const made = await larder(`backup --data ${store.directory} ${file} --json`);
  t.match(made, { code: 0, out: /"keys-included":false/ });
  t.notMatch(
    readFileSync(file, 'latin1'),
    readFileSync(join(store.directory, 'site.key'), 'utf8').trim(),
    'no key is in it',
  );
  const data = join(folder, 'restored');
  const restored = await larder(`restore ${file} --data ${data} --keys ${keys}`);
  t.match(restored, { code: 0, err: '' });
  t.strictSame(rows(data), rows(store.directory));
  t.strictSame(contentFiles(data), contentFiles(store.directory));
  t.equal(readFileSync(join(data, 'larder.toml'), 'utf8'), readFileSync(join(store.directory, 'larder.toml'), 'utf8'));
  t.match(await larder(`verify --data ${data}`), { code: 0 });
  t.match(await larder(`audit list --data ${data} --action restore`), { out: /cli:\S+ +restore_store +store/ });
  t.equal(statSync(join(data, 'site.key')).mode & 0o777, 0o400);
  t.match(await larder(`restore ${file} --data ${data} --keys ${keys}`), { code: 1, err: /there is a store/ });
  t.match(await larder(`backup --data ${store.directory} ${file}`), { code: 1, err: /is there already/ });
});

largeTest('a backup since another contains only the new rows and blobs, and is restored with it', async (t) => {
  const store = await filled(t);
  const folder = t.testdir();
  const keys = keysOf(store, folder);
  const [monday, tuesday, wednesday] = ['monday', 'tuesday', 'wednesday'].map((day) => join(folder, `${day}.tar`));
  await larder(`backup --data ${store.directory} ${monday}`);
  await store.anyone.upload(randomBytes(3000));
  t.match(await larder(`backup --data ${store.directory} ${tuesday} --since ${monday} --json`), {
    out: /"blobs-in-this-file":1,/,
  });
  await store.anyone.upload(randomBytes(3000));
  t.match(await larder(`backup --data ${store.directory} ${wednesday} --since ${tuesday} --json`), {
    out: /"blobs-in-this-file":1,/,
  });
  const data = join(folder, 'restored');
  t.match(await larder(`restore ${wednesday} --data ${data} --keys ${keys} --base ${tuesday}`), {
    code: 1,
    err: /1 earlier backup; name each with --base/,
  });
  t.notOk(existsSync(join(data, 'larder.toml')));
  t.match(await larder(`restore ${wednesday} --data ${data} --keys ${keys} --base ${tuesday} --base ${monday}`), {
    code: 0,
  });
  t.strictSame(rows(data), rows(store.directory));
  t.strictSame(contentFiles(data), contentFiles(store.directory));
});

t.test('with its keys under a passphrase a backup is all it takes', async (t) => {
  const store = await filled(t);
  const folder = t.testdir({
    right: 'correct horse battery staple\n',
    wrong: 'another horse battery staple\n',
    short: 'short\n',
  });
  const file = join(folder, 'full.tar');
  t.match(await larder(`backup --data ${store.directory} ${file} --include-keys`), {
    code: 2,
    err: /--include-keys needs --passphrase-file FILE if there is no terminal to ask at/,
  });
  t.match(await larder(`backup --data ${store.directory} ${file} --include-keys --passphrase-file ${folder}/short`), {
    code: 1,
    err: /too short/,
  });
  t.match(await larder(`backup --data ${store.directory} ${file} --include-keys --passphrase-file ${folder}/right`), {
    code: 0,
  });
  t.notMatch(readFileSync(file, 'latin1'), readFileSync(join(store.directory, 'site.key'), 'utf8').trim());
  const data = join(folder, 'data');
  t.match(await larder(`restore ${file} --data ${data} --passphrase-file ${folder}/wrong`), {
    code: 1,
    err: /not the passphrase/,
  });
  t.match(await larder(`restore ${file} --data ${data} --passphrase-file ${folder}/right`), { code: 0 });
  t.equal(readFileSync(join(data, 'site.key'), 'utf8'), readFileSync(join(store.directory, 'site.key'), 'utf8'));
  t.match(await larder(`verify --data ${data}`), { code: 0 });
});

t.test('a backup that was cut off, changed, or made by another store is not restored', async (t) => {
  const store = await filled(t);
  const folder = t.testdir();
  const keys = keysOf(store, folder);
  const file = join(folder, 'full.tar');
  await larder(`backup --data ${store.directory} ${file}`);
  const whole = readFileSync(file);
  const data = join(folder, 'data');
  const attempt = (bytes: Buffer) => {
    writeFileSync(join(folder, 'bad.tar'), bytes);
    return larder(`restore ${join(folder, 'bad.tar')} --data ${data} --keys ${keys}`);
  };
  for (const length of [0, 100, 512, Math.floor(whole.length / 2), whole.length - 1024, whole.length - 512]) {
    t.match(await attempt(whole.subarray(0, length)), { code: 1, err: /not an intact backup/ }, `cut at ${length}`);
  }
  // The padding between files means nothing, so only bytes within files are struck.
  let failureCount = 0;
  for (let number = 0; number < 12; number++) {
    const bytes = Buffer.from(whole);
    bytes[randomInt(20_000) + 600]! ^= 1 << randomInt(8);
    failureCount += (await attempt(bytes)).code;
    rmSync(data, { recursive: true, force: true });
  }
  t.equal(failureCount, 12, 'every flipped bit in the database copy is found');
  rmSync(join(keys, 'site.key'));
  writeFileSync(join(keys, 'site.key'), `${randomBytes(32).toString('base64')}\n`);
  const another = fingerprintOf(Buffer.from(readFileSync(join(keys, 'site.key'), 'utf8'), 'base64'));
  const own = JSON.parse((await larder(`status --data ${store.directory} --json`)).out)[
    'site-key-fingerprint'
  ] as string;
  const both = `bad.tar was not made with this site key: it needs the key with the fingerprint ${own}, and the given key has ${another}. Use a copy`;
  t.match(await attempt(whole), { code: 1, err: both });
  t.match(await larder(`backup --check ${file} --data ${data} --keys ${keys}`), { code: 1, err: own });
  t.match(await larder(`backup --check ${file} --data ${store.directory}`), {
    code: 0,
    out: `It belongs to the site.key with the fingerprint ${own}.`,
  });
  t.notOk(existsSync(join(data, 'larder.toml')));
});

largeTest('a backup or a restore that is killed half-way never looks complete', async (t) => {
  const store = await filled(t);
  for (let number = 0; number < 10; number++) await store.anyone.upload(randomBytes(2_000_000));
  const folder = t.testdir();
  const keys = keysOf(store, folder);
  const full = join(folder, 'full.tar');
  // Killed at a moment of what the whole of it takes, beginning behind the start of the program.
  // eslint-disable-next-line no-restricted-properties -- not held against anything: the kills are spread over it
  const began = performance.now();
  t.equal(await killedAfter(undefined, ['backup', full, '--data', store.directory]), 0);
  // eslint-disable-next-line no-restricted-properties -- the same
  const whole = Math.ceil(performance.now() - began);
  let interrupted = 0;
  for (let number = 0; number < kills; number++) {
    const [file, data] = [join(folder, `${number}.tar`), join(folder, `data-${number}`)];
    const backs = number % 2 === 0;
    const words = backs
      ? ['backup', file, '--data', store.directory]
      : ['restore', full, '--data', data, '--keys', keys];
    const code = await killedAfter(long ? randomInt(Math.floor(whole / 3), whole) : Math.floor((whole * 2) / 3), words);
    if (code === 'killed') interrupted++;
    const target = join(folder, `check-${number}`);
    if (backs && existsSync(file))
      t.match(await larder(`restore ${file} --data ${target} --keys ${keys}`), { code: 0 });
    if (!backs && existsSync(join(data, 'larder.toml'))) t.match(await larder(`verify --data ${data}`), { code: 0 });
    else if (!backs)
      t.match(await larder(`restore ${full} --data ${data} --keys ${keys}`), { code: 0 }, 'it can be repeated');
    if (backs && !existsSync(file)) t.match(await larder(`backup ${file} --data ${store.directory}`), { code: 0 });
  }
  t.comment(`${interrupted} of ${kills} were killed before their end`);
  t.match(await larder(`verify --data ${store.directory}`), { code: 0 });
  t.match(await larder(`backup ${folder}/last.tar --data ${store.directory}`), { code: 0 });
  const left = [...readdirSync(folder), ...readdirSync(store.directory)].filter((name) => /partial|tmp/.test(name));
  t.strictSame(left, [], 'and the next backup clears away what they have left');
});

/** Runs a command; without `milliseconds` to its end. */
function killedAfter(milliseconds: number | undefined, words: string[]): Promise<number | 'killed'> {
  const { promise, resolve } = Promise.withResolvers<number | 'killed'>();
  const child = spawn(process.execPath, [join(root, 'src/main.ts'), ...words], { stdio: 'ignore' });
  const timer = milliseconds === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), milliseconds);
  child.on('exit', (code) => {
    clearTimeout(timer);
    resolve(code ?? 'killed');
  });
  return promise;
}
