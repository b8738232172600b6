// Images that mksquashfs packs, with any change.
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { asSnapPack, grow, packFolder, withoutSquashfsTools } from '../mksquashfs.ts';
import { long, noise, snapYaml } from '../packed.ts';
import { tried, check } from './hostile-world.ts';

t.test('rich images with any change come to an end', { skip: withoutSquashfsTools }, async (t) => {
  const runs = long ? 200_000 : 1500;
  const folder = join(t.testdir({}), 'rich');
  const yaml = snapYaml('tiny-app', `description: |\n${'  A long line of text.\n'.repeat(2000)}`);
  grow(folder, {
    'meta/snap.yaml': yaml,
    'meta/gui/icon.svg': `<svg>${'x'.repeat(9000)}</svg>`,
    'snap/snapcraft.yaml': 'a: b',
  });
  for (let at = 0; at < 300; at++) grow(folder, { [`meta/file-${String(at)}`]: noise(at), [`file-${String(at)}`]: '' });
  const images = [
    asSnapPack('xz'),
    ['-comp', 'gzip', '-noI', '-noF', '-b', '4096'],
    ['-comp', 'lzo', '-b', '4096'],
    ['-comp', 'lzo', '-noI', '-always-use-fragments', '-b', '1M'],
    ['-comp', 'zstd', '-noI', '-b', '4096'],
    ['-comp', 'xz', '-b', '4096', '-noI', '-tailends'],
  ].map((options) => new Uint8Array(readFileSync(packFolder(folder, options))));
  check(t, await tried(images, runs, 2), runs);
});
