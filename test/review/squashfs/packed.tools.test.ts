// The images that the other tests pack themselves are valid squashfs: unsquashfs reads them, and finds the same files.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { withoutPrograms } from '#test/fixtures/programs.ts';
import { squashfsImage, type FileTree } from '#test/fixtures/packages/squashfs-image.ts';
import { noise } from '../packed.ts';

t.test('unsquashfs reads every file of a packed image', { skip: withoutPrograms('unsquashfs') }, async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 900 }, (_, at) => [`many/${'long-'.repeat(8)}${String(at)}`, String(at)]),
  );
  const tree: FileTree = {
    'meta/snap.yaml': 'name: packed\nversion: 1\n',
    'meta/gui/icon.svg': '<svg/>',
    empty: '',
    'bin/large': noise(300_001),
    'bin/start': { link: '../meta/snap.yaml' },
    ...many,
  };
  const folder = t.testdir({});
  const image = join(folder, 'image.snap');
  writeFileSync(image, squashfsImage(tree));
  const place = join(folder, 'read');
  execFileSync('unsquashfs', ['-quiet', '-no-progress', '-dest', place, image], { stdio: 'pipe' });
  for (const [path, content] of Object.entries(tree)) {
    const file = join(place, path);
    if (typeof content === 'object' && 'link' in content) t.equal(readlinkSync(file), content.link, path);
    else t.ok(existsSync(file) && readFileSync(file).equals(Buffer.from(content)), path);
  }
});
