import { readFileSync } from 'node:fs';
import t from 'tap';
import { readSnap } from '#review/snaps/snap.ts';
import type { UploadBytes } from '#review/squashfs/source.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { expected, snapBytes, snapNames, snapPath } from '../fixtures.ts';
import { inMemory, opened, pack, snapYaml } from '../packed.ts';
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

t.test('every snap made by mksquashfs is read as its maker meant it', async (t) => {
  t.same([...snapNames].sort(), Object.keys(expected).sort());
  for (const [file, { fields }] of Object.entries(expected)) {
    if (!fields || file === 'bad-name') continue;
    const facts = readSnap(opened(t, snapPath(file)), fields.name);
    t.match(facts, fields, file);
    t.match(facts, { summary: 's', description: 'd', title: null, epoch: null, craftYaml: null, icon: null }, file);
    t.ok(facts.snapYaml.startsWith(`name: ${fields.name}\n`), file);
  }
});

t.test('a snap that no device could install is refused with the reason', async (t) => {
  t.match(sentences(opened(t, snapPath('no-snap-yaml')), 'tiny-app'), [/no meta\/snap\.yaml/]);
  t.match(sentences(opened(t, snapPath('bad-name')), 'tiny-app'), [/The name 'Bad_Name' .* not possible/]);
});

t.test('a snap goes only to the package with its name', async (t) => {
  t.same(sentences(opened(t, snapPath('app-xz')), 'other-app'), [
    "The snap is called 'tiny-app' in meta/snap.yaml, but was pushed to 'other-app'. Push it to 'tiny-app', or change the name in it.",
  ]);
});

t.test('a file that is no snap is refused as such', async (t) => {
  const image = snapBytes('app-xz');
  t.match(sentences(inMemory(new Uint8Array()), 'x'), [/The file is not a snap/]);
  t.match(sentences(inMemory(new TextEncoder().encode('#!/bin/sh\n'.repeat(100))), 'x'), [/The file is not a snap/]);
  t.match(sentences(inMemory(image.subarray(0, 95)), 'x'), [/The file is not a snap/]);
  t.match(sentences(inMemory(image.subarray(0, 400)), 'tiny-app'), [/The file is cut short: .* 400 were uploaded/]);
  const old = image.slice();
  old[28] = 3;
  t.match(sentences(inMemory(old), 'tiny-app'), [/squashfs image of version 3\.0/]);
  const lzma = image.slice();
  lzma[20] = 2;
  t.match(sentences(inMemory(lzma), 'tiny-app'), [/compressed with lzma/]);
});

t.test('padding and integrity data after the image are not looked at', async (t) => {
  const image = snapBytes('app-xz');
  const longer = new Uint8Array(16_384).fill(0xa5);
  longer.set(image);
  t.equal(readSnap(inMemory(longer), 'tiny-app').version, '1.10');
});

t.test('links that lead out of the snap are not followed', async (t) => {
  const refused = (tree: FileTree) => sentences(opened(t, pack(t, tree)), 'tiny-app');
  t.match(refused({ 'meta/snap.yaml': { link: '../other.yaml' }, 'other.yaml': snapYaml('tiny-app') }), [
    /meta\/snap\.yaml in the snap is a symbolic link to '\.\.\/other\.yaml', but must be a file/,
  ]);
  t.match(refused({ meta: { link: 'other' }, 'other/snap.yaml': snapYaml('tiny-app') }), [
    /'meta' in the snap is a symbolic link to 'other', but must be a directory/,
  ]);
  t.match(refused({ meta: snapYaml('tiny-app') }), [/'meta' in the snap is a file, but must be a directory/]);
  t.match(refused({ 'meta/snap.yaml/x': '' }), [/meta\/snap\.yaml in the snap is a directory, but must be a file/]);
  t.match(refused({ 'meta/gui/icon.png': '' }), [/no meta\/snap\.yaml/]);
  t.match(refused({ 'bin/run': '' }), [/no meta\/snap\.yaml/]);

  const yaml = { 'meta/snap.yaml': snapYaml('tiny-app') };
  t.same(refused({ ...yaml, 'meta/gui/icon.png': { link: '/etc/hostname' } }), [
    "'meta/gui/icon.png' in the snap is a link to '/etc/hostname', out of the snap: put the file there.",
  ]);
  const packed = pack(t, { ...yaml, 'snap/snapcraft.yaml': { link: '../meta/snap.yaml' } });
  t.match(readSnap(opened(t, packed), 'tiny-app'), { icon: null, craftYaml: null });
});

