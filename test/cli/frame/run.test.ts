// How command lines are read and answered, shown on commands made for it.
import t from 'tap';
import { Refusal } from '#domain/refusal.ts';
import { command, dataInUse, Failure, UsageError, type Command } from '#cli/frame/command.ts';
import { help } from '#cli/frame/help/help.ts';
import type { CommandGroup } from '#cli/frame/command.ts';
import { ConfigError } from '#configuration/config.ts';
import { larder } from '#test/cli/world.ts';

const pack = command({
  name: 'shelf pack',
  summary: 'Pack a shelf.',
  description: 'Puts everything where it belongs.',
  options: {
    email: { type: 'string', value: 'EMAIL', summary: 'Whose shelf.', required: true },
    'display-name': { type: 'string', value: 'NAME', summary: 'What it is called.', required: true },
    channel: { type: 'string', value: 'CHANNEL', summary: 'Which channel.', repeated: true },
    kind: { type: 'string', value: 'KIND', summary: 'Which kind.', choices: ['snap', 'charm'] },
    ttl: { type: 'integer', value: 'SECONDS', summary: 'How long.', minimum: 1, maximum: 3600 },
    private: { type: 'boolean', summary: 'Whether nobody sees it.' },
  },
  positionals: [
    { name: 'shelf', summary: 'Which shelf.' },
    { name: 'rows', value: 'ROW', summary: 'Which rows.', repeated: true },
  ],
  examples: ["larder shelf pack one --email ada@example.org --display-name 'Ada'"],

  run({ options, positionals, data, json }) {
    // The types follow the record: this would not compile otherwise.
    const typed: {
      email: string;
      ttl: number | undefined;
      channel: readonly string[];
      kind: string | undefined;
      private: boolean;
    } = options;
    const { shelf, rows }: { shelf: string; rows: readonly string[] } = positionals;
    return { text: `packed ${shelf}`, json: { ...typed, shelf, rows, data, json } };
  },
});
const list = command({
  name: 'shelf list',
  summary: 'List the shelves.',
  examples: ['larder shelf list'],
  run: () => ({ text: '', json: [] }),
});

/** A command that fails like this. */
const failing = (error: unknown): Command =>
  command({ name: 'fail', summary: 'Fail.', examples: ['larder fail'], run: () => Promise.reject(error as Error) });

function listed(...commands: Command[]): readonly CommandGroup[] {
  const groups: CommandGroup[] = [
    {
      title: 'Shelves',
      commands: commands.map((record) => ({ name: record.name, load: () => Promise.resolve(record) })),
    },
    { title: 'Help', commands: [{ name: 'help', load: () => Promise.resolve(help(groups)) }] },
  ];
  return groups;
}

const groups = listed(pack, list);
const ada = "--email ada@example.org --display-name 'Ada Lovelace'";
const packed = async (line: string, env = {}) => {
  const { code, out, err } = await larder(line, { groups, env });
  t.equal(code, 0, err);
  t.equal(out.trimEnd().split('\n').length, 1, 'one JSON document');
  return JSON.parse(out) as unknown;
};
const error = async (line: string) => {
  const { code, out, err } = await larder(line, { groups });
  t.equal(code, 2, line);
  t.equal(out, '', 'nothing on the standard output');
  return err.split('\n')[0];
};

t.test('options are read in both spellings, positionals in between, and a -- ends the options', async (t) => {
  const nothing = { channel: [], private: false, json: true, data: '/var/lib/larder' };
  const expected = { email: 'ada@example.org', 'display-name': 'Ada Lovelace', shelf: 'one' };
  t.strictSame(await packed(`shelf pack one ${ada} --json`), { ...nothing, ...expected, rows: [] });
  t.strictSame(
    await packed(
      `--json shelf pack --email=ada@example.org one --ttl 60 "--display-name=Ada Lovelace" 1 --private --channel edge --channel=a=b -- --3`,
    ),
    { ...nothing, ...expected, ttl: 60, private: true, channel: ['edge', 'a=b'], rows: ['1', '--3'] },
  );
  t.match(await packed(`shelf pack - ${ada} --json --kind charm`), { shelf: '-', kind: 'charm' });
  t.match(await packed(`shelf pack a ${ada} --json --channel=--x`), { channel: ['--x'] });
  t.equal((await larder(`shelf pack one ${ada} -- --json`, { groups })).out, 'packed one\n', 'behind -- it is a row');
});

