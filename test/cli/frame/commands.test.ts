// Rules for every command of larder.
import t from 'tap';
import { Readable } from 'node:stream';
import { readArguments } from '#cli/frame/arguments.ts';
import { groups } from '#cli/index.ts';
import { version as release } from '#platform/version.ts';
import { larder, words } from '#test/cli/world.ts';

const world = { stdout: { write: () => true }, stderr: { write: () => true }, stdin: Readable.from([]), env: {} };

for (const { name, load } of groups.flatMap(({ commands }) => commands)) {
  t.test(`'${name}' is declared as it is listed, and describes itself`, async (t) => {
    const command = await load();
    t.equal(command.name, name);
    t.match(name, /^[a-z-]+(?: [a-z-]+)?$/);
    t.match(command.summary, /^[A-Z].*\.$/, 'the summary is a sentence');
    for (const record of [...command.positionals, ...Object.values(command.options)]) {
      t.match(record.summary, /^[A-Z].*\.$/, 'so is what is said about each argument');
    }
    for (const example of command.examples) {
      t.ok(example.startsWith(`larder ${name}`), example);
      const args = words(example).slice(1 + name.split(' ').length);
      t.doesNotThrow(() => readArguments(command, args, world), `${example} can be typed`);
    }
    const help = await larder(`help ${name}`);
    t.equal(help.code, 0);
    t.equal(help.err, '');
    for (const expected of [command.summary.slice(0, 40), command.examples[0]!, '--data DIR', '--json', '--help'])
      t.match(help.out, expected);
    for (const option of Object.keys(command.options)) t.match(help.out, `--${option}`);
    t.ok(
      help.out.split('\n').every((line) => line.length <= 80 || line.startsWith('  larder ')),
      'in 80 columns',
    );
    t.strictSame(await larder(`${name} --help`), help, 'the same with --help');
    t.strictSame(await larder(`--help ${name}`), help, 'and with --help in front');
  });
}

t.test('help lists every command in its group', async (t) => {
  const { code, out } = await larder('help --all');
  t.equal(code, 0);
  for (const { title, commands } of groups) {
    t.match(out, `\n${title}\n`);
    for (const { name } of commands) t.match(out, new RegExp(`^  ${name} +[A-Z]`, 'm'));
  }
});

t.test('larder without a command fits on one screen, and names every topic', async (t) => {
  const { code, out } = await larder('help');
  t.equal(code, 0);
  t.strictSame(await larder('--help'), { code, out, err: '' });
  t.strictSame(await larder(''), { code: 2, out: '', err: out });
  t.ok(out.split('\n').length <= 45, `${String(out.split('\n').length)} lines`);
  t.ok(out.split('\n').every((line) => line.length <= 80));
  for (const { title, commands } of groups) {
    t.match(out, `\n  ${title}\n`);
    for (const { name } of commands) t.match(out, new RegExp(`\\b${name.split(' ')[0]!}\\b`));
    const topic = await larder(`help '${title}'`);
    for (const { name } of commands) t.match(topic.out, new RegExp(`^  ${name} `, 'm'));
  }
});

t.test('help for programs is one JSON document', async (t) => {
  const all = JSON.parse((await larder('help --json')).out) as { commands: { name: string; examples: string[] }[] };
  t.strictSame(
    all.commands.map(({ name }) => name),
    groups.flatMap(({ commands }) => commands.map(({ name }) => name)),
  );
  const description = JSON.parse((await larder('help version --json')).out) as object;
  t.match(description, {
    name: 'version',
    usage: 'larder version',
    examples: ['larder version', 'larder version --json'],
  });
  t.strictSame(JSON.parse((await larder('version --json --help')).out), description);
});

t.test('version prints the release', async (t) => {
  t.match(await larder('version'), { code: 0, out: new RegExp(`^larder ${release} \\(Node 24`), err: '' });
  t.match(JSON.parse((await larder('--json version')).out), {
    version: release,
    node: process.versions.node,
  });
  t.strictSame(await larder('--version'), await larder('version'));
});

t.test('a missing or empty file is named before any question', async (t) => {
  t.match(await larder('restore /nowhere/missing.tar --data /nowhere/data'), {
    code: 1,
    err: /^larder: cannot read \/nowhere\/missing\.tar: there is no folder \/nowhere; /,
  });
  t.match(await larder('assertion import'), {
    code: 2,
    err: /^larder: nothing was read: name the files of assertions\n/,
  });
  t.match(await larder('assertion import /dev/null'), {
    code: 1,
    err: 'larder: Nothing was read: there is no assertion in /dev/null.\n',
  });
  t.match(await larder('assertion import return.assert'), {
    code: 1,
    err: 'larder: There is no file return.assert.\n',
  });
});
