// Restoring: the order of durable writes, and the files that a failed restore leaves.
import t, { type Test } from 'tap';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { closeArchives, openArchives } from '#backup/archives.ts';
import type { Files } from '#files/durable-streams.ts';
import { restoreBackup } from '#backup/restore.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { larder } from '#test/cli/world.ts';
import { failing, watchedDisk } from '#test/files/watched-disk.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { endedBy } from './ended-by.ts';

t.setTimeout(600_000);

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
  signal?: AbortSignal,
): Promise<void> {
  const archives = await openArchives([file]);
  try {
    await restoreBackup({ archives, directory, keys: textsIn(keys), files, progress: () => undefined, finish, signal });
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

largeTest('of a restore that fails nothing is left, wherever it fails', async (t) => {
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

largeTest('of a restore that a signal ends nothing is left, and it can be repeated', async (t) => {
  const backup = await saved(t);
  const data = join(backup.folder, 'data');
  const line = ['restore', backup.file, '--data', data, '--keys', backup.keys];
  const listeners = process.listenerCount('SIGTERM');
  for (const [signal, step, code] of [
    ['SIGINT', 'blobs', 130],
    ['SIGTERM', 'blobs', 143],
    ['SIGTERM', 'database', 143],
    ['SIGHUP', 'database', 129],
  ] as const) {
    const ended = await endedBy(signal, step, line);
    t.match(ended, { code, err: '"error":"interrupted; unfinished work was undone","code":"interrupted"' });
    t.notOk(existsSync(data), `${signal} at the ${step}: nothing is left`);
  }
  t.equal(process.listenerCount('SIGTERM'), listeners, 'later signals do what signals do');
  mkdirSync(data);
  t.match(await endedBy('SIGTERM', 'blobs', line), { code: 143 });
  t.strictSame(readdirSync(data), [], 'a directory that was there is empty again');
  t.match(await larder(`restore ${backup.file} --data ${data} --keys ${backup.keys}`), { code: 0 });
});

t.test('a restore that is ended stops within a blob, and starts no other', async (t) => {
  const backup = await saved(t);
  const data = join(backup.folder, 'data');
  const endedAt = async (is: (path: string) => boolean): Promise<string[]> => {
    const ended = new AbortController();
    const after: string[] = [];
    const { files } = watchedDisk();
    const ending: Files = {
      ...files,
      async open(path, ...rest) {
        const handle = await files.open(path, ...rest);
        if (ended.signal.aborted) after.push(`open ${String(path)}`);
        else if (is(String(path))) ended.abort(new Error('that will do'));
        return new Proxy(handle, {
          get(target, name) {
            if (name === 'write' && ended.signal.aborted) after.push(`write ${String(path)}`);
            const value: unknown = Reflect.get(target, name);
            return typeof value === 'function' ? (value.bind(target) as unknown) : value;
          },
        });
      },
    };
    const { signal } = ended;
    await t.rejects(restoreWith(backup, data, ending, undefined, signal), { message: 'that will do' });
    t.notOk(existsSync(data));
    return after;
  };
  const blob = (path: string): boolean => /\/sha3\/..\//.test(path);
  const within = await endedAt(blob);
  t.strictSame(
    within.filter((path) => path.startsWith('write') || !blob(path)),
    [],
    'no byte of a blob more, and nothing after the blobs',
  );
  const afterwards = await endedAt((path) => path.endsWith('/blobs/sha3'));
  t.strictSame(
    afterwards.filter((path) => !/\/blobs(?:\/sha3)?$/.test(path)),
    [],
    'the database is not looked at, and no key is written',
  );
});

/** The same disk; it records the content of a directory before each call. */
function notes(directory: string, files: Files) {
  const seen: { what: string; path: string; names: string[] }[] = [];
  const noting = Object.fromEntries(
    Object.entries(files).map(([method, work]) => [
      method,
      (...args: unknown[]): unknown => {
        const path = String(method === 'rename' ? args[1] : args[0]);
        seen.push({ what: method, path, names: existsSync(directory) ? readdirSync(directory) : [] });
        return Reflect.apply(work as (...given: unknown[]) => unknown, files, args);
      },
    ]),
  ) as unknown as Files;
  return { noting, seen };
}

t.test('a directory is cleared for a restore only if it has the marker of an interrupted one', async (t) => {
  const backup = await saved(t);
  const data = join(backup.folder, 'data');
  const anybodys = (names: readonly string[]): boolean =>
    names.some((name) => !['.restoring', 'lost+found'].includes(name)) && !names.includes('.restoring');

  // As a power cut leaves it while everything is being moved to its place.
  for (const name of ['.restoring', 'blobs', 'tls']) mkdirSync(join(data, name), { recursive: true });
  for (const name of ['.restoring/larder.toml', 'larder.db', 'site.key', 'master.key', 'audit.seal', 'store.lock'])
    writeFileSync(join(data, name), 'left');
  const { noting, seen } = notes(data, watchedDisk().files);
  await restoreWith(backup, data, noting);

  const beStore = seen.findIndex(({ what: method, path }) => method === 'rename' && path === join(data, 'larder.toml'));
  t.ok(beStore > 0, 'it ends as a store');
  t.strictSame(
    seen.slice(0, beStore + 1).filter(({ names }) => anybodys(names)),
    [],
    "at no moment before is there anything that the next restore would take for somebody else's",
  );
  t.ok(
    seen.slice(0, beStore).some(({ what: method, names }) => method === 'mkdir' && names.length === 0),
    'what was left is all gone before anything is written',
  );

  const failed = notes(
    data,
    failing(watchedDisk().files, 'rename', (path) => path.endsWith('larder.toml'), 'EIO'),
  );
  rmSync(data, { recursive: true });
  await t.rejects(restoreWith(backup, data, failed.noting), { message: /handed in/ });
  t.strictSame(
    failed.seen.filter(({ names }) => anybodys(names)),
    [],
    'nor while what a restore that failed has moved is taken away',
  );

  const foreign = join(backup.folder, 'foreign');
  for (const name of ['larder.db', 'site.key']) {
    mkdirSync(foreign);
    writeFileSync(join(foreign, name), 'of somebody');
    await t.rejects(
      restoreWith(backup, foreign, watchedDisk().files),
      { message: /is not empty/ },
      `${name} without the marker`,
    );
    t.strictSame(readdirSync(foreign), [name]);
    rmSync(foreign, { recursive: true });
  }
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

t.test('a problem of a restore is reported with the file and the remedy', async (t) => {
  const { folder, file, keys } = await saved(t);
  const data = join(folder, 'data');
  t.strictSame(await larder(`restore ${folder}/tuesday.tar --data ${data} --keys ${keys}`), {
    code: 1,
    out: '',
    err: `larder: cannot read ${folder}/tuesday.tar: there is no ${folder}/tuesday.tar; check the path\n`,
  });
  t.match(await larder(`restore ${folder} --data ${data} --keys ${keys}`), {
    code: 1,
    err: / has no backup that this site key made/,
  });
  t.match(await larder(`restore ${file} --data ${file}/data --keys ${keys}`), {
    code: 1,
    err: `larder: cannot write ${file}/data: ${file}/data cannot be there: a part of that path is a file, not a folder\n`,
  });
  t.notOk(existsSync(data));
  const restored = await larder(`restore ${file} --data ${data} --keys ${keys}`);
  t.match(restored, { code: 0 });
  const typed = data.includes(' ') ? `"${data}"` : data;
  t.match(
    restored.out,
    `'larder serve --data ${typed}' serves it. 'larder admin-macaroon --data ${typed}' makes a credential`,
  );
});
