import { execFileSync } from 'node:child_process';
import t from 'tap';
import fc from 'fast-check';
import { unpackLzma2 } from '#review/squashfs/lzma2.ts';
import { unpackXz } from '#review/squashfs/xz.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { long, noise, withoutXz } from '../packed.ts';

if (long) t.setTimeout(600_000);

const limit = 1 << 20;

function xz(content: Uint8Array, ...options: string[]): Uint8Array {
  return new Uint8Array(execFileSync('xz', ['--stdout', ...options], { input: content, maxBuffer: 1 << 26 }));
}

function unpacked(packed: Uint8Array, most = limit, window = limit): Uint8Array | string {
  try {
    return unpackXz(packed, most, window);
  } catch (error) {
    if (error instanceof Unacceptable) return error.message;
    throw error;
  }
}

const words = Buffer.from(Array.from({ length: 20_000 }, (_, at) => `word ${String((at * 7919) % 1009)}\n`).join(''));

// "hello hello hello\n" as xz 5.4 packs it with --check=crc32, so that a machine without xz tests something too.
const hello = Buffer.from(
  '/Td6WFoAAAFpIt42AgAhARYAAAB0L+Wj4AARAAxdADQZSe6N6U9+ISGwAAA7fIrfAAEkEsUl1yKQQpkNAQAAAAABWVo=',
  'base64',
);

t.test('what xz packs comes out again, with any of its settings', { skip: withoutXz }, async (t) => {
  const settings = [
    ['--check=crc32'],
    ['--check=none', '-9'],
    ['--check=crc32', '-0'],
    ['--check=crc32', '--lzma2=dict=4KiB,lc=4,lp=0,pb=0'],
    ['--check=crc32', '--lzma2=dict=64KiB,lc=0,lp=4,pb=4'],
    ['--check=crc32', '--lzma2=dict=96KiB,lc=1,lp=3,pb=2,nice=273,mf=bt2'],
    ['--check=crc32', '--lzma2=dict=1MiB,lc=2,lp=2,pb=1,mode=fast,mf=hc3'],
    ['--check=crc32', '--block-size=10000'],
    ['--check=crc32', '--threads=2', '--block-size=65536', '--lzma2=dict=64KiB'],
  ];
  const contents = [new Uint8Array(), Uint8Array.of(7), words, noise(200_000), new Uint8Array(limit)];
  contents.push(Buffer.concat([noise(70_000), words, noise(70_000, 2), new Uint8Array(90_000), words]));
  for (const options of settings) {
    for (const content of contents) {
      const result = unpackXz(xz(content, ...options), limit, 64 << 20);
      t.equal(Buffer.compare(result, content), 0, `${options.join(' ')}, ${String(content.length)} bytes`);
    }
  }
});

t.test('what xz packs comes out again, whatever it is', { skip: withoutXz }, async () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 3000 }),
    fc.string({ maxLength: 500 }).map((text) => Buffer.from(text.repeat(20))),
    fc.integer({ min: 1, max: 100_000 }).map((length) => noise(length, length)),
    fc.integer({ min: 1, max: 100_000 }).map((length) => words.subarray(length % 1000, length)),
  );
  const literal = fc.constantFrom('lc=3,lp=0', 'lc=0,lp=0', 'lc=4,lp=0', 'lc=1,lp=2', 'lc=0,lp=4');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), literal, fc.nat(4), (pieces, lclp, pb) => {
      const content = Buffer.concat([...pieces, ...pieces]);
      const packed = xz(content, '--check=crc32', `--lzma2=dict=256KiB,${lclp},pb=${String(pb)}`);
      return Buffer.compare(unpackXz(packed, 4 << 20, limit), content) === 0;
    }),
    { numRuns: long ? 500 : 25 },
  );
});

t.test('no change to a stream changes what comes out', async (t) => {
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

t.test('what a device cannot read is refused with the way out', { skip: withoutXz }, async (t) => {
  t.match(unpacked(xz(words, '--check=crc32', '--x86', '--lzma2=dict=64KiB')), /an xz filter for machine code/);
  t.match(unpacked(xz(words, '--check=crc32', '--delta=dist=2', '--lzma2=dict=64KiB')), /an xz filter/);
  t.match(unpacked(xz(words, '--check=crc64', '-0')), /a check of the kind 4/);
  t.match(unpacked(xz(words, '--check=sha256', '-0')), /a check of the kind 10/);
});

/** The chunks of a stream with one block, without anything that would notice a change. */
function chunks(packed: Uint8Array): Uint8Array {
  return packed.subarray(12 + ((packed[12] ?? 0) + 1) * 4);
}

t.test('damaged chunks come to an end, within what they may fill', async () => {
  const streams = [chunks(hello)];
  if (withoutXz === false) {
    streams.push(chunks(xz(words.subarray(0, 5000), '--check=none', '--lzma2=dict=64KiB,lc=0,lp=2,pb=0')));
    streams.push(chunks(xz(Buffer.concat([noise(500), words.subarray(0, 2000)]), '--check=none', '-0')));
  }
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
