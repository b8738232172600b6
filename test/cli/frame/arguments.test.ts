// Values that look like options, and names that are nearly right.
import t from 'tap';
import { Readable } from 'node:stream';
import { readArguments } from '#cli/frame/arguments.ts';
import { command, type CommandCall } from '#cli/frame/command.ts';
import { vectorKey } from '#test/assertions/vectors.ts';
import { newBrandStore, several } from '#test/cli/brands/brand-store.ts';

const world = { stdout: { write: () => true }, stderr: { write: () => true }, stdin: Readable.from([]), env: {} };
const example = command({
  name: 'example',
  summary: 'An example.',
  options: { since: { type: 'string', value: 'ID', summary: 'An id.' } },
  positionals: [{ name: 'id', summary: 'An id.', optional: true }],
  examples: ['larder example x'],
  run: () => ({ text: '', json: {} }),
});
const read = (...args: string[]) =>
  readArguments(example, args, world) as CommandCall<{ since: { type: 'string'; value: string; summary: string } }>;
const idIn = (...args: string[]): unknown => Object.entries(read(...args).positionals)[0]?.[1];

t.test('an id in base64url that begins with dashes is read as an id', (t) => {
  const digest = 'f'.repeat(63);
  t.equal(idIn(`-${digest}`), `-${digest}`);
  t.equal(idIn(`--${digest}`), `--${digest}`);
  t.equal(idIn('-8sB1xAbCdEf'), '-8sB1xAbCdEf', 'the short id of a transfer');
  t.equal(idIn('--', '-x'), '-x');
  t.equal(read('--since', '-abc').options.since, '-abc');
  t.throws(() => idIn('-x'), {
    message: /unknown option '-x'.*a value that begins with a dash is written behind '--'/,
  });
  t.throws(() => idIn('--sinse', 'x'), { message: /did you mean '--since'\?/ });
  t.throws(() => idIn('--a-long-option-that-nobody-knows=x'), { message: /unknown option/ });
  t.end();
});

t.test('a misspelt name is answered with the intended one', async (t) => {
  const { larder, json } = await newBrandStore(t);
  await json('account create --email ada@example.org --username ada --display-name Ada --id ada-id');
  await json('package register snap/hello --account ada-id');
  await json('package register charm/world --account ada-id');
  for (const [line, err] of [
    ['package show snap/helo', /There is no package snap\/helo\. Did you mean snap\/hello\?/],
    ['package show snap/world', /Did you mean charm\/world\?/],
    ['package show snap/quite-different', /'larder package list' lists them/],
    ['account show ada-ix', /did you mean 'ada-id' \(ada\)\?/],
    ['account show nobody-like-that', /'larder account list' lists them/],
    ['key show defalt --brand my-brand', /no signing key 'defalt'; did you mean 'default'\?/],
    ['release snap/hello 7 edge', /'hello' has no revision 7\. It has none yet\./],
    ['config get device.snap', /did you mean 'devices\.snap'\?/],
    ['confg get', /did you mean 'config get'\?/],
  ] as const) {
    t.match(await larder(line), { out: '', err }, line);
  }
});

t.test('an assertion is found without the parts of its key that are always the same', async (t) => {
  const { larder, json, file } = await newBrandStore(t);
  await json(
    `assertion import ${file('a.assert', several('brand-account-key', 'brand-account', 'store-account-key'))}`,
  );
  const { id } = vectorKey('rsa4096-a');
  t.match(await json(`assertion export account-key ${id}`), { name: `account-key/${id}` });
  t.match(await larder('assertion export snap-revision abc'), {
    err: /no assertion 'snap-revision\/abc\/global-upload'/,
  });
  t.match(await larder('assertion export model my-brand pump'), { err: /no assertion 'model\/16\/my-brand\/pump'/ });
  t.match(await larder('assertion export model 16 my-brand pump'), { err: /no assertion 'model\/16\/my-brand\/pump'/ });
  t.match(await larder('assertion export serial my-brand'), { err: /is named by: brand-id, model, serial\./ });
  t.match(await larder('assertion export serail a b c'), { code: 1, err: /did you mean 'serial'\?/ });
});
