// Packages that were made to do harm: each is refused or read, with a sentence, quickly and in little memory.
// Own process: it watches the memory of the process.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import t from 'tap';

import { createSeededNumbers } from '#domain/seeded-numbers.ts';

import type { PackageType } from '#domain/packages/namespace.ts';
import { kindOf } from '#jobs/uploads/findings.ts';
import { createReviewer } from '#review/reviewer.ts';
import type { ReviewUpload, ReviewVerdict } from '#review/verdict.ts';
import { startWorker } from '#platform/embedded.ts';
import { charm, rock, sha256, tar, zip, type TarEntry, type ZipEntry } from '#test/fixtures/packages/archives.ts';
import { snapFixture } from '#test/fixtures/appliance.ts';
import { componentFile } from '#test/fixtures/packages/components.ts';
import { cpuWatch } from '#test/fixtures/cpu.ts';
import { isLongLane } from '#test/fixtures/large.ts';
import { squashfsImage, type FileTree } from '#test/fixtures/packages/squashfs-image.ts';

/** How a file is pushed: as a package, or as a component of a snap. */
type PushedAs = PackageType | 'component';

interface Hostile {
  type: PushedAs;
  what: string;
  /** Only packages that are reviewed are made. */
  content: () => Buffer;
  /** Whether it may also be accepted: damage in places that are not read does no harm. */
  either?: boolean;
}

t.setTimeout(600_000);

const long = process.env['LARDER_LONG'] === '1';
const slowest = 2000;
const largest = 64 * 2 ** 20;

const metadata = 'name: hello\nsummary: s\ndescription: d\n';
const bundle = 'name: hello\napplications: {a: {charm: a}}\n';
const readme: ZipEntry = { name: 'README.md', content: '# hello' };

/** Archives with hostile entries, beside a file that makes them a charm or a bundle. */
function* archives(type: 'charm' | 'bundle', sound: ZipEntry): Generator<Hostile> {
  const bad = (label: string, ...entries: ZipEntry[]): Hostile => ({
    type,
    what: label,
    content: () => zip([sound, ...entries]),
  });
  for (const name of [
    '../evil',
    'a/../../evil',
    '/etc/passwd',
    '..',
    'a//b',
    './a',
    'C:/x',
    'a\\..\\b',
    'a\nb',
    'a\0b',
    'x'.repeat(1025),
    'a/'.repeat(50) + 'b',
    '',
  ]) {
    yield bad(`the name ${JSON.stringify(name.slice(0, 30))}`, { name, content: 'x' });
  }
  for (const target of ['/etc/passwd', '../x', '../../../../etc/shadow', 'a/../../x', '', 'x'.repeat(2000)]) {
    yield bad(`a link to ${target.slice(0, 30)}`, { name: 'link', content: target, mode: 0o120777 });
  }
  for (const mode of [0o020644, 0o060644, 0o010644, 0o140644])
    yield bad(`mode ${mode.toString(8)}`, { name: 'odd', mode });
  const zeros = Buffer.alloc(16 << 20);
  yield bad('a bomb', ...Array.from({ length: 20 }, (_, at) => ({ name: `bomb${at}`, content: zeros })));
  yield bad('a bomb that lies', { name: 'bomb', content: zeros, says: { size: 2 ** 32 - 2 } });
  yield bad(
    'entries that overlap',
    ...Array.from({ length: 200 }, (_, at) => ({
      name: `over${at}`,
      content: 'x'.repeat(50),
      says: { packedSize: 4000, offset: 0 },
    })),
  );
  yield {
    ...bad('40,000 entries', ...Array.from({ length: 40_000 }, (_, at) => ({ name: `d/${at}` }))),
    either: true,
  };
  yield bad(
    '3,000 links',
    ...Array.from({ length: 3000 }, (_, at) => ({ name: `l${at}`, content: 'x', mode: 0o120777 })),
  );
  yield { ...bad('an archive in an archive', { name: 'inner.charm', content: charm('hello') }), either: true };
}