t.test('the icon is the first file that is a picture, and the review names the others with the reason', async (t) => {
  const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0);
  const readIcon = (tree: FileTree, signed = true) => {
    const image = pack(t, { 'meta/snap.yaml': snapYaml('tiny-app'), ...tree });
    const { icon, notices } = readSnap(opened(t, image), 'tiny-app', signed);
    return { type: icon?.mediaType, notices };
  };
  const used = { type: 'image/jpeg', notices: [] };
  for (const name of ['icon.png', 'icon.jpg', 'icon.jpeg', 'icon.svg'])
    t.same(readIcon({ [`meta/gui/${name}`]: jpeg }), used, name);
  t.same(readIcon({ 'meta/gui/icon.gif': 'GIF89a' }), { type: undefined, notices: [] }, 'nobody calls that an icon');
  t.same(readIcon({ 'meta/gui/icon.svg': '<svg/>', 'meta/gui/icon.jpg': jpeg }), used, 'pixels come first');

  for (const link of ['../../share/a.jpg', 'real.jpg', './../gui/real.jpg', '../gui//real.jpg'])
    t.same(
      readIcon({ 'share/a.jpg': jpeg, 'meta/gui/real.jpg': jpeg, 'meta/gui/icon.png': { link } }, false),
      used,
      `a link to ${link}`,
    );
  for (const link of [
    '/share/a.jpg',
    '../../../share/a.jpg',
    '../../..',
    '../..',
    '.',
    '',
    'none',
    'again',
    'folder/a.jpg',
  ]) {
    const tree = { 'share/a.jpg': jpeg, 'meta/gui/again': { link: '../../share/a.jpg' } };
    const folder = { 'meta/gui/folder': { link: '../../share' } };
    const { type, notices } = readIcon({ ...tree, ...folder, 'meta/gui/icon.png': { link } });
    t.equal(type, undefined, `a link to ${link}`);
    t.match(notices, [
      `icon.png is not used as the icon: it is a link to '${link}', which is no file in the snap. Use an`,
    ]);
  }
  for (const [content, reason] of [
    ['', 'it is empty'],
    ['GIF89a', 'it is neither a PNG nor a JPEG nor an SVG'],
    ['<svg><script/></svg>', "as an SVG, it has an element 'script'"],
    [new Uint8Array(300_001), 'it has 300001 bytes'],
  ] as const) {
    t.same(readIcon({ 'meta/gui/icon.png': content, 'meta/gui/icon.svg': '<svg/>' }), {
      type: 'image/svg+xml',
      notices: [
        `meta/gui/icon.png is not used as the icon: ${reason}. Use an SVG, or a PNG or JPEG with sides of 16 to 2048 pixels, of at most 300000 bytes.`,
      ],
    });
  }
  t.match(readIcon({ 'meta/gui/icon.png/x': 'x' }).notices, [/it is not a file/]);
});

