// Making a backup on failing disks, full disks and sticks: the order of durable writes, and the files that remain.
import t, { type Test } from 'tap';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { onDisk, type Files } from '#files/durable-streams.ts';
import { placeOfFile } from '#backup/place.ts';
import { makeBackup, type BackupOptions, type BackupResult } from '#backup/make.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { lendCopies } from '#test/fixtures/packages/lent-copies.ts';
import { copyForBackup } from '#data/copies.ts';
import { withBlobs } from '#data/blobs.ts';
import { changeConfig } from '#configuration/config.ts';
import { serve } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { saved, type Saved } from './saved.ts';
import { watchedDisk } from '#test/files/watched-disk.ts';

t.setTimeout(600_000);

/** Makes a backup of this store like the command, with the given options. */
async function make(
  { store, folder }: Saved,
  { files = onDisk, ...options }: Partial<BackupOptions> & { files?: Files },
): Promise<BackupResult> {
  const { beside: writableStore } = store;
  const file = options.file ?? join(folder, 'full.tar');
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace, { recursive: true });
  return withBlobs(writableStore, ({ blobs }) =>
    makeBackup({
      database: { size: 0, copyTo: copyForBackup({ file: join(store.directory, 'larder.db') }) },
      directory: store.directory,
      file,
      place: placeOfFile(file, { files }),
      workspace,
      blobs,
      siteKey: writableStore.siteKey,
      id: 'an-id',
      now: writableStore.now,
      version: '0',
      evenSo: false,
      needed: () => writableStore.records.neededContents.list('', 1000),
      stillNeeded: (sha3_384) => writableStore.records.neededContents.has(sha3_384),
      auditHead: () => writableStore.records.audit.head(),
      progress: () => undefined,
      ...options,
    }),
  );
}

/** A disk that fails with an error after the given number of bytes of an archive. */
function endingAfter(bytes: number, code: string): Files {
  let written = 0;
  return {
    ...onDisk,
    async open(path, flags, mode) {
      const handle = await open(path, flags, mode);
      if (!String(path).endsWith('.partial')) return handle;
      return new Proxy(handle, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== 'function') return value;
          return (...args: unknown[]): unknown => {
            if (name === 'write') written += (args[0] as Uint8Array).length;
            if (name === 'write' && written > bytes)
              return Promise.reject(Object.assign(new Error(`${code}: handed in`), { code, syscall: 'write' }));
            return Reflect.apply(value, target, args);
          };
        },
      });
    },
  };
}

t.test('a backup has its name when all of it is durable, and its folder knows it then', async (t) => {
  const backup = await saved(t);
  const disk = watchedDisk();
  const renames: { to: string; atRisk: string[] }[] = [];
  disk.beforeRename = (_, to) => {
    renames.push({ to, atRisk: disk.atRisk(backup.folder) });
  };
  await make(backup, { files: disk.files });
  const file = join(backup.folder, 'full.tar');
  t.equal(renames.length, 1);
  t.match(renames, [{ to: file }]);
  t.notOk(
    renames[0]!.atRisk.some((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true),
    'what a power cut might take away is the entry under the other name alone',
  );
  t.strictSame(disk.atRisk(backup.folder), [], 'a backup that was reported as made survives a power cut');
});

largeTest('nothing is left of a backup for which there was no room', async (t) => {
  const backup = await saved(t);
  const folderOnly = (): string[] => readdirSync(backup.folder).filter((name) => !['keys', 'workspace'].includes(name));
  for (const code of ['ENOSPC', 'EFBIG', 'EIO', 'EDQUOT']) {
    await t.rejects(make(backup, { files: endingAfter(30_000, code) }), { code }, code);
    t.strictSame(folderOnly(), []);
  }
  const [MiB, ext4, vfat] = [1024 ** 2, 0xef53, 0x4d44];
  await t.rejects(make(backup, { room: () => ({ free: MiB, type: ext4 }) }), {
    name: 'NoRoom',
    message:
      /^the backup takes \d+ MiB, but only 1 MiB are free in .*; make room, use a larger disk, or back up new content only/,
  });
  const large: BackupOptions['blobs'] = {
    makeLocalCopy: (sha3_384) => Promise.resolve({ file: sha3_384, release: () => Promise.resolve() }),
    stat: () => Promise.resolve(undefined),
    async *list() {
      yield await Promise.resolve({ sha3_384: 'a'.repeat(96), size: 4096 * MiB, storedAt: new Date() });
    },
  };
  await t.rejects(make(backup, { blobs: large, room: () => ({ free: 64 * 1024 * MiB, type: vfat }) }), {
    name: 'NoRoom',
    message: /^the backup takes 409\d MiB, but .* is on FAT, which allows files of 4096 MiB; use a disk with/,
  });
  t.strictSame(folderOnly(), [], 'it is said before the first byte');
  await make(backup, { room: () => ({ free: 64 * 1024 * MiB, type: vfat }) });
  t.strictSame(folderOnly(), ['full.tar'], 'a small one fits on a stick with FAT');
});

t.test('a folder that cannot be synced is no reason to fail, as on some sticks', async (t) => {
  const backup = await saved(t);
  const files: Files = {
    ...onDisk,
    async open(path, flags, mode) {
      const handle = await open(path, flags, mode);
      if (flags !== 'r' || !statSync(String(path)).isDirectory()) return handle;
      handle.sync = () => Promise.reject(Object.assign(new Error('EINVAL: handed in, fsync'), { code: 'EINVAL' }));
      return handle;
    },
  };
  await make(backup, { files });
  t.ok(existsSync(join(backup.folder, 'full.tar')));
});

t.test('a blob that cannot be read is named as that, and the rest is backed up', async (t) => {
  const backup = await saved(t);
  const { sha3_384 } = backup;
  const { lacking, manifest } = await withBlobs(backup.store.beside, async ({ blobs }) => {
    const { borrow, count } = await lendCopies(t, blobs);
    const made = await make(backup, {
      blobs: {
        list: () => blobs.list(),
        stat: (sha3_384) => blobs.stat(sha3_384),
        async makeLocalCopy(digest) {
          const loan = await borrow(digest);
          // Reading a folder fails, as reading from a bad disk does.
          return digest === sha3_384 ? { ...loan, file: backup.folder } : loan;
        },
      },
    });
    t.same(count, { lent: 2, out: 0 }, 'every file that was lent was given back');
    return made;
  });
  t.strictSame(lacking, [{ sha3_384, why: 'unreadable' }]);
  t.equal(manifest.blobs.length, 1);
  t.match(await backup.run(`backup --check ${backup.folder}/full.tar`), {
    code: 1,
    out: `the blob ${sha3_384} is not in it (unreadable when it was made)`,
  });
});

t.test('blobs that the store removed during the backup are not reported as missing', async (t) => {
  const backup = await saved(t);
  const gone = 'b'.repeat(96);
  const needed = async (): Promise<string[]> => [
    ...(await backup.store.beside.records.neededContents.list('', 1000)),
    gone,
  ];
  const { lacking, manifest } = await make(backup, { needed });
  t.strictSame(lacking, []);
  t.strictSame(manifest.lacking, [{ sha3_384: gone, why: 'forgotten' }]);
  t.match(await make(backup, { needed, stillNeeded: () => Promise.resolve(true), file: `${backup.folder}/2.tar` }), {
    lacking: [{ sha3_384: gone, why: 'missing' }],
  });
});

t.test('a backup that cannot be read back is not reported as made', async (t) => {
  const backup = await saved(t);
  let writes = 0;
  const files: Files = {
    ...onDisk,
    async open(path, flags, mode) {
      const handle = await open(path, flags, mode);
      if (!String(path).endsWith('.partial')) return handle;
      return new Proxy(handle, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== 'function') return value;
          return (...args: unknown[]): unknown => {
            // The stick swallows a byte of the first file and says nothing.
            if (name === 'write' && (writes += 1) === 2) args[0] = Buffer.from(args[0] as Buffer).fill(0, 5000, 5001);
            if (name === 'write' && writes === 2) (args[0] as Buffer)[5000] = 0x5a;
            return Reflect.apply(value, target, args);
          };
        },
      });
    },
  };
  await t.rejects(make(backup, { files }), {
    name: 'NotAsWritten',
    message: /does not hold the bytes that were written to it/,
  });
  t.notOk(existsSync(join(backup.folder, 'full.tar')));
});