function* zips(): Generator<Hostile> {
  yield* archives('charm', { name: 'metadata.yaml', content: metadata });
  yield* archives('bundle', { name: 'bundle.yaml', content: bundle });
  yield* againstJujusRules();
  const bad = (label: string, content: () => Buffer): Hostile => ({ type: 'charm', what: label, content });
  for (const file of [
    'metadata.yaml',
    'manifest.yaml',
    'charmcraft.yaml',
    'actions.yaml',
    'config.yaml',
    'metrics.yaml',
    'lxd-profile.yaml',
  ]) {
    const others = file === 'metadata.yaml' ? [] : [{ name: 'metadata.yaml', content: metadata }];
    yield bad(`${file} as a link`, () =>
      zip([...others, { name: file, content: 'dispatch', mode: 0o120777 }, { name: 'dispatch', content: 'x' }]),
    );
    yield bad(`${file} twice`, () =>
      zip([
        { name: 'metadata.yaml', content: metadata },
        { name: file, content: 'a: b' },
        { name: file, content: 'c: d' },
      ]),
    );
    yield bad(`${file} as a file and a directory`, () =>
      zip([...others, { name: file, content: metadata }, { name: `${file}/x`, content: 'x' }]),
    );
    for (const [label, content, either = false] of hostileYaml()) {
      // charmcraft.yaml is kept as it is.
      const isKept = file === 'charmcraft.yaml';
      yield { ...bad(`${file}: ${label}`, () => zip([...others, { name: file, content }])), either: either || isKept };
    }
    const size = 3 << 20;
    yield bad(`${file} of 3 MiB`, () => zip([...others, { name: file, content: `a: ${'x'.repeat(size)}` }]));
    for (const says of [
      { size: 10 },
      { size: 2 ** 32 - 2 },
      { packedSize: 5 },
      { packedSize: 2 ** 31 },
      { crc: 7 },
      { method: 12 },
      { flags: 1 },
      { offset: 2 ** 31 },
      { offset: 3 },
    ]) {
      yield bad(`${file} saying ${JSON.stringify(says)}`, () =>
        zip([...others, { name: file, content: `a: ${'b'.repeat(1000)}`, says }]),
      );
    }
  }
  const zeros = Buffer.alloc(16 << 20);
  yield bad('a bomb in metadata.yaml', () => zip([{ name: 'metadata.yaml', content: zeros, says: { size: 1000 } }]));
  yield bad('60,000 entries', () => zip(Array.from({ length: 60_000 }, (_, at) => ({ name: `f${at}` }))));
  yield bad('another name', () => charm('other'));
  yield bad('no metadata', () => zip({ dispatch: 'x' }));
  yield bad('nothing', () => Buffer.alloc(0));
  yield bad('an empty archive', () => zip({}));
  yield bad('no archive', () => Buffer.from('PK'.repeat(5000)));
  for (const head of ['hsqs', '\x1f\x8b', 'PK\x05\x06', '<html>', 'name: hello\n', '\x7fELF', 'BZh', ' '.repeat(600)])
    yield bad(`begins with ${JSON.stringify(head.slice(0, 12))}`, () => Buffer.from(head, 'latin1'));
  yield bad('no UTF-8', () => zip({ 'metadata.yaml': Buffer.from([0x6e, 0xff, 0xfe]) }));
  for (const [label, resources] of [
    ['a list', 'resources: [a]'],
    ['a name', 'resources: {"../x": {type: file}}'],
    ['a type', 'resources: {x: {type: virus}}'],
    ['no type', 'resources: {x: {}}'],
    ['too many', `resources: {${Array.from({ length: 300 }, (_, at) => `r${at}: {type: file}`).join(', ')}}`],
  ] as const) {
    yield bad(`resources: ${label}`, () => charm('hello', {}, `${resources}\n`));
  }
  for (const bases of [
    'bases: x',
    'bases: [x]',
    'bases: [{name: a}]',
    'bases: [{name: a, channel: b, architectures: [{}]}]',
    'bases: [{name: "a b", channel: b, architectures: [c]}]',
  ]) {
    yield bad(bases, () => charm('hello', { 'manifest.yaml': bases }));
  }
  const whole = charm('hello');
  for (let cut = 0; cut < 40; cut++)
    yield bad(`cut at ${cut}/40`, () => whole.subarray(0, Math.floor((whole.length * cut) / 40)));
  for (const content of [
    'bundle: kubernetes',
    'applications: {}',
    'applications: [a]',
    'name: other\napplications: {a: {}}',
    '[]',
    '',
    ...[...hostileYaml()].map(([, yaml]) => yaml),
  ]) {
    yield {
      type: 'bundle',
      what: `bundle.yaml: ${content.slice(0, 40)}`,
      content: () => zip([{ name: 'bundle.yaml', content }, readme]),
    };
  }
  const sound = zip([{ name: 'bundle.yaml', content: bundle }, readme]);
  for (let cut = 0; cut < 20; cut++) {
    yield {
      type: 'bundle',
      what: `cut at ${cut}/20`,
      content: () => sound.subarray(0, Math.floor((sound.length * cut) / 20)),
    };
  }
}

