// Small contents that are received together: each gets its place only after it is verified and durable, with a kill of
// the process at any point.
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { basename, join } from 'node:path';

import t, { type Test } from 'tap';

import type { FileRange } from '#blobs/file-ranges.ts';
import { createDigestPool } from '#blobs/digests.ts';
import { receiveGroup, type GroupDisk, type GroupedContent } from '#blobs/receive-group.ts';
import { startWorker } from '#platform/embedded.ts';
import type { Faults } from './faulty-digest-worker.ts';
import { digest, store, temporaryFolder } from './store.ts';

const time = new Date('2026-03-01T12:00:00Z');

/** Contents of these lengths that lie one behind the other in a file, and folders that they come through. */
async function offered(t: Test, lengths: readonly number[]) {
  const folder = await temporaryFolder(t);
  for (const name of ['tmp', 'place']) fs.mkdirSync(join(folder, name));
  const bytes = randomBytes(lengths.reduce((sum, length) => sum + length, 1));
  fs.writeFileSync(join(folder, 'stick'), bytes);
  const descriptor = fs.openSync(join(folder, 'stick'), 'r');
  t.teardown(() => fs.closeSync(descriptor));
  let offset = 1;
  const contents = lengths.map((size, at): GroupedContent => {
    const own = bytes.subarray(offset, offset + size);
    return {
      temporaryFile: join(folder, 'tmp', `content-${String(at)}`),
      place: join(folder, 'place', digest('sha3-384', own)),
      ranges: [{ descriptor, offset: (offset += size) - size, size }],
      sha3_384: digest('sha3-384', own),
      sha256: digest('sha256', own),
    };
  });
  const namesIn = (name: 'tmp' | 'place'): string[] => fs.readdirSync(join(folder, name)).sort();
  return { folder, bytes, contents, there: namesIn };
}

/** A disk that reports its calls, and stops for good before the step that `stop` names. */
function watched(stop = Infinity) {
  const steps: string[] = [];
  const files = new Map<number, string>();
  const durable = new Set<string>();
  const step = (name: string, file: string): void => {
    if (steps.length >= stop) throw new Killed();
    steps.push(`${name} ${file}`);
  };
  const nameOf = (file: number): string => files.get(file) ?? '';
  const disk: GroupDisk = {
    ...fs,
    openSync(path, flags, mode) {
      step((Number(flags) & fs.constants.O_DIRECT) === 0 ? 'open' : 'open direct', basename(String(path)));
      const file = fs.openSync(path, flags, mode);
      files.set(file, basename(String(path)));
      return file;
    },
    writeSync: ((...args: Parameters<typeof fs.writeSync>) => {
      step('write', nameOf(args[0]));
      durable.delete(nameOf(args[0]));
      return fs.writeSync(...args);
    }) as typeof fs.writeSync,
    ftruncateSync(file, length) {
      step('cut', nameOf(file));
      fs.ftruncateSync(file, length);
    },
    futimesSync(file, ...times) {
      step('time', nameOf(file));
      durable.delete(nameOf(file));
      fs.futimesSync(file, ...times);
    },
    fsync: ((file: number, done: fs.NoParamCallback) => {
      step('sync', nameOf(file));
      fs.fsync(file, (error) => {
        durable.add(nameOf(file));
        done(error);
      });
    }) as typeof fs.fsync,
    renameSync(from, to) {
      step('move', basename(String(from)));
      if (!durable.has(basename(String(from)))) throw new Error(`${String(from)} is moved before it is durable`);
      fs.renameSync(from, to);
    },
  };
  return { disk, steps };
}

/** The error of all calls from then on, including the cleanup. */
class Killed extends Error {}

const lengths = [0, 1, 4096, 4097, 300_000, 256 * 1024];

for (const direct of [false, true]) {
  t.test(
    `killed at any step, whole contents are in their places and no others (direct: ${String(direct)})`,
    async (t) => {
      const all = watched();
      const whole = await offered(t, lengths);
      const results = await receiveGroup(whole.contents, { direct, time }, all.disk);
      t.ok(results.every((result) => 'identity' in result));
      t.same(whole.there('tmp'), []);
      t.same(whole.there('place'), whole.contents.map(({ sha3_384 }) => sha3_384).sort());
      t.equal(all.steps.filter((step) => step.startsWith('open direct')).length, direct ? lengths.length : 0);
      t.ok(
        all.steps.findLastIndex((step) => step.startsWith('sync')) <
          all.steps.findIndex((step) => step.startsWith('move')),
        'what is synced by one turn of the journal is synced together',
      );
      for (let stop = 0; stop < all.steps.length; stop++) {
        const { contents, there: namesIn, folder } = await offered(t, lengths);
        const { disk } = watched(stop);
        await receiveGroup(contents, { direct, time }, { ...disk, unlinkSync: () => dead() }).catch(
          (error: unknown) => {
            if (!(error instanceof Killed)) throw error;
          },
        );
        const wrong = namesIn('place').filter(
          (name) => digest('sha3-384', fs.readFileSync(join(folder, 'place', name))) !== name,
        );
        t.same(wrong, [], `killed before: ${all.steps[stop]!}`);
      }
    },
  );
}

