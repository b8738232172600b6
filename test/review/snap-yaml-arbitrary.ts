// snap.yaml texts with fields that devices accept and fields that they refuse, mixed at random.
import fc from 'fast-check';

/** A value as it is written; other values are written as JSON, which is YAML too. */
type Field = fc.Arbitrary<unknown>;

class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function written(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${written(member)}`)
    .join(', ')}}`;
}

/** A valid value, far more often than a possibly invalid one. */
const mostly = (good: readonly unknown[], odd: readonly unknown[] = []): Field =>
  fc.oneof(
    { weight: 24, arbitrary: fc.constantFrom(...good) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...odd, null, '', new Raw('~'), new Raw('yes'), new Raw('1'), ['a'], { a: 'b' }),
    },
  );

const record = (fields: Record<string, Field>): Field => fc.record(fields, { requiredKeys: [] });
const keyed = (keys: readonly string[], value: Field, maxKeys = 3): Field =>
  fc.dictionary(fc.constantFrom(...keys), value, { maxKeys });
const listOf = (good: readonly string[], odd: readonly unknown[] = []): Field =>
  fc.oneof(
    { weight: 30, arbitrary: fc.subarray([...good], { maxLength: Math.min(good.length, 2) }) },
    { weight: 1, arbitrary: fc.array(mostly(good, odd), { maxLength: 3 }) },
  );

const environment = mostly(
  [{ A: 'b' }, { LONG_NAME: '$SNAP/x', B: '' }],
  [{ A: ['b'] }, new Raw('{1: a}'), new Raw('{A: a, A: b}'), new Raw('{yes: a}')],
);
const commandChain = mostly([[], ['bin/env', '$SNAP/chain']], [['a b'], ['a"b']]);
const durations = mostly(
  ['1s', '1m30s', '500ms', '0', '1h'],
  ['-1s', '1', '1d', 's', '1.5s', '.5m', '1e3s', '9223372036s', '9223372037s', new Raw('30')],
);
const timers = mostly(
  ['10:00', 'mon,10:00-12:00', 'mon-fri,9:00~17:00/4', 'fri5,,sat1-sun,0:00-24:00', '-:', '00:00-24:00/3'],
  [
    '25:00',
    'mon6',
    'mon4-mon1',
    '10:00,mon',
    '10:00/0',
    '10:00-',
    'moon',
    '10:00~11:00~12:00',
    ',',
    'mon-tue-wed',
    '-/2',
    '10:00-12:00/x',
  ],
);
const socket = record({
  'listen-stream': mostly(
    [
      '$SNAP_DATA/s',
      '$SNAP_COMMON/a/s',
      '$XDG_RUNTIME_DIR/s',
      '8080',
      '127.0.0.1:80',
      '[::1]:443',
      '@snap.harbour.s',
      new Raw('8080'),
    ],
    ['/run/s', '$SNAP_DATA//s', '$SNAP_USER_DATA/s', '0', '65536', '1.2.3.4:80', '@s', 'a', ':80', '[::]:0'],
  ),
  'socket-mode': mostly(
    [new Raw('0640'), new Raw('0777'), new Raw('420')],
    ['0640', new Raw('01000'), new Raw('-1'), new Raw('1.5'), new Raw('0o640')],
  ),
});

