import t from 'tap';
import { entriesOf } from '#review/squashfs/directory.ts';
import { readInode, type Directory } from '#review/squashfs/inode.ts';
import { metadataTable, type MetadataTable } from '#review/squashfs/metadata.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { inMemory } from '../packed.ts';

type Field = [width: 1 | 2 | 4 | 8, value: number] | string;

/** Little-endian numbers of these widths, and text, in a row. */
function fields(...all: Field[]): Buffer {
  return Buffer.concat(
    all.map((field) => {
      if (typeof field === 'string') return Buffer.from(field, 'latin1');
      const [width, value] = field;
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(BigInt(value));
      return bytes.subarray(0, width);
    }),
  );
}

/** A table of metadata blocks stored as they are. */
function table(bytes: Buffer, blockSize = 8192): MetadataTable {
  const blocks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += blockSize) {
    const part = bytes.subarray(at, at + blockSize);
    blocks.push(fields([2, 0x8000 | part.length]), part);
  }
  const all = Buffer.concat(blocks);
  return metadataTable('test', inMemory(all), { start: 0, end: all.length }, () => {
    throw new Error('nothing is packed here');
  });
}

const head = (type: number) => fields([2, type], [2, 0o644], [2, 0], [2, 0], [4, 0], [4, 1]);
const inode = (type: number, inodeNumber: number, ...rest: Field[]) =>
  readInode(table(Buffer.concat([head(type), fields(...rest)])), { block: 0, offset: 0 }, inodeNumber);

t.test('basic and extended inodes say the same in different widths', async (t) => {
  const directory = { kind: 'directory', permissions: 0o644, block: 7, offset: 9, length: 97 };
  t.same(inode(1, 1, [4, 7], [4, 2], [2, 100], [2, 9], [4, 1]), directory);
  t.same(inode(8, 1, [4, 2], [4, 100], [4, 7], [4, 1], [2, 0], [2, 9], [4, 0]), directory);
  const file = { kind: 'file', permissions: 0o644, size: 100, start: 96, fragment: { index: 3, offset: 5 } };
  t.match(inode(2, 2, [4, 96], [4, 3], [4, 5], [4, 100]), file);
  t.match(inode(9, 2, [8, 96], [8, 100], [8, 0], [4, 1], [4, 3], [4, 5], [4, 0]), file);
  const whole = inode(
    9,
    2,
    [8, 2 ** 33],
    [8, 2 ** 34],
    [8, 0],
    [4, 1],
    [4, 0xffffffff],
    [4, 0],
    [4, 0],
    [4, 11],
    [4, 22],
  );
  t.match(whole, { size: 2 ** 34, start: 2 ** 33, fragment: undefined });
  t.same(whole.kind === 'file' && [...whole.blockWords(2)], [11, 22]);
  t.same(inode(3, 3, [4, 1], [4, 4], 'else'), { kind: 'symlink', permissions: 0o644, target: 'else' });
  t.same(inode(10, 3, [4, 1], [4, 4], 'else', [4, 0]), { kind: 'symlink', permissions: 0o644, target: 'else' });
  for (let type = 4; type <= 7; type++) {
    t.same(inode(type, type, [4, 1], [4, 0]), { kind: 'special', permissions: 0o644 });
    t.same(inode(type + 7, type, [4, 1], [4, 0]), { kind: 'special', permissions: 0o644 });
  }
});

