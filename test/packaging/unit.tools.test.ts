// The rating of the unit by systemd, and the profile for AppArmor.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { withoutPrograms } from '#test/fixtures/programs.ts';

const unit = join(import.meta.dirname, '../../packaging/debian/larder.service');
const analyze = '/usr/bin/systemd-analyze';

t.test(
  'the exposure of the unit is at most 1.4 of 10',
  { skip: existsSync(analyze) ? false : 'not installed: systemd' },
  (t) => {
    const args = ['security', '--offline=true', '--threshold=14', '--no-pager', unit];
    const { status, stdout } = spawnSync(analyze, args, { encoding: 'utf8' });
    t.equal(status, 0);
    const [line = '', score] = /Overall exposure level for larder\.service: ([\d.]+)/.exec(stdout) ?? [];
    t.ok(Number(score) <= 1.4, line);
    t.end();
  },
);

const profile = join(import.meta.dirname, '../../packaging/apparmor/larder.apparmor');
/** The kernel of a test machine may lack AppArmor: the features are those of Debian 12. */
const parser = ['--skip-kernel-load', '--skip-cache', '--features-file=/etc/apparmor.d/abi/3.0'];
const needsParser = { skip: withoutPrograms('apparmor_parser') };

/** Files of a data directory, as a served store with TLS opens them. */
const storeFiles = [
  ...[
    'larder.toml',
    '.larder.toml.0123',
    'larder.db',
    'larder.db-wal',
    'larder.db-shm',
    'larder.db-journal',
    'store.lock',
  ],
  ...[
    'site.key',
    'master.key',
    'audit.seal',
    'serving.json.new',
    'tls/server.key',
    'tls/ca.pem',
    'before-upgrade/0106.db',
  ],
  ...['blobs/ballast', 'blobs/tmp/a', 'blobs/sha3/00/0123', 'blobs/quarantine/0123'],
];
/** Files of the system that a served store opens. */
const hostFiles = [
  ...[
    '/etc/resolv.conf',
    '/etc/nsswitch.conf',
    '/etc/hosts',
    '/etc/machine-id',
    '/etc/ssl/openssl.cnf',
    '/etc/ssl/certs/ca-certificates.crt',
  ],
  ...[
    '/etc/localtime',
    '/usr/share/zoneinfo/Etc/UTC',
    '/dev/urandom',
    '/dev/null',
    '/proc/1/stat',
    '/proc/1/limits',
    '/proc/1/cgroup',
  ],
  ...[
    '/proc/1/coredump_filter',
    '/proc/1/fd/',
    '/proc/meminfo',
    '/sys/devices/system/cpu/online',
    '/sys/fs/cgroup/system.slice/memory.max',
  ],
];

t.test('the parser of AppArmor takes the profile without a warning', needsParser, (t) => {
  const { status, stderr } = spawnSync('/usr/sbin/apparmor_parser', [...parser, '--Werror', profile], {
    encoding: 'utf8',
  });
  t.strictSame([status, stderr], [0, '']);
  t.end();
});

t.test('the profile allows each file that the service uses, and no others', needsParser, (t) => {
  const allows = readRules(
    execFileSync('/usr/sbin/apparmor_parser', [...parser, '--preprocess', profile], { encoding: 'utf8' }),
  );
  const text = readFileSync(unit, 'utf8');
  const inUnit = (key: string): string[] =>
    [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].flatMap(([, value = '']) => value.split(' '));
  const data = inUnit('StateDirectory').map((name) => `/var/lib/${name}`);
  const programs = [...inUnit('ExecStart'), ...inUnit('ExecStartPost'), ...inUnit('ExecReload')].filter((word) =>
    word.startsWith('/'),
  );
  const writable = inUnit('NoExecPaths').filter((path) => path !== '/');
  const credentials = inUnit('LoadCredentialEncrypted').map((name) => `/run/credentials/larder.service/${name}`);
  t.ok(data.length > 0 && programs.length > 2 && writable.length > 2 && credentials.length > 2);
  const files: [permissions: string, paths: string[]][] = [
    ['mrx', [...programs, '/usr/lib/larder/pkcs11', '/usr/bin/dash', '/usr/bin/pkcs11-tool']],
    [
      'mr',
      [
        '/usr/lib/larder/better_sqlite3.node',
        '/usr/lib/x86_64-linux-gnu/opensc-pkcs11.so',
        '/usr/lib/aarch64-linux-gnu/libstdc++.so.6',
      ],
    ],
    [
      'rwk',
      [
        ...data.flatMap((folder) => storeFiles.map((name) => `${folder}/${name}`)),
        ...writable.map((folder) => `${folder}/larder-a/b`),
      ],
    ],
    ['r', [...credentials, '/run/credentials/larder.service/larder-pkcs11-pin', ...hostFiles]],
  ];
  for (const [permissions, paths] of files)
    for (const path of paths)
      for (const permission of permissions) t.ok(allows(path, permission), `${permission} ${path}`);
  for (const path of [
    '/etc/shadow',
    '/home/ada/a',
    '/root/.ssh/id_ed25519',
    '/var/lib/other/a',
    '/var/lib/larder-backups/a',
  ])
    t.notOk(allows(path, 'r'), path);
  for (const path of ['/usr/bin/larder', '/etc/passwd', '/usr/lib/larder/better_sqlite3.node'])
    t.notOk(allows(path, 'w'), path);
  for (const path of ['/usr/bin/python3', '/var/lib/larder/a', '/tmp/a']) t.notOk(allows(path, 'x'), path);
  t.end();
});

/** Returns whether a preprocessed profile allows an access: the rules for files of the profile, without its conditions on owners. */
function readRules(text: string): (path: string, permission: string) => boolean {
  const variables = new Map<string, string>();
  const expand = (pattern: string): string =>
    pattern.replace(/@\{(\w+)\}/g, (_, name: string) => expand(variables.get(name) ?? `{unknown ${name}}`));
  for (const [, name = '', sign, values = ''] of text.matchAll(/^@\{(\w+)\}\s*(\+?=)\s*(.*)$/gm)) {
    const words = values
      .replaceAll('"', '')
      .split(/\s+/)
      .filter(Boolean)
      .map((word) => word.replace(/(?<=.)\/$/, ''));
    const all = [...(sign === '+=' ? [variables.get(name) ?? ''] : []), ...words];
    variables.set(name, all.length === 1 ? all[0]! : `{${all.join()}}`);
  }
  const rules = [...text.matchAll(/^\s*(?:owner\s+)?((?:\/|@\{)\S*)\s+([a-zA-Z]+),/gm)].map(
    ([, pattern = '', permissions = '']) => ({
      path: new RegExp(`^${toPattern(expand(pattern))}$`),
      permissions,
    }),
  );
  return (path, permission) => rules.some((rule) => rule.permissions.includes(permission) && rule.path.test(path));
}

/** A pattern of AppArmor as a regular expression. */
function toPattern(glob: string): string {
  let depth = 0;
  return glob.replaceAll(/\/+/g, '/').replaceAll(/\*\*|[*?{},.+()|^$]/g, (sign) => {
    if (sign === '{') depth += 1;
    if (sign === '}') depth -= 1;
    const signs: Record<string, string> = {
      '**': '.*',
      '*': '[^/]*',
      '?': '[^/]',
      '{': '(?:',
      '}': ')',
      ',': depth > 0 ? '|' : ',',
    };
    return signs[sign] ?? `\\${sign}`;
  });
}
