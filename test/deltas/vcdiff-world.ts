// The world that the tests of vcdiff.test.ts and vcdiff.tools.test.ts share.
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';

import { decode } from '#deltas/decoder.ts';
import { encode } from '#deltas/encoder.ts';
import { RandomAccessFile } from '#deltas/random-access-file.ts';

export const long = process.env['LARDER_LONG'] === '1';

/** A folder with files that are opened for as long as something is done with them. */
export function workshop(t: { testdir(files: Record<string, never>): string }) {
  const folder = t.testdir({});
  const path = (name: string): string => join(folder, name);
  const opened = <Result>(names: readonly string[], work: (...sources: RandomAccessFile[]) => Result): Result => {
    const files = names.map((name) => openSync(path(name), 'r'));
    try {
      return work(...files.map((file) => new RandomAccessFile(file)));
    } finally {
      for (const file of files) closeSync(file);
    }
  };
  return {
    path,
    put: (name: string, bytes: Uint8Array) => {
      writeFileSync(path(name), bytes);
    },
    /** The delta from `old` to `new`. */
    made: () =>
      opened(['old', 'new'], (older, newer) =>
        Buffer.concat(Array.from(encode(older, newer), (piece) => Buffer.from(piece))),
      ),
    /** The output of our decoder for `old` and a delta. */
    rebuilt: (delta: Uint8Array, maxLength = Infinity) => {
      writeFileSync(path('delta'), delta);
      return opened(['old', 'delta'], (older, delta) =>
        Buffer.concat(Array.from(decode(older, delta, maxLength), (window) => Buffer.from(window))),
      );
    },
  };
}

/** Possible changes of a file: parts of it, new parts, and runs of one byte. */
export const edits = fc.array(
  fc.oneof(
    fc.record({ kept: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.nat(40_000) }),
    fc.record({ added: fc.uint8Array({ maxLength: 300 }) }),
    fc.record({ repeated: fc.nat(255), times: fc.nat(2000) }),
  ),
  { maxLength: 12 },
);
export type Edit = typeof edits extends fc.Arbitrary<(infer One)[]> ? One : never;

export const edited = (bytes: Buffer, edits: readonly Edit[]): Buffer =>
  Buffer.concat(
    edits.map((edit) => {
      if ('added' in edit) return Buffer.from(edit.added);
      if ('repeated' in edit) return Buffer.alloc(edit.times, edit.repeated);
      const from = Math.floor(edit.kept * bytes.length);
      return bytes.subarray(from, from + edit.length);
    }),
  );

/**
 * Bytes without repetition or compression, the same for each seed, after the first bytes of a snap. A file with the
 * magic of gzip, as one in 65,536 would have, is unpacked by xdelta3 first.
 */
export function noise(seed: string, length: number): Buffer {
  const bytes = createHash('shake256', { outputLength: length }).update(seed).digest();
  bytes.write('hsqs');
  return bytes;
}

/** Two files of many windows: the newer one has the parts of the older one in another order. */
export function reordered(): { older: Buffer; newer: Buffer } {
  const [a, b, c] = ['a', 'b', 'c'].map((seed) => noise(seed, 5_000_000)) as [Buffer, Buffer, Buffer];
  const newer = Buffer.concat([c, noise('new', 1000), b.subarray(17), Buffer.alloc(3_000_000), a]);
  return { older: Buffer.concat([a, b, c]), newer };
}

/** One window of the newer file copies from the first and the last of 96 MB, and further windows from one of them. */
export function scattered(): { older: Buffer; newer: Buffer } {
  const parts = Array.from({ length: 16 }, (_, at) => randomBytes(6_000_000 + at));
  const newer = Buffer.concat([parts[15]!.subarray(0, 900_000), parts[0]!.subarray(0, 900_000), parts[14]!, parts[1]!]);
  return { older: Buffer.concat(parts), newer };
}