t.test('an inode that cannot be is refused', async (t) => {
  const refused = { name: 'Unacceptable' };
  t.throws(() => inode(2, 1, [4, 0], [4, 0], [4, 0], [4, 0]), refused, 'not what its entry says');
  t.throws(() => inode(15, 8, [4, 0]), refused);
  t.throws(() => inode(0, 0, [4, 0]), refused);
  t.throws(() => inode(65535, 1, [4, 0]), refused);
  t.throws(() => inode(3, 3, [4, 1], [4, 5000], 'x'.repeat(5000)), refused, 'a link too long');
  t.throws(() => inode(3, 3, [4, 1], [4, 400], 'x'), refused, 'a link that ends too early');
  t.throws(() => inode(2, 2, [4, 0]), refused, 'cut short');
  t.throws(() => inode(9, 2, [8, 2 ** 53], [8, 0], [8, 0], [4, 1], [4, 0], [4, 0], [4, 0]), refused, 'beyond any disk');
  t.throws(() => readInode(table(head(1)), { block: 40, offset: 0 }, 1), refused, 'outside of the table');
  t.throws(() => readInode(table(head(1)), { block: 0, offset: 400 }, 1), refused, 'outside of its block');
});

const entry = (name: string, type = 2): Field[] => [[2, 32], [2, 0], [2, type], [2, name.length - 1], name];
const run = (names: string[], count = names.length) =>
  fields([4, count - 1], [4, 16], [4, 1], ...names.flatMap((name) => entry(name)));
const listing = (bytes: Buffer, length = bytes.length, blockSize?: number) => {
  const directory: Directory = { kind: 'directory', permissions: 0o755, block: 0, offset: 0, length };
  return [...entriesOf(table(bytes, blockSize), directory)];
};

t.test('a listing is read over its runs and blocks', async (t) => {
  const names = Array.from({ length: 900 }, (_, at) => `name-${String(at).padStart(4, '0')}`);
  const runs = [0, 256, 512, 768].map((from) => run(names.slice(from, from + 256)));
  t.same(
    listing(Buffer.concat(runs)).map(({ name }) => name),
    names,
  );
  t.same(
    listing(Buffer.concat(runs), undefined, 7).map(({ name }) => name),
    names,
    'in blocks of any length',
  );
  t.same(listing(run(['a'])), [{ name: 'a', type: 2, inode: { block: 16, offset: 32 } }]);
  t.same(listing(Buffer.alloc(0)), []);
  t.equal(listing(run(['n'.repeat(256)])).length, 1);
});

t.test('a listing that two readers could read differently is refused', async (t) => {
  const refused = (bytes: Buffer, length?: number) => {
    t.throws(() => listing(bytes, length), { name: 'Unacceptable' });
  };
  refused(run(['b', 'a']));
  refused(run(['snap.yaml', 'snap.yaml']));
  refused(Buffer.concat([run(['b']), run(['a'])]));
  refused(run(['a'], 2));
  refused(run(['a']), 12);
  refused(run(['a']), 20);
  refused(run(['a']), 22);
  refused(run(['a'], 257));
  refused(fields([4, 0], [4, 16], [4, 1], [2, 0], [2, 0], [2, 2], [2, 256], 'n'.repeat(257)));
  refused(fields([4, 0xffffffff], [4, 16], [4, 1]));
});

t.test('a listing longer than any snap has is refused before it is read', async (t) => {
  t.throws(() => listing(run(['a']), 2 ** 31), {
    name: 'Unacceptable',
    message: /put many small files into an archive/,
  });
});

t.test('metadata blocks keep within their table and their length', async (t) => {
  const at = (bytes: Buffer, end = bytes.length) =>
    metadataTable('test', inMemory(bytes), { start: 0, end }, (packed, limit) => {
      t.equal(limit, 8192);
      return packed;
    }).at(0, 0);
  t.equal(at(fields([2, 2], [2, 513])).u16(), 513, 'a packed block');
  for (const [bytes, end] of [
    [fields([2, 0])],
    [fields([2, 0], [4, 0])],
    [fields([2, 0x8000], [4, 0])],
    [fields([2, 8193], 'x'.repeat(9000))],
    [fields([2, 4], [2, 0])],
    [fields([2, 2], [2, 0], [2, 2], [2, 0]), 4],
  ] as [Buffer, number?][]) {
    t.throws(() => at(bytes, end).bytes(5), Unacceptable);
  }
});