/** Files of valid YAML that would cost much if a rule of juju were not linear. */
function* againstJujusRules(): Generator<Hostile> {
  const many = 40_000;
  const list = (item: (at: number) => string): string =>
    `[${Array.from({ length: many }, (_, at) => item(at)).join(', ')}]`;
  const map = (item: (at: number) => string): string =>
    `{${Array.from({ length: many }, (_, at) => item(at)).join(', ')}}`;
  const texts = ['a-'.repeat(200_000), `${'1'.repeat(400_000)}x`, `${'a'.repeat(400_000)}!`, '0x'.repeat(200_000)];
  const deepest = (open: string, close: string): string => open.repeat(900) + close.repeat(900);
  const charms: [string, string][] = [
    ['metadata.yaml', `${metadata}assumes: ${deepest('[{any-of: ', '}]')}`],
    ['metadata.yaml', `${metadata}provides: ${map((at) => `r${at}: i`)}`],
    ['metadata.yaml', `${metadata}extra-bindings: ${map((at) => `b${at}: `)}`],
    ...texts.flatMap((text): [string, string][] => [
      ['metadata.yaml', `${metadata}assumes: ["${text}"]\nterms: ["${text}"]`],
      ['metadata.yaml', `${metadata}storage: {a: {type: block, minimum-size: "${text}"}}`],
      ['metadata.yaml', `${metadata}storage: {a: {type: block, multiple: {range: "${text}"}}}`],
      ['metadata.yaml', `${metadata}revision: "${text}"`],
      ['metadata.yaml', `${metadata}min-juju-version: "${text}"`],
      ['manifest.yaml', `bases: [{name: ubuntu, channel: "${text}", architectures: ["${text}"]}]`],
      ['config.yaml', `options: {a: {type: int, default: "${text}"}, b: {type: secret, default: "secret:${text}"}}`],
      ['actions.yaml', `"${text}": {}`],
      ['actions.yaml', `a: {params: {x: {pattern: "${text}"}}}`],
      ['revision', text],
    ]),
    ['actions.yaml', `a: {params: ${deepest('{x: {properties: ', '}}')}}`],
    ['actions.yaml', `a: {params: {x: {enum: ${list((at) => `{a: [${at}]}`)}}}}`],
    ['actions.yaml', `a: {params: {x: {required: ${list((at) => `r${at}`)}}}}`],
    ...['(', '(?i', '[[:', '\\\\Q', 'a{1,', 'x*', '(x|'].map((piece): [string, string] => [
      'actions.yaml',
      `a: {params: {x: {pattern: '${piece.repeat(100_000)}'}}}`,
    ]),
  ];
  for (const [file, content] of charms) {
    const label = `${file}: ${content.replace(metadata, '').slice(0, 50)}`;
    yield { type: 'charm', what: label, content: () => charm('hello', { [file]: content }), either: true };
  }
  const two = 'applications: {a: {charm: a, num_units: 50000}, b: {charm: b}}\n';
  for (const content of [
    `${two}relations: ${list((at) => `["a:r${at}", "b:x"]`)}`,
    two.replace('50000', `50000, to: ${list(() => 'a/1')}`),
    `applications: ${map((at) => `a${at}x: {charm: a}`)}`,
    `${two}machines: ${map((at) => `${at}: `)}`,
    ...texts.flatMap((text) => [
      `applications: {a: {charm: "${text}"}}`,
      `${two}relations: [["${text}", "b:${text}"]]`,
      `applications: {a: {charm: a, num_units: 1, to: ["${text}"]}}`,
      `${two}saas: {far: {url: "${text}"}}`,
      `${two}default-base: "ubuntu@${text}"`,
      `bundle: kubernetes\napplications: {a: {charm: a, placement: "${text}"}}`,
    ]),
  ]) {
    const label = `bundle.yaml: ${content.slice(0, 90)}`;
    yield { type: 'bundle', what: label, content: () => zip([{ name: 'bundle.yaml', content }, readme]), either: true };
  }
}

