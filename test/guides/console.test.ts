// The guide to the console, typed unchanged.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { newStore } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { examplesThroughout, missingOutput } from '#test/fixtures/guides.ts';

t.test('an administrator logs in, and invites another one, with the lines of the guide', async (t) => {
  const { data } = await newStore(t);
  const [first = [], others = [], ...settings] = examplesThroughout('console');
  const run = (line: string, stdin: string[] = []) =>
    larder(`${line.replace(/^larder /, '')} --data ${data}`, { stdin });
  const printed: string[] = [];
  for (const line of [...first, ...others]) {
    const isPassword = line.includes(' password ');
    const outcome = await (isPassword ? run(`${line} --password-stdin`, ['four pumps at the harbour, 9']) : run(line));
    t.equal(outcome.code, 0, `${line}: ${outcome.err}`);
    printed.push(outcome.out);
  }
  t.same(missingOutput('console', 'The first time', printed.join('\n')), []);
  t.match((await run('account list')).out, /ada .*store-admin/);
  t.equal(settings.length, 3);
  for (const [name, ...lines] of settings) {
    t.equal(name, '# larder.toml');
    const file = join(data, 'larder.toml');
    // A section stands once: its head in the file takes the lines.
    const [section = '', ...keys] = lines;
    const text = readFileSync(file, 'utf8');
    t.ok(text.includes(`\n${section}\n`), section);
    writeFileSync(file, text.replace(`\n${section}\n`, `\n${lines.join('\n')}\n`));
    t.equal((await run('account list')).code, 0, keys.join(', '));
  }
});
