// Components of snaps: a component that no device could install in the role declared by its snap is refused with a
// sentence.
import t from 'tap';

import { checkComponent } from '#review/snaps/component.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { componentFile } from '#test/fixtures/packages/components.ts';
import { squashfsImage, type FileTree } from '#test/fixtures/packages/squashfs-image.ts';
import { inMemory } from '../packed.ts';

/** The problems of a file that is pushed as the component `words` of `tiny-app`. */
function faultsOf(file: Uint8Array, type = 'standard'): readonly string[] {
  try {
    checkComponent(inMemory(file), 'tiny-app', { name: 'words', type });
    return [];
  } catch (error) {
    if (error instanceof Unacceptable) return error.sentences;
    throw error;
  }
}

const ofYaml = (yaml: string, type?: string): readonly string[] =>
  faultsOf(squashfsImage({ 'meta/component.yaml': yaml }), type);
const head = 'component: tiny-app+words\ntype: standard\n';

t.test('a component that a device installs is taken', async (t) => {
  for (const type of ['standard', 'test', 'kernel-modules'])
    t.same(faultsOf(componentFile('tiny-app+words', { type }), type), [], type);
  for (const more of [
    '',
    "version: '1.0+git-3~x'\n",
    'version: 1.10\n',
    'version:\nsummary: ~\n',
    "version: ''\n",
    'provenance: my-builds\n',
    `summary: ${'é'.repeat(128)}\ndescription: ${'é'.repeat(4096)}\n`,
    '---\nunknown: in the second document\n',
  ])
    t.same(ofYaml(head + more), [], more.slice(0, 60));
  const files = { 'meta/hooks/install': '#!/bin/sh', 'meta/hooks/unknown': '#!/bin/sh', 'data/link': { link: '/etc' } };
  t.same(faultsOf(componentFile('tiny-app+words', { files })), [], 'files and hooks, also those that a device ignores');
});

t.test('a component.yaml that a device refuses is refused with the reason', async (t) => {
  // Each of them is refused by InfoFromComponentYaml in snap/component.go of snapd (commit 01f4cca597cc), which Debian's library lacks.
  for (const [yaml, reason] of [
    ['', /must be a mapping, with lines such as 'component: tiny-app\+words'/],
    ['- component', /must be a mapping/],
    ['type: [standard', /is not the YAML that a device can read: .* in line 2/],
    ['type: standard\n', /is called '' .* pushed as 'tiny-app\+words'/],
    ['component: tiny-app+words\n', /the type '' .* declares 'words' as 'standard'/],
    ['component: words\ntype: standard\n', /is called 'words'/],
    ['component: tiny-app+words+more\ntype: standard\n', /is called 'tiny-app\+words\+more'/],
    ['component: Tiny-app+words\ntype: standard\n', /is called 'Tiny-app\+words'/],
    ['component: [tiny-app, words]\ntype: standard\n', /'component' in meta\/component.yaml must be one text/],
    ['component: tiny-app+words\ntype: firmware\n', /the type 'firmware'/],
    [`${head}summary: ${'x'.repeat(129)}\n`, /summary in meta\/component.yaml has more than 128 characters/],
    [`${head}description: ${'x'.repeat(4097)}\n`, /description .* has more than 4096 characters/],
    [`${head}description: {a: b}\n`, /'description' .* must be one text/],
    [`${head}version: 1.0-\n`, /The version '1.0-' in meta\/component.yaml is not possible/],
    [`${head}version: ${'1'.repeat(33)}\n`, /The version '1+' in/],
    [`${head}provenance: global-upload\n`, /'provenance' in meta\/component.yaml is 'global-upload'/],
    [`${head}provenance: a--b\n`, /The provenance 'a--b' in meta\/component.yaml/],
    [`${head}hooks: {install: {}}\n`, /has the key 'hooks', which no device knows/],
    [`${head}Summary: s\n`, /has the key 'Summary'/],
    [`${head}1: s\n`, /has the key '1'/],
    [`${head}type: standard\n`, /has a key twice/],
  ] as const) {
    const faults = ofYaml(yaml);
    t.equal(faults.length, yaml.includes('[tiny-app') ? 2 : 1, yaml.slice(0, 60));
    t.match(faults[0], reason);
  }
  t.match(ofYaml(`component: other+words\ntype: test\nname: x\n`), [/the key 'name'/, /is called/, /the type 'test'/]);
});

t.test('a component.yaml that a device could not open is refused', async (t) => {
  const ofFiles = (files: FileTree): readonly string[] => faultsOf(squashfsImage(files));
  const yaml = 'meta/component.yaml';
  t.match(ofFiles({ x: '' }), [/The component has no meta\/component.yaml: make it with 'snap pack' or snapcraft/]);
  t.match(ofFiles({ 'component.yaml': head }), [/The component has no meta\/component.yaml/]);
  t.match(ofFiles({ meta: head }), [/'meta' in the component is a file, but must be a directory/]);
  t.match(ofFiles({ meta: { link: 'real' }, 'real/component.yaml': head }), [/is a symbolic link to 'real'/]);
  t.match(ofFiles({ [yaml]: { link: '../real' }, real: head }), [/must be a file of its own/]);
  t.match(ofFiles({ [`${yaml}/x`]: head }), [/is a directory, but must be a file/]);
  t.match(ofFiles({ [yaml]: Buffer.from([0xff]) }), [/is not text in UTF-8/]);
  t.match(ofFiles({ [yaml]: 'x'.repeat((1 << 20) + 1) }), [/at most 1048576 are read/]);
  t.match(ofFiles({ 'meta/snap.yaml': 'name: tiny-app' }), [/The file is a snap, but was pushed as a component/]);
  t.match(ofFiles({ [yaml]: head, 'meta/link': { link: '/etc/passwd' } }), [/a link to '\/etc\/passwd', out of the/]);
});