t.test('the icon and the snapcraft.yaml are kept if they are of the expected type', async (t) => {
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 1, 2);
  const readTree = (tree: FileTree) =>
    readSnap(opened(t, pack(t, { 'meta/snap.yaml': snapYaml('tiny-app'), ...tree })), 'tiny-app');
  const { icon } = readTree({ 'meta/gui/icon.png': png, 'meta/gui/icon.svg': '<svg/>' });
  t.equal(icon?.mediaType, 'image/png');
  t.same(icon?.bytes, png);
  t.equal(icon?.bytes.buffer.byteLength, png.length, 'nothing else crosses to the other thread with it');
  t.equal(readTree({ 'meta/gui/icon.png': 'GIF89a', 'meta/gui/icon.svg': '<svg/>' }).icon?.mediaType, 'image/svg+xml');
  t.equal(readTree({ 'meta/gui/icon.png': '' }).icon, null);
  t.equal(readTree({ 'meta/gui/icon.svg': 'text' }).icon, null);
  const large = new Uint8Array((1 << 20) + 1);
  large.set([...png.subarray(0, 8), 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 1, 0, 0, 0, 1, 0]);
  t.equal(readTree({ 'meta/gui/icon.png': large }).icon, null);
  t.equal(
    readTree({ 'meta/gui/icon.png': large.subarray(0, 300_001) }).icon,
    null,
    'snapd fetches none that is larger',
  );
  t.equal(readTree({ 'meta/gui/icon.png': large.subarray(0, 300_000) }).icon?.bytes.length, 300_000);

  t.equal(readTree({ 'meta/snapcraft.yaml': 'a: b\n' }).craftYaml, 'a: b\n');
  t.equal(readTree({ 'snap/snapcraft.yaml': 'c: d\n', 'meta/snapcraft.yaml': 'a: b\n' }).craftYaml, 'c: d\n');
  t.equal(readTree({ 'snap/snapcraft.yaml': Uint8Array.of(0xff, 0xfe) }).craftYaml, null);
  t.equal(readTree({ 'snap/snapcraft.yaml': large }).craftYaml, null);
});

t.test('the address of the build is the one in the manifest, if it is a web address', async (t) => {
  const readBuildUrl = (manifest: string | Uint8Array) =>
    readSnap(opened(t, pack(t, { 'meta/snap.yaml': snapYaml('tiny-app'), 'snap/manifest.yaml': manifest })), 'tiny-app')
      .buildUrl;
  const naming = (url: string) => `name: tiny-app\nimage-info:\n  build-request-id: lp-1\n  build_url: ${url}\n`;
  t.equal(readBuildUrl(naming('https://builds.example.com/~ada/+build/7')), 'https://builds.example.com/~ada/+build/7');
  t.equal(readBuildUrl(naming('http://farm.internal:8080/7')), 'http://farm.internal:8080/7');
  for (const other of [
    'javascript:alert(1)',
    'file:///etc/passwd',
    '/7',
    '"https://x/\\u202e"',
    '[a]',
    '~',
    '"https://x y"',
  ]) {
    t.equal(readBuildUrl(naming(other)), null, other);
  }
  t.equal(readBuildUrl(naming(`https://x/${'y'.repeat(2000)}`)), null);
  for (const other of [
    '',
    'image-info: text\n',
    '- list\n',
    '{',
    '&a [*a]',
    Uint8Array.of(0xff),
    naming('https://x').padEnd(2 ** 20 + 1, '#'),
  ]) {
    t.equal(readBuildUrl(other), null, String(other).slice(0, 40));
  }
});

t.test('a meta/snap.yaml that is no text is refused', async (t) => {
  const refused = (yaml: string | Uint8Array) => sentences(opened(t, pack(t, { 'meta/snap.yaml': yaml })), 'x');
  t.match(refused(Uint8Array.of(0x6e, 0xc3, 0x28)), [/not text in UTF-8/]);
  t.match(refused(''), [/must be a mapping/]);
  t.match(refused(new Uint8Array(1 << 20)), [/not the YAML that a device can read/]);
});

t.test('expected.json is about the files beside it', async (t) => {
  for (const name of snapNames) t.equal(readFileSync(snapPath(name)).length, 4096);
});
