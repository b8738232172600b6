// Behaviour of the folder engine only; door.test.ts checks the behaviour of every engine with it too.
import { randomBytes } from 'node:crypto';
import {
  lstat,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  symlink,
  truncate,
  type FileHandle,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { largeTest } from '#test/fixtures/large.ts';
import { until } from '#test/fixtures/until.ts';
import { contentOf, digest, filesBelow, from, listed, store, temporaryFolder } from './store.ts';

const MiB = 1024 * 1024;
const all = { limit: 100 * MiB };
const placeOf = (sha3_384: string): string => `sha3/${sha3_384.slice(0, 2)}/${sha3_384}`;

/** Opens files, and changes each handle by the given function. */
function spoiled(spoil: (handle: FileHandle, path: string) => void): typeof open {
  return async (path, ...rest) => {
    const handle = await open(path, ...rest);
    spoil(handle, String(path));
    return handle;
  };
}

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code });
}

t.test('a received blob is read back under its digest', async (t) => {
  const now = new Date('2026-05-04T03:02:01.234Z');
  const { blobs, directory, files } = await store(t, { now: () => now });
  const bytes = randomBytes(3 * MiB + 17);
  const taken = await blobs.receive(from(bytes.subarray(0, MiB), bytes.subarray(MiB)), { id: 'u1', ...all });
  t.same(taken, { size: bytes.length, sha3_384: digest('sha3-384', bytes), sha256: digest('sha256', bytes) });
  t.same(await files(), [placeOf(taken.sha3_384)]);

  const whole = await blobs.open(taken.sha3_384);
  t.equal(whole?.size, bytes.length);
  t.ok(whole && bytes.equals(await contentOf(whole.stream)));
  const part = await blobs.open(taken.sha3_384, { start: 5, end: 1_000_000 });
  t.equal(part?.size, bytes.length);
  t.ok(part && bytes.subarray(5, 1_000_001).equals(await contentOf(part.stream)));
  t.ok(bytes.equals(await readFile((await blobs.makeLocalCopy(taken.sha3_384)).file)));

  const stored = await blobs.stat(taken.sha3_384);
  t.same(stored, { sha3_384: taken.sha3_384, size: bytes.length, storedAt: now });
  t.same(await listed(blobs.list()), [stored]);

  for (const folder of ['blobs', 'blobs/tmp', 'blobs/sha3', `blobs/sha3/${taken.sha3_384.slice(0, 2)}`]) {
    t.equal((await stat(join(directory, folder))).mode & 0o777, 0o700, folder);
  }
  t.equal((await stat((await blobs.makeLocalCopy(taken.sha3_384)).file)).mode & 0o777, 0o600);
});

t.test('the memory of chunks that were given away is given back, and that of others is not touched', async (t) => {
  const { blobs } = await store(t);
  const bytes = randomBytes(3 * MiB);
  const own = (at: number): Uint8Array => new Uint8Array(bytes.subarray(at * MiB, (at + 1) * MiB));
  for (const ownsChunks of [true, false]) {
    const chunks = [own(0), own(1), bytes.subarray(2 * MiB)];
    const taken = await blobs.receive(from(...chunks), { id: `u${String(ownsChunks)}`, ownsChunks, ...all });
    t.match(taken, { size: bytes.length, sha3_384: digest('sha3-384', bytes) });
    t.same(
      chunks.map(({ length }) => length),
      ownsChunks ? [0, 0, MiB] : [MiB, MiB, MiB],
      'a part of something larger is never given back',
    );
  }
});

t.test('a client that leaves before the end, or before the beginning, leaves no file open', async (t) => {
  const { blobs } = await store(t);
  const { sha3_384 } = await blobs.put(randomBytes(MiB), { id: 'u1' });
  const place = (await blobs.makeLocalCopy(sha3_384)).file;
  const descriptors = async () => {
    const names = await readdir('/proc/self/fd');
    const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => undefined)));
    return targets.filter((target) => target === place).length;
  };
  for (const range of [undefined, { start: 0, end: 600_000 }]) {
    for (const reads of [false, true]) {
      const opened = await blobs.open(sha3_384, range);
      if (!opened) throw new Error('it is gone');
      t.equal(await descriptors(), 1);
      if (reads) await opened.stream[Symbol.asyncIterator]().next();
      opened.stream.destroy();
      await until(async () => (await descriptors()) === 0);
    }
  }
});

t.test('many tiny chunks are gathered without growing in number', async (t) => {
  const { blobs } = await store(t);
  const bytes = randomBytes(20_000);
  const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
  t.match(await blobs.receive(from(...single), { id: 'u1', ...all }), {
    size: 20_000,
    sha256: digest('sha256', bytes),
  });
});

