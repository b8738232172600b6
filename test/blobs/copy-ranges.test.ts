// Content in open files: a thread copies it, and many copies share the cost of a sync.
import { randomBytes } from 'node:crypto';
import { constants, readFileSync, writeFileSync } from 'node:fs';
import { open, truncate, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import t, { type Test } from 'tap';

import type { FileRange } from '#blobs/file-ranges.ts';
import { digest, listed, store, temporaryFolder } from './store.ts';

const MiB = 1024 * 1024;

async function stick(t: Test, bytes: Uint8Array): Promise<{ file: string; handle: FileHandle }> {
  const file = join(await temporaryFolder(t), 'stick');
  writeFileSync(file, bytes);
  const handle = await open(file, 'r');
  t.teardown(() => handle.close());
  return { file, handle };
}

const digestsOf = (...bytes: Uint8Array[]) => ({
  size: bytes.reduce((sum, { length }) => sum + length, 0),
  sha3_384: digest('sha3-384', ...bytes),
  sha256: digest('sha256', ...bytes),
});

let number = 0;
const how = (expected: ReturnType<typeof digestsOf>, more: { limit?: number; signal?: AbortSignal } = {}) => ({
  id: `copy-${String(++number)}`,
  expected,
  limit: 100 * MiB,
  wrong: () => new Error('it is another one'),
  signal: new AbortController().signal,
  ...more,
});

t.test('content of a file is received from any offset, few bytes and many', async (t) => {
  const time = new Date('2026-03-01T12:00:00Z');
  const { blobs, files } = await store(t, { now: () => time });
  const bytes = randomBytes(12 * MiB);
  const { handle } = await stick(t, bytes);
  const range = (offset: number, size: number): FileRange => ({ descriptor: handle.fd, offset, size });
  const all: [name: string, ...FileRange[]][] = [
    ['none', range(5, 0)],
    ['one byte', range(7, 1)],
    ['a whole stride', range(0, 4 * MiB)],
    ['more than that', range(3, 4 * MiB + 1)],
    ['much', range(1, 11 * MiB)],
    ['pieces out of order', range(9 * MiB, MiB), range(0, 5 * MiB), range(6 * MiB, 17)],
  ];
  for (const [name, ...ranges] of all) {
    const expected = digestsOf(...ranges.map(({ offset, size }) => bytes.subarray(offset, offset + size)));
    await blobs.copyIn(ranges, how(expected));
    const { sha3_384, size } = expected;
    t.same(await blobs.stat(sha3_384), { sha3_384, size, storedAt: time }, name);
    const chunks = await listed((await blobs.open(expected.sha3_384))!.stream);
    t.equal(digest('sha256', ...(chunks as Buffer[])), expected.sha256, name);
  }
  t.notOk((await files()).some((file) => file.startsWith('tmp/')));
});

/** Opens files as usual, and can refuse direct writes; returns the files opened for direct writes. */
function watchedDisk(refusal?: () => string | undefined) {
  const direct: string[] = [];
  const opened: typeof open = async (path, flags, mode) => {
    if ((Number(flags) & constants.O_DIRECT) === 0) return open(path, flags, mode);
    const code = refusal?.();
    // Some file systems have made the file when they say that they do not know this.
    if (code !== undefined) {
      await (await open(path, Number(flags) & ~constants.O_DIRECT, mode)).close();
      throw Object.assign(new Error(`${code}: injected`), { code });
    }
    direct.push(basename(String(path)));
    return open(path, flags, mode);
  };
  return { direct, open: opened };
}

t.test('many that come at once are written past the page cache, byte for byte', async (t) => {
  const disk = watchedDisk();
  const { blobs, files, directory } = await store(t, { open: disk.open });
  const bytes = randomBytes(24 * MiB);
  const { handle } = await stick(t, bytes);
  const sizes = [4095, 4096, 4097, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, 4 * MiB + 511, 5 * MiB, 6 * MiB + 4095];
  const keepWhole = (size: number) => [size];
  const cut = (size: number) => [7, 1000, 300 * 1024, size - 7 - 1000 - 300 * 1024];
  const contents = [...sizes.map(keepWhole), ...sizes.filter((size) => size > MiB).map(cut)].map((lengths, at) => {
    let offset = at * 513;
    const ranges = lengths.map((size) => ({ descriptor: handle.fd, offset: (offset += size) - size, size }));
    return {
      ranges,
      expected: digestsOf(...ranges.map((range) => bytes.subarray(range.offset, range.offset + range.size))),
    };
  });
  await Promise.all(contents.map(({ ranges, expected }) => blobs.copyIn(ranges, how(expected))));
  for (const { expected } of contents) {
    const stored = readFileSync(join(directory, 'blobs/sha3', expected.sha3_384.slice(0, 2), expected.sha3_384));
    t.ok(
      stored.length === expected.size && digest('sha256', stored) === expected.sha256,
      `${String(expected.size)} bytes`,
    );
  }
  // Small ones are opened by the thread that takes them in together (`receive-group.test.ts`).
  const alone = contents.filter(({ expected: { size } }) => size > 4 * MiB).length;
  t.equal(disk.direct.filter((name) => name.startsWith('copy-')).length, alone);
  t.equal(disk.direct.length, alone + 1, 'whether the disk can do that was tried once');
  t.equal((await files()).length, contents.length);
});

t.test('content is received on a disk without direct writes too', async (t) => {
  let code: string | undefined = 'ENOSPC';
  const disk = watchedDisk(() => code);
  const { blobs, files } = await store(t, { open: disk.open });
  const bytes = randomBytes(100_000);
  const { handle } = await stick(t, bytes);
  const range = (size: number): FileRange[] => [{ descriptor: handle.fd, offset: 0, size }];
  const good = digestsOf(bytes);
  await t.rejects(
    blobs.copyIn(range(bytes.length), how(good)),
    { code: 'insufficient-storage' },
    'a full disk says so',
  );
  t.same(await files(), []);
  code = 'EINVAL';
  await blobs.copyIn(range(bytes.length), how(good));
  code = undefined;
  await blobs.copyIn(range(10), how(digestsOf(bytes.subarray(0, 10))));
  t.same(disk.direct, [], 'it is not asked again');
  t.equal((await files()).length, 2);
});

t.test('content with a wrong digest leaves nothing', async (t) => {
  const { blobs, files } = await store(t);
  const bytes = randomBytes(6 * MiB);
  const { file, handle } = await stick(t, bytes);
  const range = (size: number): FileRange[] => [{ descriptor: handle.fd, offset: 0, size }];
  for (const size of [1000, 6 * MiB]) {
    const good = digestsOf(bytes.subarray(0, size));
    for (const wrong of [{ sha256: '0'.repeat(64) }, { sha3_384: '0'.repeat(96) }])
      await t.rejects(blobs.copyIn(range(size), how({ ...good, ...wrong })), { message: 'it is another one' });
    await t.rejects(blobs.copyIn(range(size), how(good, { limit: size - 1 })), { code: 'request-too-large' });
    const ended = AbortSignal.abort(new Error('interrupted'));
    await t.rejects(blobs.copyIn(range(size), how(good, { signal: ended })), { message: 'interrupted' });
  }
  const folder = await open(dirname(file), 'r');
  t.teardown(() => folder.close());
  await t.rejects(
    blobs.copyIn([{ descriptor: folder.fd, offset: 0, size: 10 }], how(digestsOf(bytes.subarray(0, 10)))),
    { code: 'EISDIR', syscall: 'read' },
    'what cannot be read says so as the system did',
  );
  await truncate(file, 5 * MiB);
  await t.rejects(blobs.copyIn(range(6 * MiB), how(digestsOf(bytes))), { message: 'it is another one' }, 'a cut file');
  t.same(await files(), []);
});

t.test('each content is durable when it is received, and shares the sync of its place on request', async (t) => {
  const directory = await temporaryFolder(t);
  const synced: string[] = [];
  let syncing: Promise<unknown> = Promise.resolve();
  const { blobs } = await store(t, {
    directory,
    open: async (path, flags, mode) => {
      const handle = await open(path, flags, mode);
      return new Proxy(handle, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== 'function') return value;
          return async (...args: unknown[]): Promise<unknown> => {
            if (name !== 'sync') return (await Reflect.apply(value, target, args)) as unknown;
            await syncing;
            await Reflect.apply(value, target, args);
            synced.push(basename(String(path)));
            return undefined;
          };
        },
      });
    },
  });
  const bytes = randomBytes(4 * MiB + 1);
  const { handle } = await stick(t, bytes);
  await blobs.copyIn([{ descriptor: handle.fd, offset: 0, size: bytes.length }], how(digestsOf(bytes)));
  t.ok(synced.includes(`copy-${String(number)}`), 'its bytes are durable');
  await blobs.placed();
  // Two of one folder, and one of another.
  const [first, second, other] = sharing(bytes);
  const copyIn = async (some: { offset: number; size: number }): Promise<void> => {
    const expected = digestsOf(bytes.subarray(some.offset, some.offset + some.size));
    await blobs.copyIn([{ descriptor: handle.fd, ...some }], how(expected));
  };
  synced.length = 0;
  for (const some of [first, second, other]) await copyIn(some);
  const folders = [first, other].map(({ offset, size }) =>
    digest('sha3-384', bytes.subarray(offset, offset + size)).slice(0, 2),
  );
  t.notOk(
    synced.some((folder) => folders.includes(folder)),
    'nothing says yet that they are in place',
  );
  synced.length = 0;
  const held = Promise.withResolvers<undefined>();
  syncing = held.promise;
  let placed = 0;
  const calls = [blobs.placed(), blobs.placed()].map((call) => call.then(() => placed++));
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(placed, 0, 'who asks second waits for what the first one has asked for');
  held.resolve(undefined);
  await Promise.all(calls);
  t.same(synced.toSorted(), [...folders, 'tmp'].toSorted(), 'each folder once');
  synced.length = 0;
  await blobs.placed();
  t.same(synced, [], 'and what is in place for good costs nothing more');
});

/** The places of three contents; two share a folder. */
function sharing(bytes: Uint8Array): [Range, Range, Range] {
  const seen = new Map<string, Range>();
  for (let size = 1; ; size++) {
    const range = { offset: size % 500, size };
    const name = digest('sha3-384', bytes.subarray(range.offset, range.offset + size)).slice(0, 2);
    const same = seen.get(name);
    const other = [...seen].find(([key]) => key !== name)?.[1];
    if (same !== undefined && other !== undefined) return [same, range, other];
    seen.set(name, range);
  }
}

type Range = Pick<FileRange, 'offset' | 'size'>;