/** The third says whether a device may take it. */
function* hostileYaml(): Generator<[what: string, content: string, either?: boolean]> {
  yield ['60,000 keys', Array.from({ length: 60_000 }, (_, at) => `k${at}: v`).join('\n')];
  yield [
    'aliases upon aliases',
    `name: hello\na0: &a0 [x, x]\n${Array.from({ length: 40 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`).join('\n')}`,
  ];
  yield ['5,000 levels', `a: ${'['.repeat(5000)}${']'.repeat(5000)}`];
  yield ['a list', '- name: hello'];
  yield ['a text', 'hello'];
  yield ['no YAML', 'name: [hello'];
  yield ['tags', 'name: !!js/function "x"', true];
  yield [
    'merges upon merges',
    `name: hello\nm0: &m0 {k: v}\n${Array.from({ length: 2000 }, (_, at) => `m${at + 1}: &m${at + 1} {<<: *m${at}, k${at}: v}`).join('\n')}`,
  ];
  yield ['a mapping that contains itself', 'name: hello\nx: &x {y: *x}'];
  yield [
    '40 MB of keys by merging',
    `name: hello\na: &a {${Array.from({ length: 2000 }, (_, at) => `k${at}: v`).join(', ')}}\n${Array.from({ length: 5000 }, (_, at) => `m${at}: {<<: *a}`).join('\n')}`,
  ];
  yield [
    '50,000 anchors',
    Array.from({ length: 50_000 }, (_, at) => `k${at}: &a${at} [*a${Math.max(at - 1, 0)}]`).join('\n'),
  ];
  yield ['a key of half a megabyte', `? ${'k'.repeat(500_000)}\n: v`, true];
  yield ['a line of keys that never come', `name: hello\nx: {${'[a, '.repeat(900)}`];
  yield ['a million brackets', '['.repeat(1_000_000)];
}

function* rocks(): Generator<Hostile> {
  const bad = (label: string, content: () => Buffer): Hostile => ({ type: 'rock', what: label, content });
  const changed = (label: string, change: (entries: TarEntry[]) => TarEntry[]): Hostile =>
    bad(label, () => rock('hello', { change }));
  for (const name of ['../evil', '/etc/passwd', 'a/../../b', '..'])
    yield changed(`the name ${name}`, (entries) => [...entries, { name, content: 'x' }]);
  for (const type of ['1', '2', '3', '4', '6', '7', 'S', 'L', 'Z'])
    yield changed(`the type ${type}`, (entries) => [...entries, { name: 'odd', type }]);
  for (let at = 0; at < 6; at++) {
    if (at !== 2) yield changed(`without entry ${at}`, (entries) => entries.filter((_, index) => index !== at));
    if (at !== 2) yield changed(`entry ${at} twice`, (entries) => [...entries, entries[at] as TarEntry]);
    if (at > 2)
      yield changed(`another content in entry ${at}`, (entries) =>
        entries.map((entry, index) =>
          index === at ? { ...entry, content: 'x'.repeat(entry.content?.length ?? 0) } : entry,
        ),
      );
    if (at !== 2)
      yield changed(`entry ${at} spoilt`, (entries) =>
        entries.map((entry, index) => (index === at ? { ...entry, spoilt: true } : entry)),
      );
    if (at !== 2)
      yield changed(`entry ${at} larger than the archive`, (entries) =>
        entries.map((entry, index) => (index === at ? { ...entry, size: 2 ** 32 } : entry)),
      );
  }
  for (const [label, content] of [
    ['nothing', ''],
    ['no JSON', '{'],
    ['a list', '[]'],
    ['deep', '['.repeat(500_000) + ']'.repeat(500_000)],
    ['deep objects', '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)],
    ['many values', `{"manifests": [${'1,'.repeat(300_000)}1]}`],
    ['2 MiB', `{"a": "${'x'.repeat(2 << 20)}"}`],
    ['no manifests', '{"schemaVersion": 2}'],
    ['empty', '{"manifests": []}'],
    ['odd manifests', '{"manifests": [7, null, "x", {}]}'],
    [
      'a lying digest',
      `{"manifests": [{"mediaType": "application/vnd.oci.image.manifest.v1+json", "size": 5, "digest": "${sha256('x')}"}]}`,
    ],
    ['a digest that is a path', '{"manifests": [{"mediaType": "x", "size": 1, "digest": "sha256:../../etc/passwd"}]}'],
    ['a negative size', `{"manifests": [{"mediaType": "x", "size": -1, "digest": "${sha256('x')}"}]}`],
    ['no UTF-8', '\xff'],
  ] as const) {
    for (const file of ['index.json', 'oci-layout']) {
      yield changed(`${file}: ${label}`, (entries) =>
        entries.map((entry) => (entry.name === file ? { ...entry, content } : entry)),
      );
    }
  }
  const self =
    '{"manifests": [{"mediaType": "application/vnd.oci.image.index.v1+json", "size": 2, "digest": "' +
    sha256('{}') +
    '"}]}';
  yield changed('an index that leads to nothing', (entries) => [
    ...entries.map((entry) => (entry.name === 'index.json' ? { ...entry, content: self } : entry)),
    { name: `blobs/${sha256('{}').replace(':', '/')}`, content: '{}' },
  ]);
  yield bad('another name', () => rock('hello', { label: 'other' }));
  yield bad('600 layers', () => rock('hello', { layers: Array.from({ length: 600 }, (_, at) => `layer ${at}`) }));
  yield bad('6,000 entries', () => tar(Array.from({ length: 6000 }, (_, at) => ({ name: `f${at}` }))));
  yield bad('an endless extended header', () => tar([{ name: 'pax', type: 'x', content: '999999 path=x\n' }]));
  yield bad('an extended header of 100 KiB', () =>
    tar([{ name: 'pax', type: 'x', content: `102400 path=${'x'.repeat(102_380)}\n` }]),
  );
  yield bad('zeros', () => Buffer.alloc(1 << 20));
  yield bad('nothing', () => Buffer.alloc(0));
  // Layers are looked through for the rock's name, packed small as they are.
  const header = tar([{ name: 'x' }]).subarray(0, 512);
  const layer = (label: string, content: () => Buffer): Hostile => ({
    ...bad(label, () => rock('hello', { layers: [gzipSync(content(), { level: 1 })] })),
    either: true,
  });
  yield layer('a layer of 200,000 entries', () => Buffer.alloc(200_000 * 512, header));
  yield layer('a layer of 100 MiB of nothing in one file', () => Buffer.concat([header, Buffer.alloc(100 << 20)]));
  const long = tar([{ name: 'pax', type: 'x', content: `65536 path=${'x'.repeat(65_523)}\n` }]).subarray(0, 66_048);
  yield layer('a layer of extended headers', () => Buffer.alloc(1000 * long.length, long));
  const whole = rock('hello');
  for (let cut = 0; cut < 20; cut++)
    yield bad(`cut at ${cut}/40`, () => whole.subarray(0, Math.floor((whole.length * cut) / 40)));
}

function* components(): Generator<Hostile> {
  const sound = 'component: hello+words\ntype: standard\n';
  const bad = (label: string, files: FileTree): Hostile => ({
    type: 'component',
    what: label,
    content: () => squashfsImage(files),
  });
  const yaml = (label: string, text: string): Hostile => bad(label, { 'meta/component.yaml': text });
  for (const [label, text] of hostileYaml()) {
    yield yaml(`component.yaml: ${label}`, text);
    yield yaml(`component.yaml: ${label} below its name`, `${sound}${text}`);
    const indented = text.split('\n').map((line) => `  ${line}`);
    yield {
      ...yaml(`component.yaml: ${label} as its description`, `${sound}description:\n${indented.join('\n')}`),
      either: label === 'a text',
    };
  }
  for (const text of ['a+'.repeat(200_000), '+', `hello+words\0`, 'hello+words/../x', '"hello+words\\n"'])
    yield yaml(`the name ${JSON.stringify(text.slice(0, 30))}`, `component: ${text}\ntype: standard\n`);
  for (const key of ['version', 'provenance', 'summary', 'description', 'type'])
    yield yaml(`a ${key} of half a megabyte`, `component: hello+words\n${key}: ${'1-'.repeat(250_000)}\n`);
  const files = { 'meta/component.yaml': sound };
  for (const link of ['/etc/passwd', '../../x', 'component.yaml/x', 'self', '.', '', 'a/'.repeat(1000)])
    yield bad(`a link to ${link.slice(0, 30)}`, { ...files, 'meta/self': { link } });
  yield bad('150 folders in one another', { ...files, [`meta/${'d/'.repeat(150)}x`]: 'x' });
  const chain = Array.from({ length: 500 }, (_, at) => [`meta/l${at}`, { link: `l${at + 1}` }] as const);
  yield bad('500 links in a row', { ...files, ...Object.fromEntries(chain) });
  yield bad('a file that is a component.yaml and a snap.yaml', { 'meta/snap.yaml': sound });
  const whole = componentFile('hello+words', { text: 'x'.repeat(100_000) });
  for (let cut = 0; cut < 20; cut++)
    yield { type: 'component', what: `cut at ${cut}/20`, content: () => whole.subarray(0, (whole.length * cut) / 20) };
}

/** Snaps with icons that would cost much to look at, or that lead elsewhere; a snap is taken without them. */
function* icons(): Generator<Hostile> {
  const files = { 'meta/snap.yaml': "name: hello\nversion: '1'\n" };
  const taken = (label: string, more: FileTree): Hostile => {
    return { type: 'snap', what: label, content: () => squashfsImage({ ...files, ...more }), either: true };
  };
  const svg = (inner: string): string => `<svg>${inner}</svg>`;
  for (const text of ['<', '<svg ', '<!--', '<s:', 'svg', '&#', 'a="', '<a x="url(', '<style>'])
    yield taken(`an icon of ${text}`, { 'meta/gui/icon.svg': svg(text.repeat(290_000 / text.length)) });
  for (const signature of ['ffd8ff', '89504e470d0a1a0a']) {
    const content = Buffer.alloc(4 << 20);
    content.write(signature, 'hex');
    yield taken(`4 MiB that begin with ${signature}`, { 'meta/gui/icon.png': content, 'meta/gui/icon.jpg': content });
  }
  for (const link of [
    '/etc/passwd',
    '../../../../etc/passwd',
    'icon.png',
    '..',
    '../..',
    'a/'.repeat(30_000),
    '../meta/'.repeat(4000),
  ])
    for (const name of ['icon.png', 'icon.jpg', 'icon.jpeg', 'icon.svg'])
      yield taken(`${name} that leads to ${link.slice(0, 30)}`, { [`meta/gui/${name}`]: { link } });
}

/** Sound packages with bytes changed here and there. */
function* damaged(count: number, snap: Buffer): Generator<Hostile> {
  const random = createSeededNumbers(4);
  const whole = {
    charm: charm('hello'),
    bundle: zip([{ name: 'bundle.yaml', content: bundle }, readme]),
    rock: rock('hello'),
    snap,
    component: componentFile('hello+words'),
  };
  for (const type of ['charm', 'bundle', 'rock', 'snap', 'component'] as const) {
    for (let round = 0; round < count; round++) {
      const content = Buffer.from(whole[type]);
      for (let change = 0; change < 1 + (round % 6); change++)
        content[Math.floor(random() * content.length)] = Math.floor(random() * 256);
      yield { type, what: `damage ${round}`, content: () => content, either: true };
    }
  }
}

/** Content that would harm a reader. It is not read, and is stored unchanged. */
function* unread(): Generator<Hostile> {
  const zeros = Buffer.alloc(16 << 20);
  const harmful = [
    ['nothing', Buffer.alloc(0)],
    ['zeros', zeros],
    ['a bomb', zip([{ name: 'bomb', content: zeros, says: { size: 2 ** 32 - 2 } }])],
    ['names that lead out', tar([{ name: '../../etc/passwd', content: 'x' }])],
    ['deep JSON', Buffer.from('['.repeat(1_000_000))],
    ['a script', Buffer.from('#!/bin/sh\nrm -rf /\n')],
  ] as const;
  for (const type of ['bin', 'sdk', 'rockcraft', 'snapcraft', 'charmcraft', 'sourcecraft'] as const) {
    for (const [label, content] of harmful) yield { type, what: label, content: () => content, either: true };
  }
}

async function* all(): AsyncGenerator<Hostile> {
  const snap = await snapFixture('app-xz');
  yield* zips();
  yield* rocks();
  yield* components();
  yield* icons();
  yield* damaged(long ? 3000 : 10, snap);
  yield* unread();
  for (let cut = 0; cut < 20; cut++)
    yield {
      type: 'snap',
      what: `cut at ${cut}/20`,
      content: () => snap.subarray(0, Math.floor((snap.length * cut) / 20)),
    };
}

/** The peak memory of the process since this call, in bytes above the current use. */
function watchMemory(): () => number {
  const kilobytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
  writeFileSync('/proc/self/clear_refs', '5'); // the highest is from here on counted anew (proc(5))
  const before = kilobytes('VmRSS');
  return () => (kilobytes('VmHWM') - before) * 1024;
}

/** `npm test` reviews every fourth package, so that some of each kind are among them. */
const step = isLongLane ? 1 : 4;
const leastCount = 300 / step;

t.test('hostile packages are refused, none in more than 2 s or 64 MB', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'larder-hostile-'));
  const heaps: number[] = [];
  const reviewer = createReviewer({
    startWorker: (options) => {
      heaps.push(options?.resourceLimits?.maxOldGenerationSizeMb ?? Infinity);
      return startWorker('src/review/worker.ts', options);
    },
  });
  t.teardown(async () => {
    await reviewer.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const path = join(directory, 'upload');
  const uploadOf = (type: PushedAs): ReviewUpload =>
    type === 'component'
      ? { kind: type, path, name: 'hello', component: { name: 'words', type: 'standard' } }
      : { kind: kindOf({ type }), path, name: 'hello' };
  const review = (type: PushedAs, content: Buffer): Promise<ReviewVerdict> => {
    writeFileSync(path, content);
    return reviewer.review(uploadOf(type));
  };
  for (const [type, sound] of [
    ['charm', charm('hello')],
    ['bundle', zip([{ name: 'bundle.yaml', content: bundle }, readme])],
    ['rock', rock('hello')],
  ] as const) {
    t.match(await review(type, sound), { approved: true, kind: type }, `a sound ${type} is taken`);
  }

  t.match(await review('component', componentFile('hello+words')), { approved: true }, 'a sound component is taken');

  const worst = new Map<PushedAs, { count: number; took: number; memory: number }>();
  let number = 0;
  for await (const { type, what: label, content, either } of all()) {
    if (number++ % step !== 0) continue;
    // The measurement does not include writing the file.
    writeFileSync(path, content());
    const memoryUsed = watchMemory();
    const cpu = cpuWatch();
    const verdict = await reviewer.review(uploadOf(type));
    const [took, memory] = [cpu(), memoryUsed()];
    const { count, ...maxima } = worst.get(type) ?? { count: 0, took: 0, memory: 0 };
    worst.set(type, { count: count + 1, took: Math.max(maxima.took, took), memory: Math.max(maxima.memory, memory) });
    const about = `${type}: ${label}`;
    if (took > slowest) t.fail(`${about} took ${took.toFixed(0)} ms`);
    if (memory > largest) t.fail(`${about} took ${(memory / 2 ** 20).toFixed(0)} MB`);
    if (verdict.approved) {
      if (either !== true) t.fail(`${about} was taken`);
      continue;
    }
    const messages = verdict.errors.map(({ message }) => message);
    const isSaid =
      messages.length > 0 && messages.every((message) => /^\S.{9,}/s.test(message) && message.length < 1000);
    if (!isSaid || messages.some((message) => /memory|seconds/.test(message)))
      t.fail(`${about}: ${messages.join(' | ').slice(0, 300)}`);
  }
  for (const [type, { count, took, memory }] of worst) {
    t.pass(`${count} of type ${type}: at most ${took.toFixed(0)} ms and ${(memory / 2 ** 20).toFixed(0)} MB each`);
  }
  const count = [...worst.values()].reduce((sum, entry) => sum + entry.count, 0);
  t.ok(count >= leastCount, `${count} packages`);
  t.equal(heaps.length, 1, 'one thread read them all: none broke its bounds');
});