t.test('the data directory is the option, else the environment, else /var/lib/larder', async (t) => {
  const data = async (line: string, env = {}) =>
    ((await packed(`${line} one ${ada} --json`, env)) as { data: string }).data;
  t.equal(await data('shelf pack --data /srv/a', { LARDER_DATA: '/srv/b' }), '/srv/a');
  t.equal(await data('--data /srv/a shelf pack'), '/srv/a');
  t.equal(await data('--data=/srv/a shelf pack'), '/srv/a');
  t.equal(await data('shelf pack', { LARDER_DATA: '/srv/b' }), '/srv/b');
  t.equal(await data('shelf pack', { LARDER_DATA: '' }), '/var/lib/larder');
  t.equal(await data('shelf pack --data x/../y'), `${process.cwd()}/y`, 'a relative one from here');
});

t.test('a wrong command line is refused with the intended one', async (t) => {
  const cases: [string, string][] = [
    ['shlef pack', "there is no command 'shlef pack'; did you mean 'shelf pack'?"],
    ['shelf pakc x', "there is no command 'shelf pakc'; did you mean 'shelf pack'?"],
    ['shelv', "there is no command 'shelv'; did you mean 'shelf'?"],
    ['shelf', "'shelf' needs another word: pack, list"],
    ['shelf --data x', "'shelf' needs another word: pack, list"],
    ['shelf zebra', "there is no command 'shelf zebra'; there is pack, list"],
    ['zebra', "there is no command 'zebra'"],
    ['help shlef', "there is no command 'shlef'"],
    ['--jsn shelf list', "unknown option '--jsn' before the command; did you mean '--json'?"],
    ['-x=1 shelf list', "unknown option '-x' before the command; write the options of a command after its name"],
    [`shelf pack one ${ada} --chanel edge`, "unknown option '--chanel' of 'shelf pack'; did you mean '--channel'?"],
    [`shelf pack one ${ada} --display x`, "unknown option '--display' of 'shelf pack'; did you mean '--display-name'?"],
    [
      `shelf pack one ${ada} -p`,
      "unknown option '-p' of 'shelf pack'; a value that begins with a dash is written behind '--'",
    ],
    [`shelf pack one ${ada} --constructor`, "unknown option '--constructor' of 'shelf pack'"],
    [`shelf pack one ${ada} --email x`, '--email is given twice'],
    [`shelf pack one ${ada} --private --private`, '--private is given twice'],
    [`shelf pack one ${ada} --private=yes`, '--private takes no value'],
    [`shelf pack one ${ada} --kind`, '--kind needs a value, KIND'],
    [`shelf pack one ${ada} --kind=`, '--kind needs a value, KIND'],
    [
      `shelf pack one ${ada} --kind --private`,
      '--kind needs a value; write a value that begins with dashes as --kind=--private',
    ],
    [`shelf pack one ${ada} --kind snp`, "--kind cannot be 'snp'; did you mean 'snap'?"],
    [`shelf pack one ${ada} --kind zebra`, "--kind cannot be 'zebra'; it is one of snap, charm"],
    [`shelf pack one ${ada} --ttl 1e3`, "--ttl is a whole number from 1 to 3600, not '1e3'"],
    [`shelf pack one ${ada} --ttl 0`, "--ttl is a whole number from 1 to 3600, not '0'"],
    [`shelf pack one ${ada} --ttl 3601`, "--ttl is a whole number from 1 to 3600, not '3601'"],
    ['shelf pack one', "'shelf pack' needs --email EMAIL and --display-name NAME"],
    [`shelf pack ${ada}`, "'shelf pack' needs SHELF"],
    ['shelf list now', "'shelf list' cannot use 'now'"],
  ];
  for (const [line, message] of cases) t.equal(await error(line), `larder: ${message}`);
});

t.test('a wrong command line is answered with the right one, and an example', async (t) => {
  const { err } = await larder('shelf pack one', { groups });
  t.equal(
    err,
    `larder: 'shelf pack' needs --email EMAIL and --display-name NAME

Usage: larder shelf pack SHELF [ROW]... --email EMAIL --display-name NAME [--channel CHANNEL]... [--kind KIND] [--ttl SECONDS] [--private]
Example: larder shelf pack one --email ada@example.org --display-name 'Ada'
More: larder help shelf pack
`,
  );
  t.match((await larder('zebra', { groups })).err, "'larder help' lists the commands.");
});

t.test('without a command, the list of commands is shown', async (t) => {
  const { code, out, err } = await larder('', { groups });
  t.equal(code, 2);
  t.equal(out, '');
  t.equal(err, (await larder('help', { groups })).out);
  t.match(err, '  Shelves\n    shelf\n');
  t.match((await larder('help --all', { groups })).out, '  shelf pack  Pack a shelf.\n');
  t.match(await larder('--data /srv', { groups }), { code: 2, err });
  t.match(JSON.parse((await larder('--json', { groups })).err), { error: 'a command is needed', code: 'usage' });
});

