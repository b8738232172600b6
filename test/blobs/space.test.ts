// Reserved space on the disk always fits above the reserve, also with several processes.
import fc from 'fast-check';
import t from 'tap';

import { soleProcessShares } from '#blobs/shares.ts';
import { SharedDiskSpace, type SpaceClaim } from '#blobs/space.ts';
import { processName } from '#shared/processes.ts';
import { sharesOf } from '#test/fixtures/processes/shares.ts';
import { openRecords } from '#test/fixtures/records/records.ts';

const MiB = 1024 * 1024;
const isLong = process.env['LARDER_LONG'] === '1';

interface Step {
  act: 'claim' | 'write' | 'finish' | 'give up';
  which: number;
  size: number;
  at: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom('claim', 'claim', 'write', 'finish', 'give up'),
  which: fc.nat(),
  size: fc.nat({ max: 600 }),
  at: fc.nat({ max: 1 }),
});

/** Does the steps on a disk of the given size, each at one of the processes; false if a reservation does not fit. */
async function fitsAlways(disk: Disk, processes: SharedDiskSpace[], steps: Step[]): Promise<boolean> {
  const uploads: { claim: SpaceClaim; expected: number; written: number }[] = [];
  const owed = (): number => uploads.reduce((sum, upload) => sum + upload.expected - upload.written, 0);
  const left = (): number => disk.capacity - disk.used - owed() - disk.reserve;

  for (const { act, which, size, at } of steps) {
    const room = processes[at % processes.length]!;
    if (act === 'claim') {
      const fits = left() >= size;
      const claim = await room.claim(size).catch(() => undefined);
      // A single process takes all that fits; one of several may hold more than it needs.
      if (claim !== undefined ? !fits : fits && processes.length === 1) return false;
      if (claim !== undefined) uploads.push({ claim, expected: size, written: 0 });
      continue;
    }
    const upload = uploads[which % uploads.length];
    if (upload === undefined) continue;
    if (act === 'write') {
      const more = Math.min(size, upload.expected - upload.written);
      disk.used += more;
      upload.written += more;
      await upload.claim.wrote(upload.written);
    } else {
      if (act === 'give up') disk.used -= upload.written;
      uploads.splice(uploads.indexOf(upload), 1);
      await upload.claim.release();
    }
    if (processes.length === 1 && (await room.free()) !== left()) return false;
    if (uploads.length > 0 && left() < 0) return false;
  }
  return true;
}

interface Disk {
  capacity: number;
  reserve: number;
  used: number;
}

const world = {
  capacity: fc.nat({ max: 2000 }),
  reserve: fc.nat({ max: 500 }),
  steps: fc.array(step, { maxLength: 60 }),
};

t.test('announced uploads always fit above the reserve, after any sequence of claims, writes and releases', () =>
  fc.assert(
    fc.asyncProperty(fc.record(world), ({ steps, ...sizes }) => {
      const disk = { ...sizes, used: 0 };
      const freeOnDisk = (): number => disk.capacity - disk.used;
      return fitsAlways(
        disk,
        [new SharedDiskSpace({ reserve: disk.reserve, freeOnDisk, shares: soleProcessShares })],
        steps,
      );
    }),
    { numRuns: isLong ? 100_000 : 1000 },
  ),
);

t.test('the reservations of two processes fit above the reserve together', async (t) => {
  const both = await openRecords(t, 2);
  await fc.assert(
    fc.asyncProperty(fc.record(world), async ({ steps, ...sizes }) => {
      const [unit, disk] = [MiB, { capacity: sizes.capacity * MiB, reserve: sizes.reserve * MiB, used: 0 }];
      const freeOnDisk = (): number => disk.capacity - disk.used;
      const shares = both.map((records, at) => sharesOf(records, `${processName()} ${at}`));
      const processes = shares.map((held) => new SharedDiskSpace({ reserve: disk.reserve, freeOnDisk, shares: held }));
      const scaled = steps.map((uploadStep) => ({ ...uploadStep, size: uploadStep.size * unit }));
      return fitsAlways(disk, processes, scaled).finally(() => Promise.all(shares.map((share) => share.end())));
    }),
    { numRuns: isLong ? 2000 : 40 },
  );
});