/** A file system of its own in memory, if this user may mount one. */
function smallDisk(t: Test, size: string): string | undefined {
  const disk = mkdtempSync(join(tmpdir(), 'larder-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'larder-test', disk]);
  t.teardown(() => {
    if (status === 0) execFileSync('umount', ['--lazy', disk]);
    rmdirSync(disk);
  });
  if (status !== 0) return undefined;
  return disk;
}

largeTest('a store on a completely full disk can still be backed up', async (t) => {
  // Smaller than the reserve, which would be released first.
  const disk = smallDisk(t, '48m');
  if (disk === undefined) return void t.pass('skipped: this user may mount nothing');
  const data = join(disk, 'data');
  const made = await larder(`init --data ${data}`);
  t.equal(made.code, 0, made.err);
  await serve(t, data);
  try {
    writeFileSync(join(disk, 'filler'), Buffer.alloc(64 * 1024 * 1024, 1));
  } catch {
    // It took what there was.
  }
  const folder = t.testdir();
  const backedUp = await larder(`backup ${folder}/way-out.tar --data ${data}`);
  t.match(backedUp, { code: 0, err: '', out: /It is not entered in the audit log: the disk of the store is full/ });
  t.match(await larder(`backup --check ${folder}/way-out.tar --data ${data}`), { code: 0 });
  t.strictSame(readdirSync(folder), ['way-out.tar']);
  const full = smallDisk(t, '256k')!;
  t.match(await larder(`backup ${full}/none.tar --data ${data}`), {
    code: 1,
    err: /a copy of the database takes \d+ MiB while the backup is made, and .* has no room for it; make room/,
  });
  t.strictSame(readdirSync(full), []);
});

t.test('a store with blobs in a bucket is restored into a folder', async (t) => {
  const backup = await saved(t);
  const { folder, keys, sha3_384 } = backup;
  const configFolder = join(folder, 'named');
  mkdirSync(configFolder);
  cpSync(join(backup.store.directory, 'larder.toml'), join(configFolder, 'larder.toml'));
  changeConfig(join(configFolder, 'larder.toml'), {
    'blobs.s3': 'https://s3.internal:8080/larder/main',
    'blobs.credentials_file': '/etc/larder/s3-credentials.toml',
  });
  await make(backup, { directory: configFolder });
  const data = join(folder, 'data');
  const { code, out, err } = await larder(`restore ${join(folder, 'full.tar')} --data ${data} --keys ${keys}`);
  t.equal(code, 0, err);
  t.match(
    out,
    /^Its blobs are in a folder there; they were in https:\/\/s3\.internal:8080\/larder\/main when the backup was made\.$/m,
  );
  t.ok(existsSync(join(data, 'blobs/sha3', sha3_384.slice(0, 2), sha3_384)));
  t.notMatch(readFileSync(join(data, 'larder.toml'), 'utf8'), /^(?:s3|credentials_file) =/m);
  t.match(await larder(`verify --data ${data}`), { code: 0 });
});