const names = ['run', 'daemon', 'other'];
const app = record({
  command: mostly(['bin/run', 'run --all $X', '/bin/run', ''], ['run "x"', "run 'x'", 'run|x', 'bin/é']),
  'command-chain': commandChain,
  daemon: fc.option(mostly(['simple', 'forking', 'oneshot', 'dbus', 'notify'], ['none']), { nil: '' }),
  'daemon-scope': mostly(['system', 'user'], ['other']),
  'stop-command': mostly(['bin/stop'], ['a;b']),
  'refresh-mode': mostly(['endure', 'restart', 'ignore-running'], ['x']),
  'install-mode': mostly(['enable', 'disable'], ['x']),
  'stop-mode': mostly(['sigterm', 'sighup-all'], ['sigkill']),
  'restart-condition': mostly(['always', 'no', 'never', 'on-failure'], ['sometimes']),
  'restart-delay': durations,
  'start-timeout': durations,
  timer: timers,
  plugs: listOf(['network', 'network-bind', 'home'], ['Home', 'a--b', '9p']),
  slots: listOf(['bus', 'mpris'], ['a_b']),
  aliases: listOf(['r', 'run.x', 'R_1'], ['a b', '-r', '']),
  after: listOf(names, ['none']),
  before: listOf(names),
  'activates-on': listOf(['bus'], ['none']),
  'common-id': mostly(['org.example.Run', 'org.example.Other']),
  completer: mostly(['bin/c']),
  sockets: keyed(['web', 'x1', 'W', 'a--b'], socket, 2),
  environment,
});

const attributes = mostly(
  [
    null,
    'network',
    { interface: 'content', target: '$SNAP/x' },
    { interface: 'dbus', bus: 'session', name: 'a.b' },
    { interface: 'dbus', bus: 'system' },
    {},
  ],
  [
    new Raw('{a: ~}'),
    new Raw('{1: b}'),
    { interface: null },
    { $a: 'b' },
    { label: ['x'] },
    { '': 'x' },
    new Raw('[a]'),
    new Raw('{a: 18446744073709551615}'),
    { a: { b: [1, 'c', 1.5] } },
    new Raw('{a: [{2: b}]}'),
  ],
);
const layout = fc.oneof(
  record({
    bind: mostly(['$SNAP/usr/x', '$SNAP_DATA/x', '$SNAP_COMMON'], ['/etc', '$HOME/x', '$SNAP/../x', 'x', '$SNAP/*']),
  }),
  record({ 'bind-file': mostly(['$SNAP/usr/x', '$SNAP/f'], ['f']) }),
  record({
    symlink: mostly(['$SNAP/usr/x'], ['$SNAP/', '$SNAP1/x']),
    mode: mostly(['0755', new Raw('0644'), '1777'], ['x', '2755', '8']),
  }),
  record({
    type: mostly(['tmpfs'], ['ext4']),
    user: mostly(['root'], ['nobody']),
    group: mostly(['root'], ['x']),
    bind: mostly(['$SNAP/x']),
  }),
);

