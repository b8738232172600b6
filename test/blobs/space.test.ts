import fc from 'fast-check';
import t from 'tap';
import { space, type SpaceClaim } from '#blobs/space.ts';

const MiB = 1024 * 1024;

t.test('whatever is claimed, written and given up, announced uploads always fit above the reserve', async () => {
  const step = fc.oneof(
    fc.record({ act: fc.constant('claim' as const), size: fc.nat({ max: 600 }) }),
    fc.record({ act: fc.constant('write' as const), which: fc.nat(), size: fc.nat({ max: 300 }) }),
    fc.record({ act: fc.constant('finish' as const), which: fc.nat() }),
    fc.record({ act: fc.constant('give up' as const), which: fc.nat() }),
  );
  fc.assert(
    fc.property(
      fc.nat({ max: 2000 }),
      fc.nat({ max: 500 }),
      fc.array(step, { maxLength: 60 }),
      (capacity, reserve, steps) => {
        let used = 0;
        const room = space(reserve, () => capacity - used);
        const uploads: { claim: SpaceClaim; expected: number; written: number }[] = [];
        const owed = (): number => uploads.reduce((sum, upload) => sum + upload.expected - upload.written, 0);

        for (const { act, ...rest } of steps) {
          if (act === 'claim' && 'size' in rest) {
            const fits = capacity - used - owed() - reserve >= rest.size;
            let claim: SpaceClaim | undefined;
            try {
              claim = room.claim(rest.size);
            } catch {
              // Refused; whether rightly is what is checked next.
            }
            if ((claim !== undefined) !== fits) return false;
            if (claim !== undefined) uploads.push({ claim, expected: rest.size, written: 0 });
            continue;
          }
          if (uploads.length === 0 || !('which' in rest)) continue;
          const at = rest.which % uploads.length;
          const upload = uploads[at];
          if (upload === undefined) continue;
          if (act === 'write' && 'size' in rest) {
            const more = Math.min(rest.size, upload.expected - upload.written);
            used += more;
            upload.written += more;
            upload.claim.wrote(upload.written);
          } else {
            if (act === 'give up') used -= upload.written;
            upload.claim.release();
            uploads.splice(at, 1);
          }
          if (room.free() !== capacity - used - owed() - reserve) return false;
        }
        return uploads.length === 0 || room.free() >= 0;
      },
    ),
    { numRuns: process.env['LARDER_LONG'] === '1' ? 100_000 : 1000 },
  );
});

t.test('an upload that announced nothing claims ahead of what it writes', async (t) => {
  let used = 0;
  const room = space(0, () => 200 * MiB - used);
  const claim = room.claim(undefined);
  used = MiB;
  claim.wrote(MiB);
  t.equal(room.free(), (200 - 65) * MiB);
  used = 65 * MiB;
  claim.wrote(65 * MiB);
  t.equal(room.free(), (200 - 129) * MiB);
  used = 129 * MiB;
  t.doesNotThrow(() => claim.wrote(129 * MiB));
  used = 193 * MiB;
  t.throws(() => claim.wrote(193 * MiB), { code: 'insufficient-storage', retryAfter: 300 });
  claim.release();
  t.equal(room.free(), 7 * MiB);
});