t.test('help for the first of two words lists what may follow', async (t) => {
  const { code, out } = await larder('help shelf', { groups });
  t.equal(code, 0);
  t.match(out, '  shelf pack  Pack a shelf.\n  shelf list  List the shelves.\n');
  t.notMatch(out, 'List the commands');
  t.strictSame((await larder('shelf --help', { groups })).out, out);
  t.match(await larder('zebra --help', { groups }), { code: 2, err: /there is no command 'zebra'/ });
});

t.test('the help of a command shows all of its record', async (t) => {
  const { out } = await larder('help shelf pack', { groups });
  t.equal(
    out,
    `Pack a shelf.

Puts everything where it belongs.

Usage
  larder shelf pack SHELF [ROW]... --email EMAIL --display-name NAME [--channel
  CHANNEL]... [--kind KIND] [--ttl SECONDS] [--private]

Arguments
  SHELF  Which shelf.
  ROW    Which rows.

Options
  --email EMAIL        Whose shelf.
  --display-name NAME  What it is called.
  --channel CHANNEL    Which channel. May be given more than once.
  --kind KIND          Which kind. One of snap, charm.
  --ttl SECONDS        How long. From 1 to 3600.
  --private            Whether nobody sees it.

Options of every command
  --data DIR  The data directory of the store. Default: $LARDER_DATA, else
              /var/lib/larder.
  --json      Print one JSON document.
  --quiet     Print nothing on success.
  --help      Show the help of the command.

Example
  larder shelf pack one --email ada@example.org --display-name 'Ada'
`,
  );
});

t.test('a failure is one sentence with its own exit code, in JSON too', async (t) => {
  const cause = new Error('disk gone', { cause: new Error('EIO') });
  const cases: [unknown, number, string, string][] = [
    [new Failure('The name is taken.'), 1, 'The name is taken.', 'failed'],
    [new Refusal('already-registered', "The name 'a' is taken."), 1, "The name 'a' is taken.", 'already-registered'],
    [
      new ConfigError('larder.toml', [{ line: 3, message: 'one' }, { message: 'two' }]),
      1,
      'larder.toml:3: one\nlarder.toml: two',
      'configuration',
    ],
    [dataInUse('/srv/a'), 3, 'the data directory /srv/a is in use by another larder', 'data-in-use'],
    [new UsageError('not so'), 2, 'not so', 'usage'],
    [new Error('cannot read', { cause }), 1, 'cannot read: disk gone: EIO', 'failed'],
    [new Error('cannot read', { cause: 'text' }), 1, 'cannot read: text', 'failed'],
    ['text', 1, 'text', 'failed'],
    [undefined, 1, 'undefined', 'failed'],
  ];
  for (const [thrown, code, message, name] of cases) {
    const groups = listed(failing(thrown));
    const people = await larder('fail', { groups });
    t.match(people, { code, out: '' });
    t.ok(people.err.startsWith(`larder: ${message}\n`), message);
    t.notMatch(people.err, /at .*\.ts/, 'without a stack');
    const programs = await larder('fail --json', { groups });
    t.match(programs, { code, out: '' });
    t.strictSame(JSON.parse(programs.err), { error: message, code: name });
  }
});

t.test('LARDER_DEBUG=1 shows the place of a failure in the code', async (t) => {
  const options = {
    groups: listed(failing(new Error('lost', { cause: new Error('gone') }))),
    env: { LARDER_DEBUG: '1' },
  };
  t.match(
    (await larder('fail', options)).err,
    /^larder: lost: gone\n\nError: lost\n {4}at [^]*\ncaused by Error: gone\n {4}at /,
  );
  t.match(JSON.parse((await larder('fail --json', options)).err), {
    error: 'lost: gone',
    stack: /Error: lost\n {4}at /,
  });
});

t.test('colours are for terminals that want them', async (t) => {
  const groups = listed(failing(new Error('lost \u001b[2J')));
  const shown = async (options: object) => (await larder('fail', { groups, ...options })).err;
  t.equal(
    await shown({ terminal: true }),
    '\u001b[31mlarder:\u001b[39m lost \\u001b[2J\n',
    'and what others wrote cannot steer it',
  );
  for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
    t.equal(await shown({ terminal: true, env }), 'larder: lost \\u001b[2J\n');
  t.equal(await shown({}), 'larder: lost \\u001b[2J\n');
  t.match((await larder('help', { groups, terminal: true })).out, '\u001b[1mUsage\u001b[22m');
});

t.test('a command cannot take an option that all commands have', async (t) => {
  t.throws(
    () =>
      command({
        name: 'x',
        summary: 'X.',
        options: { data: { type: 'boolean', summary: 'X.' } },
        examples: ['larder x'],
        run: () => ({ text: '', json: {} }),
      }),
    { message: "cannot declare 'x': every command has --data already" },
  );
});
