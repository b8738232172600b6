import { lstatSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readSnap } from '#review/snaps/snap.ts';
import { openImage } from '#review/squashfs/image.ts';
import { asSnapPack, grow, packFolder, withoutSquashfsTools as skip } from '../mksquashfs.ts';
import { long, noise, opened, snapYaml } from '../packed.ts';
import { cpuWatch } from '#test/fixtures/cpu.ts';

if (long) t.setTimeout(600_000);

t.test('a directory of 100,000 files is no obstacle', { skip }, async (t) => {
  const folder = join(t.testdir({}), 'many');
  const meta = join(folder, 'meta');
  grow(folder, { 'meta/snap.yaml': snapYaml('many'), 'meta/gui/icon.svg': '<svg/>' });
  const shared = join(folder, 'meta/0');
  writeFileSync(shared, '');
  const count = 100_000;
  for (let at = 0; at < count; at++) writeFileSync(join(meta, `file-${String(at)}`), '');
  const path = packFolder(folder, asSnapPack('xz'));
  const cpu = cpuWatch();
  const facts = readSnap(opened(t, path), 'many');
  const took = cpu();
  t.equal(facts.icon?.mediaType, 'image/svg+xml');
  t.comment(`${String(count)} files in one directory, xz: ${took.toFixed(0)} ms`);
  const image = openImage(opened(t, path));
  const inode = image.find(image.root, ['meta']).get('meta');
  t.equal(inode?.kind === 'directory' && [...image.entries(inode)].length, count + 3);
});

t.test('gigabytes of zeros in a small snap are not even looked at', { skip }, async (t) => {
  const folder = join(t.testdir({}), 'bomb');
  grow(folder, { 'meta/snap.yaml': snapYaml('bomb'), 'meta/gui/icon.png': '', zeros: '' });
  const size = long ? 2 ** 31 : 2 ** 27;
  truncateSync(join(folder, 'zeros'), size);
  truncateSync(join(folder, 'meta/gui/icon.png'), size);
  t.match(readSnap(opened(t, packFolder(folder, asSnapPack('xz'))), 'bomb'), { name: 'bomb', icon: null });
  t.ok(lstatSync(`${folder}.snap`).size <= (long ? 65_536 : 16_384));
  truncateSync(join(folder, 'meta/snap.yaml'), size);
  t.throws(() => readSnap(opened(t, packFolder(folder, asSnapPack('xz'))), 'bomb'), {
    message: /at most 1048576 are read/,
  });
});

t.test('the time to read a snap does not grow with its size', { skip }, async (t) => {
  const folder = join(t.testdir({}), 'large');
  const megabytes = long ? 500 : 50;
  grow(folder, { 'meta/snap.yaml': snapYaml('large'), 'bin/start': '' });
  for (let at = 0; at < megabytes; at++)
    writeFileSync(join(folder, 'bin/start'), noise(1 << 20, at + 1), { flag: 'a' });
  const path = packFolder(folder, ['-comp', 'lzo', '-Xalgorithm', 'lzo1x_1', '-no-fragments']);
  t.ok(lstatSync(path).size > megabytes << 20);
  const source = opened(t, path);
  let read = 0;
  const counted = {
    size: source.size,
    read: (at: number, length: number) => ((read += length), source.read(at, length)),
  };
  const cpu = cpuWatch();
  t.equal(readSnap(counted, 'large').name, 'large');
  t.comment(`${String(megabytes)} MB: ${cpu().toFixed(1)} ms, ${String(read)} bytes read`);
  t.ok(read < 65_536);
});
