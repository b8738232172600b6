// The further files that a device reads of a snap beside snap.yaml: meta/snapshots.yaml, and the list of all files.
import t, { type Test } from 'tap';

import { readSnap } from '#review/snaps/snap.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import type { EntryTree } from '#test/fixtures/packages/squashfs-image.ts';
import { opened, pack, snapYaml } from './packed.ts';

/** The refusals of a snap with these files; none if it is accepted. */
function refusals(t: Test, tree: EntryTree, signed = false): string[] {
  try {
    readSnap(opened(t, pack(t, { 'meta/snap.yaml': snapYaml('harbour'), ...tree })), 'harbour', signed);
    return [];
  } catch (error) {
    if (error instanceof Unacceptable) return error.sentences;
    throw error;
  }
}

const withManifest = (t: Test, text: string | Uint8Array) => refusals(t, { 'meta/snapshots.yaml': text });

t.test('a snapshots.yaml that a device reads is taken', async (t) => {
  for (const text of [
    'exclude: [$SNAP_DATA/cache, $SNAP_USER_COMMON/*.log, $SNAP_COMMON]\n',
    'exclude:\n',
    '---\n',
    'other: 1\n',
    'exclude: []\n---\n[]\n',
  ])
    t.same(withManifest(t, text), [], text);
});

t.test('a snapshots.yaml that a device refuses is refused with the reason', async (t) => {
  for (const [text, sentence] of [
    ['', /^meta\/snapshots.yaml has no text .* remove the file/],
    ['# nothing\n', /has no text/],
    [new Uint8Array([0x61, 0xff]), /has no text in UTF-8/],
    ['exclude: [\n', /^meta\/snapshots.yaml is not the YAML that a device can read/],
    ['[]', /must be a mapping/],
    ['exclude: all', /'exclude' in meta\/snapshots.yaml must be a list of texts/],
    ['exclude: [$SNAP/x]', /'\$SNAP\/x', which must begin with \$SNAP_DATA, /],
    ['exclude: [~]', /the path '', which must begin with/],
    ['exclude: [$SNAP_DATAX/x]', /which must begin with/],
    ['exclude: [$SNAP_DATA/../x]', /which must be written as 'x'/],
    ['exclude: [$SNAP_DATA/]', /which must be written as '\$SNAP_DATA'/],
    ['exclude: ["$SNAP_DATA/a?"]', /a character that a device refuses/],
    ['exclude: ["$SNAP_DATA/**"]', /a character that a device refuses/],
  ] as const)
    t.match(withManifest(t, text), [sentence], String(text));
  t.match(refusals(t, { 'meta/snapshots.yaml': { kind: 'folder' } }), [/^meta\/snapshots.yaml must be a file/]);
  t.match(withManifest(t, '#'.repeat((1 << 20) + 1)), [/more than 1048576 bytes/]);
});

t.test('both files in meta are reported at once, and a link is not followed', async (t) => {
  t.match(
    refusals(t, { 'meta/snap.yaml': `${snapYaml('harbour')}title: ${'x'.repeat(41)}`, 'meta/snapshots.yaml': '' }),
    [/^The title/, /snapshots.yaml/],
  );
  t.same(refusals(t, { 'meta/snapshots.yaml': { link: 'gui/x' }, 'meta/gui/x': 'exclude: [x]' }), []);
  t.same(refusals(t, { 'meta/snapshots.yaml': '' }, true), [], 'a signature vouches for it');
});

t.test('a line break in a name or a target is refused wherever it is', async (t) => {
  t.match(refusals(t, { 'data/deep/a\nb': 'x' }), [/^'data\/deep\/a\ufffdb' in the snap has a line break/]);
  t.match(refusals(t, { 'a\nb': { kind: 'folder' } }), [/^'a.b' in the snap has a line break in its name/]);
  t.match(refusals(t, { 'data/link': { link: 'a\nb' } }), [/is a link with a line break in its target/]);
  t.same(refusals(t, { 'data/a\rb \t': 'x' }), [], 'other characters are no harm');
});

t.test('a link without a target is refused', async (t) => {
  t.match(refusals(t, { 'data/link': { link: '' } }), [/^'data\/link' in the snap is a link without a target/]);
});
