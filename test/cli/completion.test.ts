// larder completion
import t from 'tap';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { groups } from '#cli/index.ts';
import { larder } from './world.ts';

const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name));

t.test('bash completes commands, their second words and their options', async (t) => {
  const { code, out } = await larder('completion bash');
  t.equal(code, 0);
  const file = join(t.testdir(), 'larder');
  writeFileSync(file, out);
  const complete = (...typed: string[]): string[] =>
    execFileSync('bash', [
      '-c',
      `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _larder; printf '%s\\n' "\${COMPREPLY[@]}"`,
      file,
      'larder',
      ...typed,
    ])
      .toString()
      .trim()
      .split('\n');
  t.match(complete('aud'), ['audit']);
  t.strictSame(complete('audit', ''), ['list', 'export', 'report', 'verify', 'accept']);
  t.match(complete('backup', './x', '--inc'), ['--include-keys']);
});

t.test('every command is in the completion of fish and in the manual page', async (t) => {
  const fish = (await larder('completion fish')).out;
  const man = (await larder('completion man')).out;
  for (const name of names) {
    for (const word of name.split(' ')) t.match(fish, new RegExp(`-a ${word}\\b`));
    t.ok(man.includes(`\n.SS ${name.replaceAll('-', '\\-')}\n`), name);
  }
  t.match(await larder('completion tcsh'), { code: 2, err: /one of bash, zsh, fish, man/ });
});
