// Reading an archive: exactly the requested bytes, or a fault in the words of the caller.
import { execFileSync } from 'node:child_process';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { TarArchive, type ArchiveErrors } from '#files/tar-archive.ts';
import { NotWhole, readTar } from '#backup/tar.ts';
import { block } from '#files/tar-header.ts';
import { openPart } from '#transfers/parts/open-part.ts';
import { folder } from '#test/cli/process.ts';

const faults: ArchiveErrors = { cutOff: () => new Error('cut off'), noFile: () => new Error('no file') };

/** An archive that tar has made, with files of these sizes. */
function tarOf(t: Parameters<typeof folder>[0], sizes: Record<string, number>): string {
  const made = folder(t);
  for (const [name, size] of Object.entries(sizes)) writeFileSync(join(made, name), Buffer.alloc(size, name));
  execFileSync('tar', ['--format=ustar', '-cf', join(made, 'all.tar'), ...Object.keys(sizes)], { cwd: made });
  return join(made, 'all.tar');
}

async function gathered(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

t.test('bytes are returned completely and in order, for any sequence of reads', async (t) => {
  const large = 3 * 1024 * 1024 + 7;
  const file = tarOf(t, { a: 3, b: large });
  const archive = await TarArchive.open(file, faults, (opened) => Promise.resolve(opened));
  t.teardown(() => archive.close());
  t.match(await archive.header(0), { name: 'a', size: 3, type: '0' });
  t.match(await archive.header(2 * block), { name: 'b', size: large });
  t.equal((await archive.near(block, 3)).toString(), 'aaa');
  t.ok(await archive.isEmpty(block + 3, block - 3));
  t.notOk(await archive.isEmpty(block + 2, block - 2));
  const begin = 3 * block;
  t.ok((await gathered(archive.chunks(begin, large))).equals(Buffer.alloc(large, 'b')));
  t.ok(await archive.holds(begin, Buffer.alloc(large, 'b')));
  t.notOk(await archive.holds(begin, Buffer.alloc(large, 'b').fill('c', large - 1)), 'to the last byte');
  t.equal((await archive.near(0, 1)).toString(), 'a', 'and what stands before is found again');
  await t.rejects(archive.read(archive.size - 1, 2), { message: 'cut off' });
  truncateSync(file, begin + 10);
  await t.rejects(gathered(archive.chunks(begin, large)), { message: 'cut off' }, 'also where it ends meanwhile');
});

t.test('a path that is no file is refused, for backups and for transfers, and a pipe is not waited for', async (t) => {
  const made = folder(t);
  const [pipe, inner] = [join(made, 'pipe'), join(made, 'folder')];
  execFileSync('mkfifo', [pipe]);
  mkdirSync(inner);
  await t.rejects(readTar(pipe), new NotWhole(pipe));
  await t.rejects(readTar(inner), { code: 'EISDIR' });
  for (const file of [pipe, inner]) await t.rejects(openPart(file), { message: 'It is not a file.' });
});

t.test('a backup is read to its end, which is two empty blocks', async (t) => {
  const file = tarOf(t, { a: 3, b: 512 });
  const tar = await readTar(file);
  t.strictSame(tar.entries, [
    { name: 'a', size: 3, offset: block },
    { name: 'b', size: 512, offset: 3 * block },
  ]);
  t.equal((await gathered(tar.read(tar.entries[0]!))).toString(), 'aaa');
  await tar.close();
  for (const end of [5 * block, 4 * block, 4 * block - 1, 3 * block - 1, block - 1, 0]) {
    truncateSync(file, end);
    await t.rejects(readTar(file), new NotWhole(file), `cut off after ${String(end)} bytes`);
  }
});
