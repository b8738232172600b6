// The rules of devices as vectors: lines of a snap.yaml, the verdict of the review, and the source of the rule. All are
// of snapd at commit bee548f (2026-08-21); test/review/judged-by-snapd.tools.test.ts and whole-snaps.tools.test.ts
// compare with the older library of Debian.
import t from 'tap';

import { checkComponentFiles, checkSnapFiles } from '#review/snap-rules/container.ts';
import { Faults } from '#review/snap-rules/fields.ts';
import { readModel, type DuplicateKeys } from '#review/snap-rules/model.ts';
import { checkRules } from '#review/snap-rules/rules.ts';
import type { Image } from '#review/squashfs/image.ts';
import type { Inode } from '#review/squashfs/inode.ts';
import { readTypedYaml } from '#review/yaml.ts';

function modelOf(lines: string, faults: Faults) {
  const duplicates: DuplicateKeys = new WeakMap();
  return readModel(
    readTypedYaml(`name: harbour\nversion: 1\n${lines}`, 'meta/snap.yaml', duplicates),
    duplicates,
    faults,
  );
}

/** The verdict of the review on these lines. */
function faultsOf(lines: string, hooks: string[] = []): string[] {
  const faults = new Faults();
  checkRules(modelOf(lines, faults), hooks, faults);
  return faults.sentences;
}

const service = (fields: string) => `apps: {run: {command: run, daemon: simple, ${fields}}}`;
const slot = 'slots: {bus: {interface: dbus, bus: system, name: a.b}}\n';

