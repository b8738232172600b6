// larder completion
import t from 'tap';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { groups } from '#cli/index.ts';
import { sections } from '#configuration/keys.ts';
import { newStore } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';

const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name));

t.test('bash completes with the words that larder suggests', async (t) => {
  const { code, out } = await larder('completion bash');
  t.equal(code, 0);
  const file = join(t.testdir(), 'larder');
  writeFileSync(file, out);
  const complete = (...typed: string[]): string[] =>
    execFileSync('bash', [
      '-c',
      `larder() { echo "sn-asked_<$*>" | tr ' ' _; }; source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _larder; printf '%s\\n' "\${COMPREPLY[@]}"`,
      file,
      'larder',
      ...typed,
    ])
      .toString()
      .trim()
      .split('\n');
  t.strictSame(complete('sn'), ['sn-asked_<completion_suggest_--_sn>']);
  t.strictSame(complete('audit', ''), ['sn-asked_<completion_suggest_--_audit_>']);
  t.strictSame(complete('token', 'issue', '--for', 'sn'), ['sn-asked_<completion_suggest_--_token_issue_--for_sn>']);
});

t.test('every command is in the completion of fish and in the manual page', async (t) => {
  const fish = (await larder('completion fish')).out;
  const man = (await larder('completion man')).out;
  for (const name of names) {
    for (const word of name.split(' ')) t.match(fish, new RegExp(`-a ${word}\\b`));
    t.ok(man.includes(`\n.SS ${name.replaceAll('-', '\\-')}\n`), name);
  }
  const { pages } = JSON.parse((await larder('completion man --json')).out) as { pages: Record<string, string> };
  t.same(Object.keys(pages).sort(), [...new Set(names.map((name) => `larder-${name.split(' ')[0]!}.1`))].sort());
  for (const name of names)
    t.ok(pages[`larder-${name.split(' ')[0]!}.1`]!.includes(`\n.SS ${name.replaceAll('-', '\\-')}\n`), name);
  t.match(await larder('completion tcsh'), { code: 2, err: /one of bash, zsh, fish, man/ });
  t.match(man, /\n\.SH FILES\n[^]*larder\.toml[^]*\n\.SH SEE ALSO\n\.BR larder\.toml \(5\)\n/);
});

t.test('completion offers values: words of options, and names and ids of the store', async (t) => {
  const store = await newStore(t);
  await store.json('account create --id ada --email ada@example.org --username ada --display-name Ada');
  await store.json('brand create --account ada --name Ada --key serials');
  await store.json('package register snap/hello --account ada');
  await store.json('package register charm/hello-charm --account ada');
  const suggest = async (...typed: string[]): Promise<string[]> => {
    const words = typed.map((word) => (word === '' ? "''" : `'${word}'`)).join(' ');
    const { code, out, err } = await store.larder(`completion suggest -- ${words}`);
    t.strictSame([code, err], [0, ''], typed.join(' '));
    return out.trimEnd().split('\n');
  };
  for (const [typed, expected] of [
    [['aud'], ['audit']],
    [
      ['audit', ''],
      ['list', 'export', 'report', 'verify', 'accept'],
    ],
    [['backup', './x', '--incl'], ['--include-keys']],
    [
      ['token', 'issue', '--for', ''],
      ['snapcraft', 'charmcraft', 'images', 'curl'],
    ],
    [['token', 'issue', '--for', '=', 'sn'], ['snapcraft']],
    [
      ['token', 'issue', '--permission', 'package-manage-r'],
      ['package-manage-releases', 'package-manage-revisions'],
    ],
    [['token', 'issue', '--account', 'ad'], ['ada']],
    [['token', 'issue', '--account', 'ada', '--package', 'snap'], ['snap:hello']],
    [['token', 'issue', '--acc'], ['--account']],
    [['token', 'issue', '--account', 'ada', '--acc'], ['']],
    [
      ['account', 'role', 'ada', ''],
      ['store-admin', 'transfer-approver', 'auditor', 'brand-admin:ada'],
    ],
    [['account', 'show', 'a'], ['ada']],
    [['package', 'show', 'c'], ['charm/hello-charm']],
    [['release', 'snap/hello', '1', 'st'], ['stable']],
    [
      ['subscription', 'add', '--set', ''],
      ['juju', 'builders', 'ubuntu-core'],
    ],
    [['key', 'request', ''], ['serials']],
    [['config', 'set', 'devices.s'], ['devices.snap']],
    [['log-level', 'de'], ['debug']],
    [
      ['help', 'appr'],
      ['approval', 'approver-key'],
    ],
    [
      ['help', 'config', ''],
      ['get', 'set', 'unset'],
    ],
    [['--da'], ['--data']],
    [['package', 'push', ''], ['']],
    [['nonsense', 'x', 'y'], ['']],
  ] as const) {
    t.strictSame(await suggest(...typed), expected, typed.join(' '));
  }
  // A store that cannot be read gives no names, and no error at the prompt.
  t.match(await larder('completion suggest -- account show a --data /nowhere'), { code: 0, err: '' });
  t.match(await larder('--data /nowhere completion suggest -- release w'), { code: 0, out: 'wait\n', err: '' });
});

t.test('larder.toml(5) has every key of the schema', async (t) => {
  const { code, out } = await larder('completion config-man');
  t.equal(code, 0);
  for (const [section, { keys }] of sections()) {
    t.ok(out.includes(`\n.SH [${section}]\n`), section);
    for (const key of keys.keys()) t.ok(out.includes(`\n.B ${key}\n`), `${section}.${key}`);
  }
});