const dead = (): never => {
  throw new Killed();
};

t.test('content with a wrong digest leaves nothing, and the other contents of the group are received', async (t) => {
  const { contents, there: namesIn, folder } = await offered(t, [1000, 5000, 9000, 300_000, 70]);
  const folderItself = fs.openSync(folder, 'r');
  t.teardown(() => fs.closeSync(folderItself));
  const [first, second, third, fourth, last] = contents as [GroupedContent, ...GroupedContent[]] & GroupedContent[];
  const results = await receiveGroup(
    [
      first,
      { ...second!, sha256: '0'.repeat(64) },
      { ...third!, sha3_384: '0'.repeat(96) },
      // More than there is.
      { ...fourth!, ranges: fourth!.ranges.map((range): FileRange => ({ ...range, size: 400_000 })) },
      { ...last!, temporaryFile: join(folder, 'nowhere', 'content') },
      {
        ...last!,
        temporaryFile: join(folder, 'tmp', 'folder'),
        ranges: [{ descriptor: folderItself, offset: 0, size: 70 }],
      },
    ],
    { direct: false, time },
  );
  const [{ identity }, ...others] = results as [{ identity: string }, ...unknown[]];
  t.match(identity, /^\d+ \d+ 1000 /);
  t.match(others, [
    { wrong: true },
    { wrong: true },
    { wrong: true },
    { code: 'ENOENT', syscall: 'open' },
    { code: 'EISDIR', syscall: 'read' },
  ]);
  t.same(namesIn('tmp'), []);
  t.same(namesIn('place'), [first.sha3_384]);
  t.same(fs.statSync(first.place).mtime, time, 'it bears the time at which it was taken in');
});

t.test('an existing file is not overwritten, nor removed', async (t) => {
  const { contents, there: namesIn } = await offered(t, [10]);
  fs.writeFileSync(contents[0]!.temporaryFile, 'of somebody else');
  t.match(await receiveGroup(contents, { direct: false, time }), [{ code: 'EEXIST' }]);
  t.same(namesIn('tmp'), [basename(contents[0]!.temporaryFile)]);
});

/** Threads with a failing disk. */
function faultyPool(t: Test, faults: Pick<Faults, 'call' | 'code'>) {
  const [left, direct] = [new Int32Array(new SharedArrayBuffer(4)), new Int32Array(new SharedArrayBuffer(4))];
  left[0] = 1;
  const workerData: Faults = { ...faults, left, direct };
  const pool = createDigestPool(
    (options) => startWorker('test/blobs/faulty-digest-worker.ts', { ...options, workerData }),
    1,
  );
  t.teardown(() => pool.close());
  return pool;
}

/** Receives two small contents at once; returns the outcome of each. */
async function takenIn(t: Test, options: Parameters<typeof store>[1]) {
  const { blobs, files, failures } = await store(t, options);
  const { bytes, contents } = await offered(t, [1000, 2000]);
  const signal = new AbortController().signal;
  const copyIn = ({ ranges, sha3_384, sha256 }: GroupedContent) =>
    blobs.copyIn(ranges, {
      id: `copy-${sha3_384.slice(0, 8)}`,
      expected: { size: ranges[0]!.size, sha3_384, sha256 },
      limit: bytes.length,
      wrong: () => new Error('it is another one'),
      signal,
    });
  // Which of them is the first for the thread is not said.
  const ended = (await Promise.allSettled(contents.map(copyIn))).toSorted((first, other) =>
    first.status < other.status ? -1 : 1,
  );
  return { ended, again: () => Promise.all(contents.map(copyIn)), files: await files(), failures };
}

t.test('a disk that loses written data stops the store; a full disk does not', async (t) => {
  const broken = await takenIn(t, { digests: faultyPool(t, { call: 'sync', code: 'EIO' }) });
  t.match(broken.ended, [
    { status: 'fulfilled' },
    { reason: { message: 'cannot make a blob durable', cause: { code: 'EIO' } } },
  ]);
  t.match(broken.failures, [{ message: 'cannot make a blob durable' }]);
  t.equal(broken.files.length, 1, 'what could be kept is there');
  await t.rejects(broken.again(), { code: 'shutting-down' });
  const full = await takenIn(t, { digests: faultyPool(t, { call: 'sync', code: 'ENOSPC' }) });
  t.match(full.ended, [{ status: 'fulfilled' }, { reason: { code: 'insufficient-storage' } }]);
  t.same(full.failures, []);
  await t.resolves(full.again());
});

t.test('without space, no content of the group is received', async (t) => {
  const { ended, files } = await takenIn(t, { freeOnDisk: () => 999 });
  t.match(ended, [{ reason: { code: 'insufficient-storage' } }, { reason: { code: 'insufficient-storage' } }]);
  t.same(files, []);
});

t.test('a thread that dies leaves nothing of its contents, and the next one receives them', async (t) => {
  const { ended, again, files } = await takenIn(t, { digests: faultyPool(t, { call: 'die' }) });
  t.match(ended, [{ status: 'rejected' }, { status: 'rejected' }]);
  t.same(files, []);
  await t.resolves(again());
});
