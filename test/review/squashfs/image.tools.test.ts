import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readSnap } from '#review/snaps/snap.ts';
import { openImage, type Image } from '#review/squashfs/image.ts';
import type { Directory } from '#review/squashfs/inode.ts';
import { asSnapPack, grow, packFolder, withoutSquashfsTools as skip } from '../mksquashfs.ts';
import { noise, opened, snapYaml } from '../packed.ts';

/** Every path of an image with its content: the bytes of a file, the target of a link, or the kind of another entry. */
function* everything(image: Image, directory: Directory, path = ''): Generator<[string, Uint8Array | string]> {
  for (const entry of image.entries(directory)) {
    const inode = image.inode(entry);
    const place = join(path, Buffer.from(entry.name, 'latin1').toString('utf8'));
    if (inode.kind === 'directory') {
      yield [place, 'directory'];
      yield* everything(image, inode, place);
    } else if (inode.kind === 'file') yield [place, image.read(inode, 1 << 30)];
    else yield [place, inode.kind === 'symlink' ? `link ${inode.target}` : inode.kind];
  }
}

/** The same of a folder on disk. */
function* everythingOnDisk(folder: string, path = ''): Generator<[string, Uint8Array | string]> {
  const names = readdirSync(join(folder, path)).map((name) => Buffer.from(name));
  for (const name of names.sort((a, b) => a.compare(b))) {
    const place = join(path, name.toString('utf8'));
    const stats = lstatSync(join(folder, place));
    if (stats.isDirectory()) {
      yield [place, 'directory'];
      yield* everythingOnDisk(folder, place);
    } else if (stats.isFile()) yield [place, new Uint8Array(readFileSync(join(folder, place)))];
    else yield [place, stats.isSymbolicLink() ? `link ${readlinkSync(join(folder, place))}` : 'special'];
  }
}

/** A folder with something of every kind that a reader can trip over. */
function richFolder(folder: string): string {
  const words = Array.from({ length: 30_000 }, (_, at) => `line ${String((at * 7919) % 1009)} of many`).join('\n');
  grow(folder, {
    'meta/snap.yaml': snapYaml('rich'),
    'bin/words': words,
    'bin/noise': noise(300_001),
    'bin/empty': '',
    'bin/one': 'x',
    'bin/exact-4k': noise(4096, 2),
    'bin/exact-128k': words.slice(0, 131_072),
    'bin/mixed': Buffer.concat([
      noise(140_000, 3),
      Buffer.from(words),
      noise(9_000, 4),
      new Uint8Array(200_000),
      Buffer.from('end'),
    ]),
    'bin/zeros': new Uint8Array(500_000),
    'lib/link': { link: '../bin/words' },
    'lib/dangling': { link: 'ü'.repeat(100) },
    'ünïcode/ﬁle 名前': 'name in UTF-8',
    [`long/${'n'.repeat(255)}`]: 'long name',
    'deep/a/b/c/d/e/f/g/h/i/j/k/file': 'deep',
  });
  mkdirSync(join(folder, 'void'));
  linkSync(join(folder, 'bin/words'), join(folder, 'lib/hard-words'));
  linkSync(join(folder, 'bin/words'), join(folder, 'lib/hard-words-2'));
  for (let at = 0; at < 600; at++)
    grow(folder, { [`crowd/${'some-long-name-'.repeat(4)}${String(at)}`]: `number ${String(at)}` });
  writeFileSync(join(folder, 'holes'), 'begin');
  truncateSync(join(folder, 'holes'), 3_000_000);
  writeFileSync(join(folder, 'holes'), 'end', { flag: 'a' });
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  return folder;
}

t.test('every file is unpacked byte for byte as by unsquashfs', { skip }, async (t) => {
  const base = t.testdir({});
  const folder = richFolder(join(base, 'rich'));
  const ways = [
    asSnapPack('xz'),
    asSnapPack('lzo'),
    ['-comp', 'xz', '-b', '4096', '-always-use-fragments'],
    ['-comp', 'xz', '-b', '1M'],
    ['-comp', 'xz', '-b', '1M', '-Xdict-size', '50%'],
    ['-comp', 'lzo', '-b', '1M', '-Xalgorithm', 'lzo1x_1_15'],
    ['-comp', 'lzo', '-b', '4096', '-Xalgorithm', 'lzo1x_1'],
    ['-comp', 'gzip', '-noI', '-noF', '-b', '64K'],
    ['-comp', 'gzip', '-noD', '-no-fragments'],
    ['-comp', 'zstd', '-b', '1M', '-Xcompression-level', '22'],
    ['-comp', 'zstd', '-b', '4096', '-no-duplicates', '-tailends'],
  ];
  for (const [index, options] of ways.entries()) {
    const path = packFolder(folder, options);
    const image = openImage(opened(t, path));
    const actual = new Map(everything(image, image.root));
    // Unpacking is slow: the folder itself replaces the output, except once.
    let reference = folder;
    if (index === 0) {
      reference = join(base, 'unpacked');
      execFileSync('unsquashfs', ['-quiet', '-no-progress', '-dest', reference, path], { stdio: 'pipe' });
    }
    const expected = new Map(everythingOnDisk(reference));
    const different = [...expected].filter(([place, content]) => !same(content, actual.get(place)));
    t.same([...actual.keys()].sort(), [...expected.keys()].sort(), options.join(' '));
    t.same(different, [], options.join(' '));
    t.equal(readSnap(opened(t, path), 'rich').name, 'rich');
  }
});

function same(a: Uint8Array | string, b: Uint8Array | string | undefined): boolean {
  return typeof a === 'string' ? a === b : b instanceof Uint8Array && Buffer.compare(a, b) === 0;
}

t.test('inodes with extended attributes and hard links are read', { skip }, async (t) => {
  const folder = join(t.testdir({}), 'attributes');
  grow(folder, { 'meta/snap.yaml': snapYaml('attributes'), 'meta/gui/icon.svg': '<svg/>' });
  linkSync(join(folder, 'meta/snap.yaml'), join(folder, 'same.yaml'));
  try {
    for (const place of ['meta', 'meta/snap.yaml', 'meta/gui/icon.svg']) {
      execFileSync('python3', [
        '-c',
        'import os,sys; os.setxattr(sys.argv[1], "user.note", b"x" * 100)',
        join(folder, place),
      ]);
    }
  } catch {
    t.comment('no extended attributes can be set here: only hard links are tried');
  }
  for (const options of [
    ['-comp', 'xz', '-xattrs'],
    ['-comp', 'lzo', '-noI', '-xattrs'],
  ]) {
    const facts = readSnap(opened(t, packFolder(folder, options)), 'attributes');
    t.equal(facts.icon?.mediaType, 'image/svg+xml');
  }
  t.ok(existsSync(`${folder}.snap`));
});

t.test('code compressed with a filter for it is refused with the way out', { skip }, async (t) => {
  const folder = join(t.testdir({}), 'filtered');
  // The filter for x86 pays where many calls go to one place, so its maker will choose it.
  const calls = Buffer.alloc(60_000, 0x90);
  for (let at = 0; at + 5 < calls.length; at += 11) {
    calls[at] = 0xe8;
    calls.writeInt32LE(40_000 - at, at + 1);
  }
  grow(folder, { 'meta/snap.yaml': snapYaml('filtered'), 'snap/snapcraft.yaml': calls });
  const path = packFolder(folder, ['-comp', 'xz', '-Xbcj', 'x86', '-no-fragments']);
  t.throws(() => readSnap(opened(t, path), 'filtered'), { message: /an xz filter for machine code.*without -Xbcj/ });
});
