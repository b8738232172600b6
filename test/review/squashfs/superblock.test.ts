import t from 'tap';
import { readSuperblock } from '#review/squashfs/superblock.ts';
import { snapBytes } from '../fixtures.ts';
import { inMemory } from '../packed.ts';

const image = snapBytes('app-xz-fragments');

/** The image with one number of its superblock changed. */
function changed(at: number, width: 2 | 4 | 8, value: bigint): Uint8Array {
  const bytes = Buffer.from(image);
  const number = Buffer.alloc(8);
  number.writeBigUInt64LE(value);
  number.copy(bytes, at, 0, width);
  return bytes;
}

t.test('the superblock of a snap is consistent', async (t) => {
  const superblock = readSuperblock(inMemory(image));
  t.match(superblock, { blockSize: 131_072, compression: 4, fragmentCount: 1 });
  t.ok(superblock.inodeTable.end === superblock.directoryTable.start);
  t.ok(superblock.bytesUsed <= image.length);
});

t.test('a superblock that contradicts itself is refused', async (t) => {
  const none = 0xffff_ffff_ffff_ffffn;
  const refused: [string, number, 2 | 4 | 8, bigint, RegExp][] = [
    ['magic', 0, 4, 0x68737173n, /not a snap/],
    ['no inodes', 4, 4, 0n, /holds no files/],
    ['too many inodes', 4, 4, 2_000_000n, /at most 1048576 are taken/],
    ['block of 2 KiB', 12, 4, 2048n, /not a power of two/],
    ['block of 2 MiB', 12, 4, 2n << 20n, /not a power of two/],
    ['block of an odd size', 12, 4, 131_073n, /not a power of two/],
    ['another logarithm', 22, 2, 16n, /not a power of two/],
    ['too many fragments', 16, 4, 0xffff_ffffn, /fragment table lies outside/],
    ['version 5', 28, 2, 5n, /version 5\.0/],
    ['version 4.1', 30, 2, 1n, /version 4\.1/],
    ['ends at once', 40, 8, 95n, /ends? within its first block/],
    ['ends beyond the file', 40, 8, 4097n, /cut short/],
    ['ends beyond any file', 40, 8, none, /cut short/],
    ['inodes in the superblock', 64, 8, 95n, /inode table lies outside/],
    ['inodes beyond the end', 64, 8, 4097n, /inode table lies outside/],
    ['inodes after directories', 64, 8, 480n, /out of order|outside/],
    ['no directories', 72, 8, none, /directory table lies outside/],
    ['no ids', 48, 8, none, /id table lies outside/],
    ['ids before directories', 48, 8, 100n, /out of order/],
    ['fragments before directories', 80, 8, 100n, /out of order/],
    ['no fragment table', 80, 8, none, /fragment table lies outside/],
  ];
  for (const [label, at, width, value, message] of refused) {
    t.throws(() => readSuperblock(inMemory(changed(at, width, value))), { name: 'Unacceptable', message }, label);
  }
});
