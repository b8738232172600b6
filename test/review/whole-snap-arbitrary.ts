// Whole snaps, mixed by chance: the texts in meta, and files of every kind, mode, owner and name.
import { posix } from 'node:path';

import fc from 'fast-check';

import type { EntryTree, FileEntry } from '#test/fixtures/packages/squashfs-image.ts';
import { snapYamlText } from './snap-yaml-arbitrary.ts';

export interface GeneratedSnap {
  tree: EntryTree;
  /** The change to a valid snap. */
  oddities: string[];
}

type Files = Map<string, FileEntry>;
type Oddity = [said: string, apply: (files: Files) => void];

const file = (content: string | Uint8Array, mode = 0o644): FileEntry => ({ kind: 'file', content, mode });
const folder = (mode = 0o755): FileEntry => ({ kind: 'folder', mode });
const program = file('#!/bin/sh\n', 0o755);

const folders = ['.', 'bin', 'usr', 'usr/bin', 'data', 'meta', 'meta/gui', 'meta/hooks', 'meta/gui/more'];
const programs = ['run', 'bin/run', 'bin/stop', 'bin/daemon', 'usr/bin/other'];
const texts = ['bin/c', 'data/x', 'meta/gui/icon.png', 'meta/gui/run.desktop', 'meta/gui/more/x', 'meta/snap.yaml'];
const hooks = ['install', 'readme', 'connect-plug-x', 'configure', 'prepare-device', 'remove'];

/** The files of a snap with nothing odd. */
const soundFiles = (yaml: string, hookNames: readonly string[]): Files =>
  new Map([
    ...folders.map((path) => [path, folder()] as const),
    ...programs.map((path) => [path, program] as const),
    ...texts.map((path) => [path, file('x')] as const),
    ...hookNames.map((name) => [`meta/hooks/${name}`, program] as const),
    ['bin/link', { kind: 'link', content: 'run' }] as const,
    ['lib', { kind: 'link', content: 'usr/bin' }] as const,
    ['meta/snap.yaml', file(yaml)] as const,
  ]);

const places = [...folders, ...programs, ...texts, 'bin/link', 'lib', 'meta/hooks/install', 'meta/snapshots.yaml'];
const modes = [
  ...[0o000, 0o001, 0o044, 0o111, 0o222, 0o400, 0o444, 0o555, 0o600, 0o640, 0o644, 0o700, 0o711, 0o744, 0o750, 0o754],
  ...[0o755, 0o777, 0o1755, 0o2755, 0o4755, 0o6711, 0o4644, 0o7000, 0o7777],
];
const oddMode: fc.Arbitrary<Oddity> = fc
  .tuple(fc.constantFrom(...places), fc.constantFrom(...modes))
  .map(([path, mode]) => [
    `${path} has the mode ${mode.toString(8)}`,
    (files) => {
      const entry = files.get(path);
      if (entry !== undefined) files.set(path, { ...entry, mode });
    },
  ]);

/** Removes the paths below a path too. */
function remove(files: Files, path: string): void {
  for (const other of [...files.keys()])
    if (path === '.' ? other !== '.' : other === path || other.startsWith(`${path}/`)) files.delete(other);
}

/** Replaces the entry with a file, if its folder exists. */
function put(files: Files, path: string, entry: FileEntry): void {
  const above = posix.dirname(path);
  if (files.get(above)?.kind !== 'folder') return;
  remove(files, path);
  files.set(path, entry);
}

const missing: fc.Arbitrary<Oddity> = fc.constantFrom(...places).map((path) => [
  `${path} is missing`,
  (files) => {
    remove(files, path);
  },
]);

const targets = [
  ...['run', '../bin/run', '../run', '../../run', '../../../x', '/bin/sh', '/dev/null', 'gone', '../gone'],
  ...['.', '..', '../meta', '../bin', 'gui', '../meta/gui/run.desktop', 'snap.yaml', '../data/../bin/run', '', 'a\nb'],
];
/** A device reads these two, and would wait for a pipe for ever. */
const isRead = (path: string) => path === 'meta/snap.yaml' || path === 'meta/snapshots.yaml';
const otherKind: fc.Arbitrary<Oddity> = fc
  .tuple(
    fc.constantFrom(...places.filter((path) => path !== '.')),
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...targets).map((content): FileEntry => ({ kind: 'link', content })) },
      {
        weight: 2,
        arbitrary: fc.constantFrom<FileEntry>(
          ...(['block device', 'character device', 'pipe', 'socket'] as const).map((kind) => ({ kind, mode: 0o755 })),
          { kind: 'character device', mode: 0o666 },
          folder(),
          file('', 0o755),
        ),
      },
    ),
  )
  .map(([path, entry]) => {
    const used = entry.kind === 'pipe' && isRead(path) ? { ...entry, kind: 'socket' as const } : entry;
    const sentence = `${path} is a ${used.kind} ${used.kind === 'link' ? JSON.stringify(used.content) : ''}`;
    return [
      sentence,
      (files) => {
        put(files, path, used);
      },
    ];
  });