const snap = fc.record(
  {
    name: mostly(['harbour'], ['Harbour', 'h', 'h--r', 'harbour_x', '1', 'x'.repeat(41)]),
    version: mostly(['1.0', '1', new Raw('1.10'), '1+git', 'a:b'], ['', '1 0', '-1', 'x'.repeat(33), '1.']),
    type: mostly(['app', 'application', 'gadget', 'kernel', 'base', 'os', 'snapd'], ['other']),
    title: mostly(['A harbour', 'x'.repeat(40), '😀'.repeat(40)], ['x'.repeat(41)]),
    summary: mostly(['s', 'x'.repeat(200)]),
    description: mostly(['d', 'x'.repeat(4096)], ['x'.repeat(4097), '😀'.repeat(4097)]),
    license: mostly(
      [
        'MIT',
        'GPL-3.0-or-later OR (MIT AND BSD-2-Clause)',
        'GPL-2.0-only WITH Classpath-exception-2.0',
        '(MIT)',
        'MIT AND (MIT)',
      ],
      [
        'GPLv3',
        'MIT MIT',
        'MIT AND',
        '(MIT',
        'MIT)',
        '()',
        'AND MIT',
        'MIT WITH MIT',
        'Proprietary',
        '(MIT AND)',
        'MIT OR OR MIT',
        'MIT (MIT)',
        ' ',
        'mit',
      ],
    ),
    provenance: mostly(['prov', 'a-b'], ['global-upload', 'a_b', '-a']),
    base: mostly(['core22', 'none', 'bare'], ['Core', 'core22_x', 'c']),
    confinement: mostly(['strict', 'devmode'], ['x']),
    epoch: mostly(
      [0, 1, '1*', '4294967295', { read: [1, 2, 3] }, { read: [0, 1], write: [1] }, { write: [3] }, {}],
      [
        '0*',
        '01',
        '4294967296',
        -1,
        { read: [] },
        { read: [2, 1] },
        { read: [1], write: [2] },
        'x',
        [1],
        new Raw('{read: ["1"]}'),
        '*',
        { read: Array.from({ length: 11 }, (_, at) => at) },
      ],
    ),
    architectures: mostly([['amd64'], ['AMD64', 'arm64'], ['all'], []], ['amd64']),
    assumes: listOf(['snapd2.55', 'common-data-dir']),
    environment,
    apps: keyed([...names, 'A-1', 'a_b'], app),
    plugs: keyed(['network', 'network-bind', 'shared', 'bus', 'a_b'], attributes),
    slots: keyed(['bus', 'mpris', 'network', 'A'], attributes, 2),
    hooks: keyed(
      ['configure', 'install', 'connect-plug-x', 'unknown', 'connect-plug-x-'],
      record({ plugs: listOf(['network', 'home']), 'command-chain': commandChain, environment }),
      2,
    ),
    layout: keyed(
      [
        '/usr/share/x',
        '/etc/x',
        '$SNAP/x',
        '/usr',
        '/opt/x/',
        '/dev/x',
        '/new/x',
        'usr/x',
        '/snap/other/x',
        '/snap/harbour/x',
        '/usr/*',
        '/lib/modules/x',
        '',
        '$X/a',
        '/',
        '$SNAP_DATA/y',
      ],
      layout,
      2,
    ),
    links: keyed(
      ['contact', 'website', 'a-b', '-a', 'a1'],
      mostly(
        [['mailto:ada@site.example'], ['https://site.example/x?y#z', 'http://site.example:80'], ['ada@site.example']],
        [
          [],
          ['ftp://site.example'],
          [''],
          ['site.example'],
          ['https://site example'],
          ['https://a:b:c'],
          ['%zz@'],
          ['https://[::1'],
          ['https://x/%z'],
          'mailto:a@b',
          [':a@b'],
          ['a:b@c'],
          ['1:b@c'],
          ['HTTPS://x'],
          ['http:x'],
          ['https://%41/x'],
          ['/a@b'],
        ],
      ),
      2,
    ),
    'system-usernames': keyed(
      ['snap_daemon', 'A', '-x'],
      mostly(['shared', { scope: 'shared', x: 'y' }], [{ x: 'y' }, { scope: ['a'] }, { scope: 'a', x: null }]),
      1,
    ),
    layouts: mostly([null], ['x']),
  },
  { requiredKeys: ['name', 'version'] },
);

/** Few fields at a time, so that about half of the texts are of snaps that a device accepts. */
const fewFields = fc.tuple(snap, fc.array(fc.nat(20), { minLength: 2, maxLength: 5 })).map(([all, chosen]) => {
  const optional = Object.entries(all).filter(([key]) => key !== 'name' && key !== 'version');
  const selected = new Set(chosen.map((at) => optional[at % Math.max(optional.length, 1)]?.[0]));
  return Object.fromEntries(
    Object.entries(all).filter(([key]) => selected.has(key) || key === 'name' || key === 'version'),
  );
});

export const snapYamlText: fc.Arbitrary<string> = fewFields.map((fields) =>
  Object.entries(fields)
    .map(([key, value]) => `${key}: ${written(value)}\n`)
    .join(''),
);

/** `count` texts, the same for the same `seed`. */
export const snapYamlTexts = (count: number, seed: number): string[] =>
  fc.sample(snapYamlText, { numRuns: count, seed });
