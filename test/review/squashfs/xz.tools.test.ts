// Streams that xz compresses, with any of its settings.
import { execFileSync } from 'node:child_process';

import t from 'tap';
import fc from 'fast-check';
import { unpackXz } from '#review/squashfs/xz.ts';
import { withoutXz } from '../mksquashfs.ts';
import { long, noise } from '../packed.ts';
import { limit, unpacked } from './xz-world.ts';

function xz(content: Uint8Array, ...options: string[]): Uint8Array {
  return new Uint8Array(execFileSync('xz', ['--stdout', ...options], { input: content, maxBuffer: 1 << 26 }));
}

const words = Buffer.from(Array.from({ length: 20_000 }, (_, at) => `word ${String((at * 7919) % 1009)}\n`).join(''));

t.test('bytes that xz packs are unpacked, with any of its settings', { skip: withoutXz }, async (t) => {
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

t.test('any bytes that xz packs are unpacked', { skip: withoutXz }, async () => {
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

t.test('a stream that a device cannot read is refused with the remedy', { skip: withoutXz }, async (t) => {
  t.match(unpacked(xz(words, '--check=crc32', '--x86', '--lzma2=dict=64KiB')), /an xz filter for machine code/);
  t.match(unpacked(xz(words, '--check=crc32', '--delta=dist=2', '--lzma2=dict=64KiB')), /an xz filter/);
  t.match(unpacked(xz(words, '--check=crc64', '-0')), /a check of the kind 4/);
  t.match(unpacked(xz(words, '--check=sha256', '-0')), /a check of the kind 10/);
});