t.test('existing content with the wrong size, or of another kind, is replaced', async (t) => {
  const { blobs, files } = await store(t);
  const bytes = Buffer.from('hello, larder');
  const { sha3_384 } = await blobs.put(bytes, { id: 'u1' });
  await truncate((await blobs.makeLocalCopy(sha3_384)).file, 5);
  await blobs.put(bytes, { id: 'u2' });
  t.same(await readFile((await blobs.makeLocalCopy(sha3_384)).file), bytes);

  await blobs.remove(sha3_384);
  await symlink('/etc/hostname', (await blobs.makeLocalCopy(sha3_384)).file);
  t.equal(await blobs.open(sha3_384), undefined);
  t.equal(await blobs.stat(sha3_384), undefined);
  await blobs.put(bytes, { id: 'u3' });
  t.same(await files(), [placeOf(sha3_384)]);
  t.same(await readFile((await blobs.makeLocalCopy(sha3_384)).file), bytes);
});

t.test('a blob is acknowledged only after the file, then its place, then both folders are durable', async (t) => {
  const directory = await temporaryFolder(t);
  const events: string[] = [];
  const { blobs } = await store(t, {
    directory,
    open: spoiled((handle, path) => {
      const name = path
        .slice(directory.length)
        .replace(/[0-9a-f]{96}/, 'DIGEST')
        .replace(/sha3\/../, 'sha3/ab');
      const { sync } = handle;
      handle.sync = async () => {
        const placed = (await filesBelow(join(directory, 'blobs/sha3'))).length > 0;
        await sync.call(handle);
        events.push(`${name}${placed ? ' (in place)' : ''}`);
      };
    }),
  });
  events.length = 0;
  const hello = Buffer.from('hello');
  await blobs.put(hello, { id: 'u1' });
  t.same(events.slice(0, 2), ['/blobs/tmp/u1', '/blobs/sha3']);
  t.same(events.slice(2).sort(), ['/blobs/sha3/ab (in place)', '/blobs/tmp (in place)']);

  events.length = 0;
  await blobs.put(hello, { id: 'u2' });
  t.equal(events[0], '/blobs/tmp/u2 (in place)');
  t.same(events.slice(1).sort(), ['/blobs/sha3/ab (in place)', '/blobs/tmp (in place)']);
});

t.test('a failed fsync is not tried again: the store stops', async (t) => {
  for (const spot of ['/tmp/u2', '/blobs/tmp', '/sha3/..', '/sha3']) {
    let armed = false;
    let tried = 0;
    const { blobs, failures } = await store(t, {
      open: spoiled((handle, path) => {
        if (!new RegExp(`${spot}$`).test(path)) return;
        const { sync } = handle;
        handle.sync = async () => {
          if (!armed) return sync.call(handle);
          tried += 1;
          throw failure('EIO');
        };
      }),
    });
    await blobs.put(Buffer.from('before'), { id: 'u1' });
    armed = true;
    const error = { message: 'cannot make a blob durable', cause: { code: 'EIO' } };
    await t.rejects(blobs.receive(from(Buffer.from(spot)), { id: 'u2', ...all }), error, spot);
    t.match(failures, [error]);
    t.equal(tried, 1);
    await t.rejects(blobs.put(Buffer.from('after'), { id: 'u3' }), { code: 'shutting-down' });
    t.equal(tried, 1);
    t.ok(await blobs.open(digest('sha3-384', Buffer.from('before'))).then((opened) => opened?.stream.destroy()));
  }
});

t.test('a disk that becomes full while writing or at the fsync is the sender’s bad luck, not our end', async (t) => {
  for (const code of ['ENOSPC', 'EDQUOT']) {
    for (const call of ['writev', 'sync'] as const) {
      const { blobs, failures, files } = await store(t, {
        open: spoiled((handle, path) => {
          if (path.endsWith('/u2')) handle[call] = () => Promise.reject(failure(code));
        }),
      });
      await t.rejects(blobs.receive(from(randomBytes(5 * MiB), randomBytes(MiB)), { id: 'u2', ...all }), {
        code: 'insufficient-storage',
        retryAfter: 300,
      });
      t.same(await files(), []);
      t.same(failures, []);
      await blobs.put(Buffer.from('after'), { id: 'u3' });
    }
  }
});

t.test('a folder that cannot be made durable for lack of room ends the store', async (t) => {
  let armed = false;
  const { blobs, failures } = await store(t, {
    open: spoiled((handle, path) => {
      if (armed && path.endsWith('/tmp')) handle.sync = () => Promise.reject(failure('ENOSPC'));
    }),
  });
  armed = true;
  await t.rejects(blobs.put(Buffer.from('hello'), { id: 'u1' }), { message: 'cannot make a blob durable' });
  t.equal(failures.length, 1);
});

