// Deltas between two files: our decoder and the xdelta3 of Debian rebuild the newer one, and invalid deltas are
// refused.
import fc from 'fast-check';
import t from 'tap';

import { InvalidDelta } from '#deltas/decoder.ts';
import { DeltaBuffer, header, instructions } from '#deltas/vcdiff.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { edited, edits, long, noise, reordered, scattered, workshop } from './vcdiff-world.ts';

t.test('moved, added, repeated and removed parts are rebuilt', (t) => {
  const { put, made, rebuilt } = workshop(t);
  fc.assert(
    fc.property(fc.string(), fc.nat(100_000), edits, (seed, length, edits) => {
      const older = noise(seed, length + 1);
      const newer = edited(older, edits);
      put('old', older);
      put('new', newer);
      const delta = made();
      t.ok(rebuilt(delta, newer.length).equals(newer));
      if (newer.length > 1) t.throws(() => rebuilt(delta, newer.length - 1), { message: /larger than allowed/ });
    }),
    { numRuns: long ? 2000 : 60 },
  );
  t.end();
});

largeTest('moved parts of a file with many windows are copied, almost without cost', (t) => {
  const { put, made, rebuilt } = workshop(t);
  const { older, newer } = reordered();
  put('old', older);
  put('new', newer);
  const delta = made();
  t.ok(delta.length < 1500, `${String(delta.length)} bytes, of which 1000 are new`);
  t.ok(rebuilt(delta).equals(newer));
  t.end();
});

t.test('a source may be larger than the window that a delta copies from', (t) => {
  const { put, made, rebuilt } = workshop(t);
  const { older, newer } = scattered();
  put('old', older);
  put('new', newer);
  const delta = made();
  t.ok(delta.length < 2_000_000, `${String(delta.length)} bytes`);
  t.ok(rebuilt(delta).equals(newer));
  t.end();
});

largeTest('a delta with a changed byte is refused, or stays within the size limit', (t) => {
  const { put, made, rebuilt } = workshop(t);
  const older = noise('older', 30_000);
  const newer = edited(older, [
    { kept: 0.5, length: 9000 },
    { added: Uint8Array.from(noise('added', 200)) },
    { repeated: 0, times: 500 },
    { kept: 0, length: 20_000 },
    { kept: 0.9, length: 100 },
  ]);
  put('old', older);
  put('new', newer);
  const delta = made();
  const changes = fc.array(fc.record({ at: fc.nat(delta.length - 1), to: fc.nat(255) }), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(changes, fc.nat(delta.length), (changes, length) => {
      const bad = Uint8Array.from(delta);
      for (const { at, to } of changes) bad[at] = to;
      for (const altered of [bad, delta.subarray(0, length)]) {
        try {
          t.ok(rebuilt(altered, newer.length).length <= newer.length);
        } catch (error) {
          if (!(error instanceof InvalidDelta)) throw error;
        }
      }
    }),
    { numRuns: long ? 50_000 : 800 },
  );
  t.end();
});

/** A delta of one window, as its numbers and bytes say. */
function written(...parts: readonly (number | Uint8Array | { byte: number })[]): Buffer {
  const gathered = new DeltaBuffer();
  gathered.all(header);
  for (const part of parts) {
    if (typeof part === 'number') gathered.number(part);
    else if (part instanceof Uint8Array) gathered.all(part);
    else gathered.byte(part.byte);
  }
  return Buffer.from(gathered.bytes);
}

t.test('false sizes cost no memory', (t) => {
  const { put, rebuilt } = workshop(t);
  put('old', noise('older', 1000));
  const [plain, copies] = [{ byte: 0 }, { byte: 1 }];
  const lies: Record<string, [Buffer, RegExp]> = {
    'a window of a terabyte': [written(plain, 20, 2 ** 40, plain, 0, 0, 0), /larger than allowed/],
    'sections of a terabyte': [written(plain, 2 ** 40 + 10, 8, plain, 2 ** 40, 0, 0), /do not add up/],
    'a section that is not there': [written(plain, 8_000_008, 8, plain, 8_000_000, 1, 1), /./],
    'a source that ends before': [written(copies, 900, 101, 5, 1, plain, 0, 0, 0), /beyond the source/],
    'a number without an end': [written(plain, Buffer.alloc(64, 0x80)), /number is too large/],
    'a window that copies from the target': [written({ byte: 2 }, 0, 0, 5, 0, plain, 0, 0, 0), /unsupported indicator/],
    'an addition that is not there': [written(plain, 6, 5, plain, 0, 1, 0, { byte: 6 }), /ends too early/],
    'a copy of what comes': [written(plain, 7, 4, plain, 0, 1, 1, { byte: 20 }, 0), /outside the available data/],
    'a run beyond its window': [
      written(plain, 8, 4, plain, 1, 2, 0, { byte: 1 }, { byte: 0 }, 5),
      /longer than it declares/,
    ],
    'a window that is not filled': [written(plain, 5, 4, plain, 0, 0, 0), /another length than it declares/],
  };
  for (const [name, [delta, pattern]] of Object.entries(lies)) {
    const before = process.memoryUsage().arrayBuffers;
    t.throws(() => rebuilt(delta), { message: pattern }, name);
    t.ok(process.memoryUsage().arrayBuffers - before < 20_000_000, `${name} took no memory`);
  }
  t.throws(() => rebuilt(Buffer.from('squashfs')), { message: 'it has no header of a delta' });
  t.end();
});

t.test('the table of instructions is the standard one', (t) => {
  t.equal(instructions.length, 256);
  // RFC 3284, 5.6: the first and the last of each of its groups.
  const encode = (number: number): string =>
    instructions[number]!.map(({ kind, size, mode }) => `${kind} ${String(size)} ${String(mode)}`).join(', ');
  t.strictSame([0, 1, 18, 19, 34, 35, 162, 163, 174, 234, 235, 246, 247, 255].map(encode), [
    'run 0 0, none 0 0',
    'add 0 0, none 0 0',
    'add 17 0, none 0 0',
    'copy 0 0, none 0 0',
    'copy 18 0, none 0 0',
    'copy 0 1, none 0 0',
    'copy 18 8, none 0 0',
    'add 1 0, copy 4 0',
    'add 4 0, copy 6 0',
    'add 4 0, copy 6 5',
    'add 1 0, copy 4 6',
    'add 4 0, copy 4 8',
    'copy 4 0, add 1 0',
    'copy 4 8, add 1 0',
  ]);
  t.end();
});