const refused: [source: string, lines: string, sentence: RegExp][] = [
  ['validate.go validateTitle', `title: ${'x'.repeat(41)}`, /^The title .* more than 40 characters/],
  ['validate.go ValidateDescription', `description: ${'x'.repeat(4097)}`, /^The description .* more than 4096/],
  ['validate.go validateProvenance', 'provenance: global-upload', /'provenance' .* remove it/],
  ['naming/validate.go ValidateProvenance', 'provenance: a_b', /The provenance 'a_b'/],
  ['spdx/parser.go', 'license: GPLv3', /The license 'GPLv3' .*: the licence 'GPLv3' is unknown\. Write an SPDX/],
  ['spdx/parser.go', 'license: MIT AND', /a licence is missing behind AND/],
  ['spdx/parser.go', 'license: MIT GPL-3.0', /AND or OR is missing before 'GPL-3.0'/],
  ['spdx/parser.go', 'license: (MIT', /a '\)' is missing/],
  ['spdx/parser.go', 'license: MIT WITH MIT', /the exception 'MIT' is unknown/],
  ['validate.go ValidateBase', 'type: base\nbase: core22', /type base cannot have a base/],
  ['validate.go ValidateBase', 'base: none\napps: {run: {command: run}}', /base 'none' cannot have apps or hooks/],
  [
    'validate.go appContentWhitelist',
    `apps: {run: {command: 'run "x"'}}`,
    /a character in 'command' that a device refuses/,
  ],
  [
    'validate.go validateAppSocket',
    service('sockets: {s: {listen-stream: $SNAP_DATA/s}}'),
    /needs the plug 'network-bind'/,
  ],
  ['validate.go validateSocketAddrNet', service('plugs: [network-bind], sockets: {s: {listen-stream: 0}}'), /no port/],
  [
    'validate.go validateSocketMode',
    service('plugs: [network-bind], sockets: {s: {listen-stream: 80, socket-mode: 01000}}'),
    /mode 1000/,
  ],
  [
    'info_snap_yaml.go socketsYaml',
    service('plugs: [network-bind], sockets: {s: {socket-mode: "0640"}}'),
    /number without quotes/,
  ],
  ['validate.go validateAppTimer', service('timer: 25:00'), /a timer that a device cannot read: '25:00'/],
  [
    'validate.go validateAppTimer',
    'apps: {run: {command: run, timer: "10:00"}}',
    /is no service, so it cannot have 'timer'/,
  ],
  ['timeout/timeout.go', service('stop-timeout: 1d'), /no duration: write one such as 30s/],
  ['restartcond.go', service('restart-condition: sometimes'), /'restart-condition' .* unknown value 'sometimes'/],
  [
    'info.go SortServices',
    'apps: {a: {daemon: simple, after: [b]}, b: {daemon: simple, after: [a]}}',
    /break the circle/,
  ],
  ['validate.go validateAppOrderNames', service('after: [none]'), /after 'none', which the snap does not have/],
  [
    'validate.go validateAppActivatesOn',
    `${slot}${service('activates-on: [bus], daemon-scope: user')}`,
    /not on the session bus/,
  ],
  ['validate.go validateAppSuccessExitStatus', service('success-exit-status: [0]'), /no number from 1 to 255/],
  [
    'info_snap_yaml.go setAppsFromSnapYaml',
    'apps: {a: {aliases: [x]}, b: {aliases: [x]}}',
    /alias 'x' .* stands for 'a' and for 'b'/,
  ],
  ['validate.go ValidateCommonIDs', 'apps: {a: {common-id: x}, b: {common-id: x}}', /the same common-id 'x'/],
  ['validate.go ValidateApp', service('refresh-mode: ignore-running'), /cannot have the 'refresh-mode'/],
  ['validate.go plugsSlotsUniqueNames', 'plugs: {a: home}\nslots: {a: home}', /the name of a plug and of a slot/],
  ['naming/validate.go ValidatePlug', 'plugs: {Home: home}', /'Home' is no name of a plug/],
  ['info_snap_yaml.go convertToSlotOrPlugData', 'plugs: {a: {b: ~}}', /a value that a device cannot keep/],
  ['info_snap_yaml.go convertToSlotOrPlugData', 'plugs: {a: {$b: c}}', /the reserved attribute '\$b'/],
  ['info_snap_yaml.go convertToSlotOrPlugData', 'plugs: {a: {"": c}}', /'a' .* has an attribute without a name/],
  ['info_snap_yaml.go convertToSlotOrPlugData', 'slots: {a: {1: c}}', /'a' .* has an attribute without a name/],
  ['strutil/map.go OrderedMap', 'environment: {A: b, A: c}', /'environment' .* has 'A' twice/],
  ['strutil/map.go OrderedMap', 'environment: {1: b}', /a name that is no text/],
  ['info_snap_yaml.go typoDetector', 'layouts: {}', /a device knows 'layout' alone/],
  ['validate.go ValidateLayout', 'layout: {/proc/x: {bind: $SNAP/x}}', /top-level folder '\/proc'/],
  ['validate.go layoutRejectionList', 'layout: {/var/run/x: {bind: $SNAP/x}}', /where none is allowed/],
  ['validate.go layoutRejectionList', 'layout: {/usr/lib/modules: {bind: $SNAP/x}}', /where none is allowed/],
  ['validate.go ValidateLayout', 'layout: {/usr/x: {bind: /etc}}', /must lead into \$SNAP/],
  [
    'validate.go ValidateLayout',
    'layout: {/usr/x: {bind: $SNAP/x}, /usr/x/y: {bind: $SNAP/y}}',
    /below the layout at '\/usr\/x'/,
  ],
  ['validate.go ValidateLayout', 'layout: {/usr/x: {bind: $SNAP/x, symlink: $SNAP/y}}', /must have one of/],
  ['validate.go ValidateLinks', 'links: {contact: mailto:a@site.example}', /must be a list of texts/],
  ['validate.go ValidateLinks', 'links: {website: [ftp://site.example]}', /begins with http:\/\//],
  ['validate.go ValidateSystemUsernames', 'system-usernames: {A: shared}', /The system username 'A'/],
  ['validate.go validateHooks', 'hooks: {default-configure: }', /needs a hook 'configure'/],
  ['validate.go validateHooks', 'type: base\nhooks: {configure: }', /cannot have a hook 'configure'/],
  ['validate.go Validate', `components: {a: {type: test, summary: ${'x'.repeat(129)}}}`, /a summary of more than 128/],
  [
    'info_snap_yaml.go setComponentsFromSnapYaml',
    'components: {a: {type: kernel-modules}}',
    /only a snap of type kernel/,
  ],
  [
    'info_snap_yaml.go setComponentsFromSnapYaml',
    'components: {a: {type: test, hooks: {configure: }}}',
    /no device knows/,
  ],
];

t.test('a snap that a device would not install is refused with the reason', async (t) => {
  for (const [source, lines, sentence] of refused) {
    const faults = faultsOf(lines);
    t.ok(
      faults.some((fault) => sentence.test(fault)),
      `${source}: ${lines.slice(0, 60)}: ${faults.join(' ')}`,
    );
    t.ok(
      faults.every((fault) => /^\S.{9,}\.$/s.test(fault) && fault.length < 400),
      source,
    );
  }
  t.match(faultsOf('base: none', ['install']), [/base 'none' cannot have apps or hooks/], 'hooks may be files alone');
  t.match(faultsOf('type: base', ['configure', 'readme']), [/cannot have a hook 'configure'/]);
});

t.test('a snap that a device installs is accepted', async (t) => {
  for (const lines of [
    '',
    `title: ${'😀'.repeat(40)}\nsummary: ${'x'.repeat(500)}\ndescription: ${'😀'.repeat(4096)}`,
    'license: GPL-2.0-only WITH Classpath-exception-2.0 OR (MIT AND BSD-2-Clause)',
    'type: base\nbase: none',
    'confinement: classic\napps: {run: {daemon: simple, sockets: {s: {listen-stream: 80}}}}',
    'plugs: {network-bind: }\napps: {run: {daemon: simple, sockets: {s: {listen-stream: "[::1]:80", socket-mode: 0640}}}}',
    service('timer: "mon-fri,9:00~17:00/4,,sat1,10:00-12:00", restart-delay: 1.5s, stop-mode: sigint-all'),
    `${slot}${service('activates-on: [bus]')}`,
    service('success-exit-status: [1, 255]'),
    'layout: {/usr/share/x: {bind: $SNAP/x}, /etc/x.conf: {bind-file: $SNAP_DATA/x.conf}, /opt/x: {type: tmpfs, mode: 1777}}',
    'links: {contact: [ada@site.example, mailto:bob@site.example], website: ["https://site.example/é?x#y"]}',
    'system-usernames: {_daemon_: shared, snap_daemon: {scope: shared}}',
    'hooks: {configure: , default-configure: , unknown: {command-chain: ["a b"]}}',
    'type: kernel\ncomponents: {mods: {type: kernel-modules, hooks: {install: {plugs: [network]}}}}',
    'plugs: {a: {interface: content, x: [1, yes, {b: c}]}}\nslots: {b: dbus}',
    'environment: {A: 1, B: }',
  ]) {
    t.same(faultsOf(lines), [], lines.slice(0, 60));
  }
});

/** Files by path, each with its mode, or the target of a link; folders have 0755 if nothing is said of them. */
type Files = Record<string, number | string | { kind: 'folder' | 'pipe'; mode: number }>;

/** An image of these files in memory. */
function imageOf(files: Files): Image {
  const inodes = new Map<string, Inode>();
  const folder = (path: string, permissions: number): Inode =>
    ({ kind: 'directory', permissions, block: 0, offset: 0, length: 0, path }) as Inode;
  inodes.set('.', folder('.', 0o755));
  for (const [path, file] of Object.entries(files)) {
    const parts = path.split('/');
    for (let end = 1; end < parts.length; end++) {
      const above = parts.slice(0, end).join('/');
      if (!inodes.has(above)) inodes.set(above, folder(above, 0o755));
    }
    if (typeof file === 'string') inodes.set(path, { kind: 'symlink', permissions: 0o777, target: file });
    else if (typeof file === 'number') inodes.set(path, { kind: 'file', permissions: file, size: 0 } as Inode);
    else
      inodes.set(path, file.kind === 'folder' ? folder(path, file.mode) : { kind: 'special', permissions: file.mode });
  }
  const childrenOf = (parent: string) =>
    [...inodes].filter(
      ([path]) => path !== '.' && (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.') === parent,
    );
  const pathOf = (inode: Inode) => (inode as unknown as { path: string }).path;
  return {
    root: inodes.get('.') as Image['root'],
    entries: (directory) =>
      childrenOf(pathOf(directory)).map(([path]) => ({ name: path.split('/').at(-1)!, type: 1, inode: path as never })),
    inode: (entry) => inodes.get(entry.inode as never)!,
    find: (directory, names) =>
      new Map(
        childrenOf(pathOf(directory))
          .map(([path, inode]) => [path.split('/').at(-1)!, inode] as const)
          .filter(([name]) => names.includes(name)),
      ),
    read: () => new Uint8Array(),
  };
}

function fileFaults(files: Files, lines = 'apps: {run: {command: bin/run --all}}'): string[] {
  const faults = new Faults();
  checkSnapFiles(imageOf({ 'meta/snap.yaml': 0o644, 'bin/run': 0o755, ...files }), modelOf(lines, faults), faults);
  return faults.sentences;
}

t.test('files that a device could not read or run are refused', async (t) => {
  t.same(fileFaults({}), []);
  t.same(
    fileFaults({ 'meta/gui/icon.png': 0o644, 'data/secret': 0o600, data: { kind: 'folder', mode: 0o700 } }),
    [],
    'what no app needs may have any mode',
  );
  t.match(fileFaults({ 'meta/gui/icon.png': 0o600 }), [
    /^'meta\/gui\/icon.png' in the snap is not readable for all users: it has the mode 0600. Give it 0644\.$/,
  ]);
  t.match(fileFaults({ '.': { kind: 'folder', mode: 0o700 } }), [
    /^'\.' in the snap is not readable and executable for all users: it has the mode 0700. Give it 0755\.$/,
  ]);
  t.match(fileFaults({ meta: { kind: 'folder', mode: 0o750 } }), [/^'meta' in the snap/]);
  t.match(fileFaults({ 'bin/run': 0o644 }), [/^'bin\/run' in the snap is not readable and executable/]);
  t.match(fileFaults({ 'meta/hooks/install': 0o644 }), [/^'meta\/hooks\/install' in the snap is not executable/]);
  t.match(fileFaults({}, 'apps: {other: {command: bin/other}}'), [
    /^The file 'bin\/other', .* is not in the snap: add it\.$/,
  ]);
  t.same(
    fileFaults({ 'bin/d': 0o711, bin: { kind: 'folder', mode: 0o711 } }, 'apps: {d: {command: bin/d, daemon: simple}}'),
    [],
    'root runs services',
  );
  t.match(fileFaults({ 'bin/d': 0o644 }, 'apps: {d: {command: bin/d, daemon: simple, stop-command: /bin/none}}'), [
    /'bin\/d' in the snap is not executable/,
    /'bin\/none', .* is not in the snap/,
  ]);
  t.match(fileFaults({ 'meta/gui/pipe': { kind: 'pipe', mode: 0o644 } }), [
    /must be a file, and is a device, pipe or socket/,
  ]);
  t.match(fileFaults({ 'bin/c': 0o600 }, 'apps: {run: {command: bin/run, completer: bin/c}}'), [
    /'bin\/c' in the snap is not readable for all users/,
  ]);
});

// container.go evalAndValidateSymlink: newer than Debian's library.
t.test('links in meta stay in the snap, and lead to what can be read', async (t) => {
  t.same(fileFaults({ 'meta/gui/icon.png': '../../share/i.png', 'share/i.png': 0o644 }), []);
  t.match(fileFaults({ 'meta/gui/icon.png': '../../share/i.png', 'share/i.png': 0o600 }), [
    /icon\.png' in the snap is not readable/,
  ]);
  t.match(fileFaults({ 'meta/gui/icon.png': '/etc/hostname' }), [/out of the snap/]);
  t.match(fileFaults({ 'meta/gui/icon.png': '../../../x' }), [/out of the snap/]);
  t.match(fileFaults({ 'meta/gui/icon.png': 'none.png' }), [/which is not there/]);
  t.match(fileFaults({ 'meta/gui/a': 'b', 'meta/gui/b': 'a' }), [/through too many links/, /through too many links/]);
  t.match(fileFaults({ 'meta/x': '.' }), [/which contains it/]);
  t.match(fileFaults({ 'meta/gui/a -> b': 'run.desktop', 'meta/gui/run.desktop': 0o644 }), [
    /has an arrow in its name/,
  ]);
});

t.test('a component needs its own files', async (t) => {
  const faults = new Faults();
  checkComponentFiles(imageOf({ 'meta/component.yaml': 0o600 }), faults);
  t.match(faults.sentences, [/'meta\/component.yaml' in the component is not readable for all users/]);
});

t.test('a line of a GPIO chip is in one slot of a gadget alone', async (t) => {
  const slotOf = (attributes: string) => `{interface: gpio-chardev, ${attributes}}`;
  const gadget = (...slots: string[]) =>
    faultsOf(`type: gadget\nslots: {${slots.map((slot, at) => `s${String(at)}: ${slotOf(slot)}`).join(', ')}}`);
  t.same(
    gadget('source-chip: [a], lines: "0,3-5"', 'source-chip: [a], lines: "1-2,6"', 'source-chip: [b], lines: "3"'),
    [],
  );
  t.match(gadget('source-chip: [a], lines: "0,3-5"', 'source-chip: [b, a], lines: "5"'), [
    /share a line of the chip 'a'/,
  ]);
  t.match(gadget('source-chip: [a, a], lines: "1"'), [/share a line of the chip 'a'/]);
  for (const wrong of [
    ...[
      'source-chip: [a]',
      'lines: "1"',
      'source-chip: a, lines: "1"',
      'source-chip: [1], lines: "1"',
      'source-chip: [a], lines: 1',
    ],
    ...['"5-5"', '"5-4"', '"1,1"', '"1-3,3"', '""', '"1,"', '"a"', '"4294967296"', '"1-2-3"'].map(
      (lines) => `source-chip: [a], lines: ${lines}`,
    ),
  ])
    t.match(gadget(wrong), [/^The slot 's0' in meta\/snap.yaml needs 'source-chip'/], wrong);
  const many = Array.from({ length: 101 }, (_, at) => String(at)).join();
  t.match(gadget(`source-chip: [${many.replaceAll(/\d+/g, 'c$&')}], lines: "${many}"`), [/more than 10000 ranges/]);
  t.same(gadget('source-chip: [], lines: "4294967295"'), []);
  t.same(faultsOf(`slots: {s: ${slotOf('lines: x')}}`), [], 'of other snaps a device asks less');
});

t.test('a thousand faults are reported in a few sentences, and all names are bounded', async (t) => {
  const apps = Array.from(
    { length: 2000 },
    (_, at) => `  a${String(at)}: {command: 'x"${'y'.repeat(200)}', aliases: ['${'z '.repeat(100)}']}`,
  );
  const faults = faultsOf(`apps:\n${apps.join('\n')}`);
  t.equal(faults.length, 20);
  t.ok(faults.every((fault) => fault.length < 400));
  const chain = Array.from(
    { length: 20_000 },
    (_, at) => `  a${String(at)}: {daemon: simple, after: [a${String(at + 1)}]}`,
  );
  t.same(
    faultsOf(`apps:\n${chain.join('\n')}\n  a20000: {daemon: simple}`),
    [],
    '20,000 services that follow one another',
  );
  t.match(fileFaults({}, `apps: {run: {command: ${'a/'.repeat(200_000)}run}}`).length, 20);
});
