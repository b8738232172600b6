// Snaps that mksquashfs packs, with every compression and setting.
import t from 'tap';
import { readSnap } from '#review/snaps/snap.ts';
import type { UploadBytes } from '#review/squashfs/source.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { asSnapPack, packWith, withoutSquashfsTools as skip } from '../mksquashfs.ts';
import { opened, pack, snapYaml } from '../packed.ts';
import type { FileTree } from '#test/fixtures/packages/squashfs-image.ts';

/** The refusals of a snap; none if it is accepted. */
function sentences(source: UploadBytes, name: string): string[] {
  try {
    readSnap(source, name);
    return [];
  } catch (error) {
    if (error instanceof Unacceptable) return error.sentences;
    throw error;
  }
}

t.test('every compression, with fragments and without, gives the same facts', { skip }, async (t) => {
  const tree: FileTree = {
    'meta/snap.yaml': snapYaml(
      'rich',
      `apps:\n  run: {command: bin/run}\ndescription: |\n${'  more text\n'.repeat(50)}`,
    ),
    'meta/gui/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'snap/snapcraft.yaml': 'name: rich\nbase: core24\n',
    'bin/run': '#!/bin/sh\necho hello\n',
  };
  const ways = [asSnapPack('xz'), asSnapPack('lzo')];
  for (const compression of ['xz', 'lzo', 'gzip', 'zstd', 'lz4']) {
    ways.push(['-comp', compression], ['-comp', compression, '-always-use-fragments']);
    ways.push(['-comp', compression, '-b', '4096'], ['-comp', compression, '-b', '1M', '-nopad']);
    ways.push(['-comp', compression, '-noI', '-noF'], ['-comp', compression, '-noD', '-no-fragments', '-no-exports']);
  }
  for (const options of ways) {
    const facts = readSnap(opened(t, packWith(t, tree, options)), 'rich');
    t.same(facts.apps, ['run'], options.join(' '));
    t.equal(facts.snapYaml, tree['meta/snap.yaml'], options.join(' '));
    t.equal(facts.craftYaml, tree['snap/snapcraft.yaml'], options.join(' '));
    t.equal(facts.icon && new TextDecoder().decode(facts.icon.bytes), tree['meta/gui/icon.svg'], options.join(' '));
  }
});

t.test('a long meta/snap.yaml is read over its blocks and fragment, up to 1 MiB', { skip }, async (t) => {
  const rest = '# each line of this comment says something else: ';
  const yaml = snapYaml('wordy') + Array.from({ length: 5000 }, (_, line) => `${rest}${String(line)}\n`).join('');
  for (const options of [
    asSnapPack('xz'),
    ['-comp', 'lzo', '-b', '4096', '-always-use-fragments'],
    ['-comp', 'zstd'],
  ]) {
    t.equal(readSnap(opened(t, packWith(t, { 'meta/snap.yaml': yaml }, options)), 'wordy').snapYaml, yaml);
  }
  const longest = snapYaml('wordy').padEnd(1 << 20, '#');
  t.equal(readSnap(opened(t, pack(t, { 'meta/snap.yaml': longest })), 'wordy').snapYaml.length, 1 << 20);
  const tooLong = `${longest}#`;
  t.same(sentences(opened(t, pack(t, { 'meta/snap.yaml': tooLong })), 'wordy'), [
    'meta/snap.yaml has 1048577 bytes, but at most 1048576 are read: shorten it.',
  ]);
});