t.test('many small uploads cost one row together, and a large upload returns its written space', async (t) => {
  const [records, otherRecords] = await openRecords(t, 2);
  let used = 0;
  const freeOnDisk = (): number => 10_300 * MiB - used;
  const rows: number[] = [];
  const held = sharesOf(records, `${processName()} 1`);
  const shares: typeof held = {
    ...held,
    hold: async (...call) => {
      rows.push(await held.hold(...call));
      return rows.at(-1)!;
    },
  };
  const space = new SharedDiskSpace({ reserve: 0, freeOnDisk, shares });
  const otherSpace = new SharedDiskSpace({
    reserve: 0,
    freeOnDisk,
    shares: sharesOf(otherRecords, `${processName()} 2`),
  });
  for (let upload = 0; upload < 1000; upload++) {
    const claim = await space.claim(4096);
    used += 4096;
    await claim.wrote(4096);
    await claim.release();
  }
  t.same(rows, [128 * MiB]);

  const claim = await space.claim(9300 * MiB);
  await t.rejects(otherSpace.claim(900 * MiB), { code: 'insufficient-storage', retryAfter: 300 });
  t.ok((await otherSpace.free()) < 900 * MiB);
  for (let written = MiB; written <= 9300 * MiB; written += MiB) {
    used += MiB;
    await claim.wrote(written);
  }
  await claim.release();
  t.ok(rows.length < 60, `${rows.length} rows for ten thousand writes`);
  t.ok(rows.at(-1)! <= 320 * MiB, `${rows.at(-1)! / MiB} MiB are held for nothing`);
  await (await otherSpace.claim(600 * MiB)).release();
});

t.test('the written part of a share is used up and is not reserved again', async (t) => {
  const [records, otherRecords] = await openRecords(t, 2);
  let used = 0;
  const [space, otherSpace] = [records, otherRecords].map((processRecords, at) => {
    const shares = sharesOf(processRecords, `${processName()} ${at}`);
    return new SharedDiskSpace({ reserve: 0, freeOnDisk: () => 400 * MiB - used, shares });
  });
  const claim = await space!.claim(60 * MiB);
  await otherSpace!.claim(await otherSpace!.free());
  used += 60 * MiB;
  await claim.wrote(60 * MiB);
  await claim.release();
  await t.rejects(space!.claim(69 * MiB), { code: 'insufficient-storage' });
  await space!.claim(68 * MiB);
});

t.test('the reservations of a dead process are released', async (t) => {
  const [records] = await openRecords(t);
  await records.ephemeral(({ shares }) => shares.set({ name: 'space', holder: '4194305.1 dead', amount: 100 * MiB }));
  const shares = sharesOf(records, `${processName()} 1`);
  const room = new SharedDiskSpace({ reserve: 0, freeOnDisk: () => 100 * MiB, shares });
  t.equal(await room.free(), 100 * MiB);
  await room.claim(100 * MiB);
  t.match(await records.shares.all(), [{ holder: `${processName()} 1`, amount: 100 * MiB }]);
  await shares.end();
  t.same(await records.shares.all(), []);
});

t.test('an upload without an announced size reserves ahead of its writes', async (t) => {
  let used = 0;
  const room = new SharedDiskSpace({ reserve: 0, freeOnDisk: () => 200 * MiB - used, shares: soleProcessShares });
  const claim = await room.claim(undefined);
  used = MiB;
  await claim.wrote(MiB);
  t.equal(await room.free(), (200 - 65) * MiB);
  used = 65 * MiB;
  await claim.wrote(65 * MiB);
  t.equal(await room.free(), (200 - 129) * MiB);
  used = 129 * MiB;
  await claim.wrote(129 * MiB);
  used = 193 * MiB;
  await t.rejects(claim.wrote(193 * MiB), { code: 'insufficient-storage', retryAfter: 300 });
  await claim.release();
  t.equal(await room.free(), 7 * MiB);
});

t.test('an upload that continues at another process needs no additional space for the received bytes', async (t) => {
  const room = new SharedDiskSpace({ reserve: 0, freeOnDisk: () => 100, shares: soleProcessShares });
  await t.rejects(room.claim(250, 100), { code: 'insufficient-storage' });
  const claim = await room.claim(200, 100);
  t.equal(await room.free(), 0);
  await claim.release();
});