t.test('a write that was cut short is completed', async (t) => {
  const { blobs } = await store(t, {
    open: spoiled((handle, path) => {
      if (!path.endsWith('/u1')) return;
      handle.writev = async (chunks, position) => {
        const first = Buffer.concat(chunks as unknown as Uint8Array[]).subarray(0, 1000);
        const { bytesWritten } = await handle.write(first, 0, first.length, position ?? null);
        return { bytesWritten, buffers: chunks };
      };
    }),
  });
  const bytes = randomBytes(5 * MiB);
  const { sha3_384 } = await blobs.receive(from(bytes), { id: 'u1', ...all });
  t.equal(sha3_384, digest('sha3-384', bytes));
  t.ok(bytes.equals(await readFile((await blobs.makeLocalCopy(sha3_384)).file)));
});

largeTest('a slow disk makes the sender wait', async (t) => {
  const gate = Promise.withResolvers<void>();
  const { blobs } = await store(t, {
    open: spoiled((handle, path) => {
      if (!path.endsWith('/u1')) return;
      const { writev } = handle;
      handle.writev = async (...args: Parameters<FileHandle['writev']>) => {
        await gate.promise;
        return (await writev.apply(handle, args)) as never;
      };
    }),
  });
  let yieldedBytes = 0;
  async function* source() {
    for (; yieldedBytes < 40 * MiB; yieldedBytes += 64 * 1024) yield [Buffer.alloc(64 * 1024)];
  }
  const taken = blobs.receive(source(), { id: 'u1', ...all });
  await delay(100);
  t.ok(yieldedBytes <= 3 * MiB, `${yieldedBytes} bytes were taken from the source while nothing was written`);
  gate.resolve();
  t.equal((await taken).size, 40 * MiB);
});

t.test('a large file is sent on to the disk as it grows', async (t) => {
  let syncs = 0;
  const { blobs } = await store(t, {
    open: spoiled((handle) => {
      const { datasync } = handle;
      handle.datasync = () => {
        syncs += 1;
        return datasync.call(handle);
      };
    }),
  });
  const piece = Buffer.alloc(MiB);
  await blobs.receive(from(...Array.from({ length: 140 }, () => piece)), { id: 'u1', limit: 140 * MiB });
  t.equal(syncs, 1);
});

t.test('an upload that would eat into the reserve is refused before it starts', async (t) => {
  let free = 1000;
  const { blobs, files } = await store(t, { reserve: 600, freeOnDisk: () => free });
  t.equal(await blobs.free(), 400);
  const refusal = { code: 'insufficient-storage', status: 507, retryAfter: 300 };
  await t.rejects(blobs.receive(from(Buffer.alloc(401)), { id: 'u1', expected: 401, ...all }), refusal);
  await t.rejects(blobs.put(Buffer.alloc(401), { id: 'u2' }), refusal);
  t.same(await files(), []);
  await blobs.receive(from(Buffer.alloc(400)), { id: 'u3', expected: 400, ...all });
  free = 500;
  t.equal(await blobs.free(), 0);
  await t.rejects(blobs.receive(from(), { id: 'u4', ...all }), refusal);
});

largeTest('uploads that announced their size never overrun the reserve together', async (t) => {
  const { blobs } = await store(t, { reserve: 0, freeOnDisk: () => 1000 });
  const gate = Promise.withResolvers<void>();
  async function* slow() {
    await gate.promise;
    yield [Buffer.alloc(600)];
  }
  const first = blobs.receive(slow(), { id: 'u1', expected: 600, ...all });
  await until(async () => (await blobs.free()) === 400);
  await t.rejects(blobs.receive(from(Buffer.alloc(600)), { id: 'u2', expected: 600, ...all }), {
    code: 'insufficient-storage',
  });
  await blobs.receive(from(Buffer.alloc(400)), { id: 'u3', expected: 400, ...all });
  gate.resolve();
  await first;
  await blobs.receive(from(Buffer.alloc(600)), { id: 'u4', expected: 600, ...all });
});

t.test('an upload is refused midway when others fill the disk', async (t) => {
  for (const expected of [undefined, 90 * MiB]) {
    let free = 1000 * MiB;
    const { blobs, files } = await store(t, { reserve: 100 * MiB, freeOnDisk: () => free });
    let sent = 0;
    async function* source() {
      for (; sent < 90 * MiB; sent += MiB) {
        if (sent === 30 * MiB) free = 100 * MiB;
        yield [Buffer.alloc(MiB)];
      }
    }
    await t.rejects(blobs.receive(source(), { id: 'u1', expected, ...all }), { code: 'insufficient-storage' });
    t.ok(sent < 80 * MiB, `after ${sent} bytes`);
    t.same(await files(), []);
  }
});

