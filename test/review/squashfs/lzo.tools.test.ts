// Streams that mksquashfs compresses with lzo.
import { join } from 'node:path';
import t from 'tap';
import fc from 'fast-check';
import { openImage } from '#review/squashfs/image.ts';
import { grow, packFolder, withoutSquashfsTools } from '../mksquashfs.ts';
import { long, noise, opened } from '../packed.ts';

t.test('images that mksquashfs packs with lzo are unpacked', { skip: withoutSquashfsTools }, async (t) => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 2000 }),
    fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 3000 })).map(([part, times]) => {
      return Buffer.alloc(part.length * times, part);
    }),
    fc.integer({ min: 1, max: 50_000 }).map((length) => noise(length, length)),
  );
  const files = fc.sample(fc.array(piece, { maxLength: 8 }), { numRuns: long ? 500 : 60, seed: 7 });
  const tree: Record<string, Uint8Array> = {};
  // The same pieces again after a while, so that matches of every distance occur.
  for (const [at, pieces] of files.entries()) tree[String(at)] = Buffer.concat([...pieces, ...pieces]);
  const folder = grow(join(t.testdir({}), 'lzo'), tree);
  for (const algorithm of ['lzo1x_1', 'lzo1x_1_11', 'lzo1x_1_12', 'lzo1x_1_15', 'lzo1x_999']) {
    const options = ['-comp', 'lzo', '-Xalgorithm', algorithm, '-no-fragments'];
    const image = openImage(opened(t, packFolder(folder, options)));
    let equal = 0;
    for (const entry of image.entries(image.root)) {
      const inode = image.inode(entry);
      const content = tree[entry.name];
      if (inode.kind !== 'file' || content === undefined) continue;
      if (Buffer.compare(image.read(inode, 1 << 30), content) === 0) equal++;
    }
    t.equal(equal, files.length, algorithm);
  }
});