const oddOwner: fc.Arbitrary<Oddity> = fc
  .tuple(fc.constantFrom(...places), fc.constantFrom([1000, 1000], [0, 65_534], [4_000_000_000, 4_000_000_001]))
  .map(([path, [user, group]]) => [
    `${path} belongs to ${String(user)}:${String(group)}`,
    (files) => {
      const entry = files.get(path);
      if (entry !== undefined) files.set(path, { ...entry, owner: [user, group] });
    },
  ]);

const names = [
  ...['a b', ' a', 'a ', 'ä.desktop', '😀', 'x'.repeat(255), 'a\\b', `'"`, '*', '$x', 'a\tb', '-rf', 'a -> b', '...'],
  ...['\u001b[0m', 'snap.yaml ', 'install ', 'Snap.yaml', '\u202ea', 'a\rb', 'a\nb', '%41', 'drwx', '\u0001'],
];
const oddName: fc.Arbitrary<Oddity> = fc
  .tuple(
    fc.constantFrom('meta', 'meta/gui', 'meta/hooks', 'bin', 'data', '.'),
    fc.constantFrom(...names),
    fc.constantFrom<FileEntry>(
      ...[program, program, file('x', 0o644), file('x', 0o600), folder(), folder(0o700)],
      ...[
        { kind: 'link' as const, content: 'run' },
        { kind: 'socket' as const, mode: 0o755 },
      ],
    ),
  )
  .map(([below, name, entry]) => {
    const path = below === '.' ? name : `${below}/${name}`;
    return [
      `${JSON.stringify(path)} is there, a ${entry.kind} with the mode ${(entry.mode ?? 0o777).toString(8)}`,
      (files) => {
        put(files, path, entry);
      },
    ];
  });

const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));
const manifests = [
  ...['exclude: []\n', 'exclude:\n  - $SNAP_DATA/x\n  - $SNAP_USER_COMMON/*.log\n', '---\n', '{}', '# none\n--- \n'],
  ...[
    '',
    '# none\n',
    '[]',
    'x',
    '~',
    "''",
    'exclude: x',
    'exclude: {a: b}',
    'exclude:',
    'exclude: [1]',
    'exclude: [~]',
  ],
  ...['exclude: [$SNAP/x]', 'exclude: [$SNAP_DATA/]', 'exclude: [$SNAP_DATA/../x]', 'exclude: ["$SNAP_DATA/[a]"]'],
  ...['exclude: ["$SNAP_DATA/**"]', 'exclude: ["$SNAP_DATA/*/*"]', 'exclude: ["$SNAP_DATA"]', 'exclude: [$HOME/x]'],
  ...[
    'other: 1\nexclude: ["$SNAP_COMMON/a b"]',
    'exclude: [[a]]',
    'a: b: c',
    '\t',
    'exclude: []\n---\n[]',
    '? [a]\n: b',
  ],
];
const manifest: fc.Arbitrary<Oddity> = fc
  .oneof(
    { weight: 9, arbitrary: fc.constantFrom(...manifests) },
    { weight: 1, arbitrary: fc.constant(bytes('exclude: [', [0xff, 0xfe], ']')) },
  )
  .map((text) => [
    `meta/snapshots.yaml is ${JSON.stringify(String(text))}`,
    (files) => {
      put(files, 'meta/snapshots.yaml', file(text));
    },
  ]);