t.test('only so many uploads are received at once', async (t) => {
  const { blobs } = await store(t);
  const gate = Promise.withResolvers<void>();
  async function* waiting() {
    await gate.promise;
    yield [Buffer.from('hello')];
    throw new Error('gone');
  }
  const running = Array.from({ length: 512 }, (_, nth) => blobs.receive(waiting(), { id: `u${nth}`, ...all }));
  await t.rejects(blobs.receive(from(), { id: 'late', ...all }), {
    code: 'too-many-requests',
    status: 429,
    retryAfter: 10,
  });
  gate.resolve();
  await Promise.allSettled(running);
  await blobs.receive(from(), { id: 'late', ...all });
});

t.test('a blob that one process receives again is not removed by the cleanup of another', async (t) => {
  let now = new Date('2026-05-04T03:00:00Z');
  const directory = await temporaryFolder(t);
  const firstStore = await store(t, { directory, now: () => now });
  const bytes = Buffer.from('hello');
  const { sha3_384 } = await firstStore.blobs.put(bytes, { id: 'u1' });
  const storedBefore = (now = new Date('2026-05-04T04:00:00Z'));

  /** Takes the content in again when the other has found it old, and is about to take it away. */
  let id = 2;
  const crossing: typeof rename = async (from, to) => {
    await firstStore.blobs.put(bytes, { id: `u${id++}` });
    return rename(from, to);
  };
  const other = await store(t, { directory, move: crossing });
  t.equal(await other.blobs.remove(sha3_384, { storedBefore }), false);
  t.same(await contentOf((await firstStore.blobs.open(sha3_384))!.stream), bytes, 'what was acknowledged is there');
  t.same(await firstStore.files(), [placeOf(sha3_384)]);
});

t.test('a blob that came back before its removal stays', async (t) => {
  const directory = await temporaryFolder(t);
  const { blobs, files } = await store(t, { directory });
  const { sha3_384 } = await blobs.put(Buffer.from('hello'), { id: 'u1' });
  // Another process starts, and restores the files that it takes for left over.
  const restarted: typeof rename = async (from, to) => {
    await rename(from, to);
    await store(t, { directory });
  };
  const other = await store(t, { directory, move: restarted });
  t.equal(await other.blobs.remove(sha3_384, { storedBefore: new Date() }), false);
  t.same(await files(), [placeOf(sha3_384)]);
});

largeTest('a process is killed during a removal: the next start restores the moved files', async (t) => {
  const { blobs, directory } = await store(t);
  const [hello, goodbye] = [Buffer.from('hello'), Buffer.from('goodbye')];
  const moved = [await blobs.put(hello, { id: 'u1' }), await blobs.put(goodbye, { id: 'u2' })];
  const leaving = join(directory, 'blobs/leaving');
  for (const { sha3_384 } of moved)
    await rename((await blobs.makeLocalCopy(sha3_384)).file, join(leaving, `${sha3_384}.killed`));
  await blobs.put(goodbye, { id: 'u3' });
  const { ino } = await lstat((await blobs.makeLocalCopy(moved[1]!.sha3_384)).file);

  const again = await store(t, { directory });
  for (const [n, bytes] of [hello, goodbye].entries()) {
    t.same(await contentOf((await again.blobs.open(moved[n]!.sha3_384))!.stream), bytes);
  }
  t.equal(
    (await lstat((await again.blobs.makeLocalCopy(moved[1]!.sha3_384)).file)).ino,
    ino,
    'what came in meanwhile stays',
  );
  t.same(await readdir(leaving), []);
});

t.test('the ballast takes real blocks and can be released', async (t) => {
  const { blobs, directory, files } = await store(t);
  t.equal(await blobs.releaseBallast(), false);
  t.equal(await blobs.keepBallast(), true);
  t.same(await files(), ['ballast']);
  const ballast = await stat(join(directory, 'blobs/ballast'));
  t.equal(ballast.size, 64 * MiB);
  t.ok(ballast.blocks * 512 >= 64 * MiB);
  t.equal(await blobs.keepBallast(), true);
  t.equal((await stat(join(directory, 'blobs/ballast'))).ino, ballast.ino);
  t.equal(await blobs.releaseBallast(), true);
  t.same(await files(), []);

  t.same(await Promise.all([blobs.keepBallast(), blobs.keepBallast()]), [true, true], 'also by two at once');
  t.same(await files(), ['ballast']);

  const full = await store(t, { freeOnDisk: () => 64 * MiB - 1 });
  t.equal(await full.blobs.keepBallast(), false);
});
