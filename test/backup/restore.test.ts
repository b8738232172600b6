// Restoring: what is durable when, and what a restore that fails leaves behind.
import t, { type Test } from 'tap';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { closeArchives, openArchives } from '#backup/archives.ts';
import type { Files } from '#backup/files.ts';
import { restoreBackup } from '#backup/restore.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { larder } from '#test/cli/world.ts';
import { failing, watchedDisk } from './watched-disk.ts';

t.setTimeout(300_000);

interface Saved {
  folder: string;
  /** The backup of a store with three uploads. */
  file: string;
  /** The folder of its keys. */
  keys: string;
}

async function saved(t: Test): Promise<Saved> {
  const store = await startStore(t);
  for (const content of ['one', 'two', 'three']) await store.anyone.upload(content);
  const folder = t.testdir();
  const [keys, file] = [join(folder, 'keys'), join(folder, 'full.tar')];
  mkdirSync(keys);
  for (const name of ['site.key', 'master.key']) cpSync(join(store.directory, name), join(keys, name));
  const made = await larder(`backup --data ${store.directory} ${file}`);
  if (made.code !== 0) throw new Error(made.err);
  return { folder, file, keys };
}

const textsIn = (keys: string) =>
  Object.fromEntries(readdirSync(keys).map((name) => [name, readFileSync(join(keys, name), 'utf8')]));

async function restoreWith(
  { file, keys }: Saved,
  directory: string,
  files: Files,
  finish = () => Promise.resolve(),
): Promise<void> {
  const archives = await openArchives([file]);
  try {
    await restoreBackup({ archives, directory, keys: textsIn(keys), files, progress: () => undefined, finish });
  } finally {
    await closeArchives(archives);
  }
}

t.test('the configuration comes last, when a power cut can take nothing else away any more', async (t) => {
  const backup = await saved(t);
  const data = join(backup.folder, 'data');
  const disk = watchedDisk();
  const moments: { to: string; atRisk: string[] }[] = [];
  disk.beforeRename = (_, to) => {
    moments.push({ to, atRisk: disk.atRisk(data) });
  };
  await restoreWith(backup, data, disk.files);
  const last = moments.at(-1)!;
  t.equal(last.to, join(data, 'larder.toml'), 'the configuration makes it a store');
  t.strictSame(last.atRisk, [], 'and all else is durable by then');
  t.strictSame(disk.atRisk(backup.folder), [], 'as is the configuration in the end');
  t.equal(moments.filter(({ to }) => to.endsWith('/larder.toml')).length, 1);
  const [first] = moments;
  t.strictSame(
    first!.atRisk.filter((path) => path.includes('/.restoring/')),
    [],
    'nothing is moved to its place before it is durable',
  );
});

t.test('of a restore that fails nothing is left, wherever it fails', async (t) => {
  const backup = await saved(t);
  const data = join(backup.folder, 'data');
  const broken: [string, Files][] = [
    ['a blob', failing(watchedDisk().files, 'open', (path) => /\/sha3\/..\//.test(path), 'EIO')],
    ['a key', failing(watchedDisk().files, 'open', (path) => path.endsWith('site.key'), 'ENOSPC')],
    ['the first move', failing(watchedDisk().files, 'rename', () => true, 'EIO')],
    ['the last move', failing(watchedDisk().files, 'rename', (path) => path.endsWith('larder.toml'), 'EIO')],
  ];
  for (const [where, files] of broken) {
    await t.rejects(restoreWith(backup, data, files), { message: /handed in/ }, where);
    t.notOk(existsSync(data), `${where}: no directory, and no key in it`);
  }
  mkdirSync(data);
  const refusal = (): Promise<void> => Promise.reject(new Error('it will not do'));
  await t.rejects(restoreWith(backup, data, watchedDisk().files, refusal), { message: 'it will not do' });
  t.strictSame(readdirSync(data), [], 'a directory that was there is empty again');
  await restoreWith(backup, data, watchedDisk().files);
  t.ok(existsSync(join(data, 'larder.toml')), 'and it can be repeated');
});

t.test('keys are written when everything else was proved', async (t) => {
  const backup = await saved(t);
  const bytes = readFileSync(backup.file);
  const at = bytes.indexOf('three');
  bytes.write('thrEe', at);
  const bad = join(backup.folder, 'bad.tar');
  const opened: string[] = [];
  const { files } = watchedDisk();
  writeFileSync(bad, bytes);
  const data = join(backup.folder, 'data');
  const noting: Files = {
    ...files,
    open: (path, ...rest) => {
      opened.push(String(path));
      return files.open(path, ...rest);
    },
  };
  await t.rejects(restoreWith({ ...backup, file: bad }, data, noting), { message: /is damaged/ });
  t.strictSame(
    opened.filter((path) => path.endsWith('.key')),
    [],
  );
});

t.test('what keeps a restore from its work is said with the file and what to do', async (t) => {
  const { folder, file, keys } = await saved(t);
  const data = join(folder, 'data');
  t.strictSame(await larder(`restore ${folder}/tuesday.tar --data ${data} --keys ${keys}`), {
    code: 1,
    out: '',
    err: `larder: cannot read ${folder}/tuesday.tar: there is no ${folder}/tuesday.tar; look whether that is the right place\n`,
  });
  t.match(await larder(`restore ${folder} --data ${data} --keys ${keys}`), {
    code: 1,
    err: / is a folder, not a file; name a file/,
  });
  t.match(await larder(`restore ${file} --data ${file}/data --keys ${keys}`), {
    code: 1,
    err: `larder: cannot write ${file}/data: ${file}/data cannot be there: a part of that path is a file, not a folder\n`,
  });
  t.notOk(existsSync(data));
  const restored = await larder(`restore ${file} --data ${data} --keys ${keys}`);
  t.match(restored, { code: 0 });
  t.match(
    restored.out,
    `'larder serve --data ${data}' serves it. 'larder admin-macaroon --data ${data}' makes a credential`,
  );
});