const encodings: [string, (yaml: Uint8Array) => Uint8Array][] = [
  ['begins with a byte order mark', (yaml) => bytes([0xef, 0xbb, 0xbf], [...yaml])],
  ['ends its lines as on Windows', (yaml) => Buffer.from(Buffer.from(yaml).toString().replaceAll('\n', '\r\n'))],
  ['is empty', () => bytes()],
  ['is a comment', () => bytes('# name: harbour\n')],
  ['is a list', () => bytes('- name: harbour\n')],
  ['has a second document', (yaml) => bytes([...yaml], '---\nname: other\n')],
  ['has a second document that is no YAML', (yaml) => bytes([...yaml], '---\na: b: c: {\n')],
  ['ends within a character', (yaml) => bytes([...yaml], '# ', [0xc3])],
  ['has a zero byte', (yaml) => bytes([...yaml], '# \0\n')],
  ['has a tab before a key', (yaml) => bytes([...yaml], '\tx: y\n')],
  ['has a name twice', (yaml) => bytes([...yaml], 'name: harbour\n')],
  ['is in UTF-16', (yaml) => Buffer.from(`\ufeff${Buffer.from(yaml).toString()}`, 'utf16le')],
];
const encoding: fc.Arbitrary<Oddity> = fc.constantFrom(...encodings).map(([sentence, change]) => [
  `meta/snap.yaml ${sentence}`,
  (files) => {
    const yaml = files.get('meta/snap.yaml');
    if (yaml?.kind === 'file')
      files.set('meta/snap.yaml', { ...yaml, content: change(Buffer.from(yaml.content ?? '')) });
  },
]);

const icons: [string, string | Uint8Array][] = [
  ['icon.png', bytes([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  ['icon.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['icon.svg', '<svg><script/></svg>'],
  ['icon.jpg', ''],
  ['icon.png', new Uint8Array(300_001)],
];
const icon: fc.Arbitrary<Oddity> = fc.constantFrom(...icons).map(([name, content]) => [
  `meta/gui/${name} has ${String(content.length)} bytes`,
  (files) => {
    put(files, `meta/gui/${name}`, file(content));
  },
]);

const oddity = fc.oneof(
  { weight: 8, arbitrary: oddMode },
  { weight: 3, arbitrary: missing },
  { weight: 6, arbitrary: otherKind },
  { weight: 3, arbitrary: oddOwner },
  { weight: 4, arbitrary: oddName },
  { weight: 4, arbitrary: manifest },
  { weight: 1, arbitrary: encoding },
  { weight: 1, arbitrary: icon },
);

const commands = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('bin/run', 'bin/run --all $X', 'bin/daemon', '/usr/bin/other', 'run', 'bin/link'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...[
        'bin/gone',
        '../x',
        '..',
        '.',
        '/',
        'bin',
        'data',
        ' bin/run',
        'bin//run',
        './bin/run',
        'bin/../run',
        'lib/other',
      ],
      ...[
        'bin/ run',
        'bin/run ../x',
        'bin/run ../../../x',
        'meta/snap.yaml',
        'meta/hooks/install',
        'meta/gui',
        'meta',
        '-',
      ],
    ),
  },
);
const appLine = fc.record(
  {
    command: commands,
    daemon: fc.constantFrom('simple', 'oneshot'),
    'stop-command': commands,
    completer: fc.constantFrom('bin/c', 'data/x', '/bin/c', 'gone', '../x', 'bin', 'meta/gui/run.desktop', 'bin/run'),
  },
  { requiredKeys: ['command'] },
);
/** Apps that matter more for their files than for their other fields. */
const plainYaml = fc
  .record({
    apps: fc.dictionary(fc.constantFrom('run', 'daemon', 'other'), appLine, { maxKeys: 3 }),
    base: fc.constantFrom('core22', 'core22', 'core22', 'bare', 'none'),
    type: fc.constantFrom('app', 'app', 'app', 'app', 'app', 'gadget', 'kernel', 'base', 'snapd'),
  })
  .map(
    ({ apps, base, type }) =>
      `name: harbour\nversion: 1\n${type === 'base' ? '' : `base: ${base}\n`}type: ${type}\napps: ${JSON.stringify(apps)}\n`,
  );

const snap: fc.Arbitrary<GeneratedSnap> = fc
  .record({
    yaml: fc.oneof({ weight: 3, arbitrary: plainYaml }, { weight: 2, arbitrary: snapYamlText }),
    hooks: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.subarray(hooks.slice(0, 3)) },
      { weight: 1, arbitrary: fc.subarray(hooks) },
    ),
    oddities: fc.oneof(
      { weight: 2, arbitrary: fc.constant<Oddity[]>([]) },
      { weight: 3, arbitrary: fc.array(oddity, { minLength: 1, maxLength: 1 }) },
      { weight: 2, arbitrary: fc.array(oddity, { minLength: 2, maxLength: 3 }) },
    ),
  })
  .map(({ yaml, hooks: hookNames, oddities }) => {
    const files = soundFiles(yaml, hookNames);
    for (const [, apply] of oddities) apply(files);
    return { tree: Object.fromEntries(files), oddities: oddities.map(([sentence]) => sentence) };
  });

/** `count` snaps, the same for the same `seed`. */
export const wholeSnaps = (count: number, seed: number): GeneratedSnap[] => fc.sample(snap, { numRuns: count, seed });
