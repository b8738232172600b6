// Changed xz streams are refused, or produce at most the allowed size.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import t from 'tap';

import { unpackLzma2 } from '#review/squashfs/lzma2.ts';
import { unpackXz } from '#review/squashfs/xz.ts';
import { long } from '../packed.ts';
import { limit, unpacked } from './xz-world.ts';

const streamsFolder = join(import.meta.dirname, '../../fixtures/streams');

// "hello hello hello\n" as xz 5.4 packs it with --check=crc32, so that a machine without xz tests something too.
const hello = Buffer.from(
  '/Td6WFoAAAFpIt42AgAhARYAAAB0L+Wj4AARAAxdADQZSe6N6U9+ISGwAAA7fIrfAAEkEsUl1yKQQpkNAQAAAAABWVo=',
  'base64',
);

t.test('no change to a stream changes its output', async (t) => {
  t.equal(Buffer.from(unpackXz(hello, limit, 8 << 20)).toString(), 'hello hello hello\n');
  for (let bit = 0; bit < hello.length * 8; bit++) {
    const changed = new Uint8Array(hello);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const result = unpacked(changed, limit, 8 << 20);
    // There are changes that mean the same, such as a property that these few bytes make no use of.
    if (typeof result === 'string') continue;
    if (Buffer.from(result).toString() !== 'hello hello hello\n') t.fail(`bit ${String(bit)} makes a difference`);
  }
  for (let end = 0; end < hello.length; end++) t.type(unpacked(hello.subarray(0, end), limit, 8 << 20), 'string');
  t.type(unpacked(Buffer.concat([hello, new Uint8Array(4)]), limit, 8 << 20), 'string', 'padding after the stream');
  t.match(unpacked(hello, 17, 8 << 20), /cannot be unpacked/, 'longer than allowed');
  t.match(unpacked(hello, limit, (8 << 20) - 1), /asks for a dictionary longer than the image has blocks/);
});

/** The chunks of a stream with one block, without anything that would notice a change. */
function chunks(packed: Uint8Array): Uint8Array {
  return packed.subarray(12 + ((packed[12] ?? 0) + 1) * 4);
}

t.test('reading of corrupt chunks ends, within their buffer', async () => {
  // xz 5.4 made the files, with --lzma2=dict=64KiB,lc=0,lp=2,pb=0 and with -0; both with --check=none.
  const files = ['words.xz', 'noise-and-words.xz'].map((name) => readFileSync(join(streamsFolder, name)));
  const streams = [hello, ...files].map(chunks);
  const out = new Uint8Array(6000);
  const change = fc.tuple(fc.nat(5000), fc.nat(255));
  fc.assert(
    fc.property(fc.constantFrom(...streams), fc.array(change, { minLength: 1, maxLength: 5 }), (stream, changes) => {
      const changed = stream.slice();
      for (const [at, byte] of changes) changed[at % changed.length] = byte;
      const result = unpackLzma2(changed, 0, out, 0, 1 << 16);
      return result === undefined || (result.written <= out.length && result.read <= changed.length);
    }),
    { numRuns: long ? 100_000 : 1000 },
  );
});

t.test('any bytes at all come to an end', async () => {
  const out = new Uint8Array(1 << 16);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      unpackLzma2(bytes, 0, out, 0, 1 << 16);
      // Properties and a reset first, so that more gets into the decoder.
      unpackLzma2(Uint8Array.of(0xe0, 0x10, 0, 0, 200, 0x5d, 0, ...bytes), 0, out, 0, 1 << 16);
    }),
    { numRuns: long ? 100_000 : 1000 },
  );
});
