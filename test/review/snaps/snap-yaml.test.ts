import t from 'tap';
import fc from 'fast-check';
import { readSnapYaml } from '#review/snaps/snap-yaml.ts';
import { Unacceptable } from '#review/unacceptable.ts';

const read = (lines: string) => readSnapYaml(`name: hello\nversion: 1\n${lines}`, 'hello');

function sentences(yaml: string, name = 'hello'): string[] {
  try {
    readSnapYaml(yaml, name);
    return [];
  } catch (error) {
    if (error instanceof Unacceptable) return error.sentences;
    throw error;
  }
}
const refused = (lines: string) => sentences(`name: hello\nversion: 1\n${lines}`);

t.test('a snap with only its name and version has the defaults', async (t) => {
  t.same(read(''), {
    name: 'hello',
    version: '1',
    type: 'app',
    base: null,
    grade: 'stable',
    confinement: 'strict',
    architectures: ['all'],
    apps: [],
    title: null,
    summary: null,
    description: null,
    license: null,
    links: {},
    epoch: null,
    snapYaml: 'name: hello\nversion: 1\n',
  });
});

t.test('links are read from their list, and from the keys that older publishing tools write at the top', async (t) => {
  for (const [lines, links] of [
    ['contact: ada@site.example', { contact: ['mailto:ada@site.example'] }],
    [
      'contact: [https://site.example/ask, ada@site.example]',
      { contact: ['https://site.example/ask', 'mailto:ada@site.example'] },
    ],
    [
      'website: https://site.example/\nissues: https://site.example/issues',
      { issues: ['https://site.example/issues'], website: ['https://site.example/'] },
    ],
    [
      'source-code: https://site.example/git\ndonation: https://site.example/give',
      { donations: ['https://site.example/give'], source: ['https://site.example/git'] },
    ],
    ['contact: top@site.example\nlinks: {contact: [ada@site.example]}', { contact: ['mailto:ada@site.example'] }],
    ['website: top.example\ncontact: {a: b}\nissues: [javascript:x()]', {}],
  ] as const) {
    t.same(read(`${lines}\n`).links, links, lines);
  }
});

t.test('values are taken as they are written', async (t) => {
  for (const version of ['1.10', '0x1F', '1e3', '007', '1_000', 'yes', '2024-01-01', '.5~', '1.0+git-abc']) {
    const yaml = `name: hello\nversion: ${version}\n`;
    if (version === '1_000' || version === '.5~') t.match(sentences(yaml), [/The version/], version);
    else t.equal(readSnapYaml(yaml, 'hello').version, version);
  }
  t.equal(read('summary: no').summary, 'no');
  t.equal(read('summary: "null"').summary, 'null');
  t.equal(read('description: |\n  two\n  lines\n').description, 'two\nlines\n');
});

t.test('~, null, an empty text and nothing at all mean absent', async (t) => {
  for (const nothing of ['~', 'null', '', '""']) {
    const keys = ['base', 'grade', 'apps', 'title', 'summary', 'epoch'];
    // To a device these are not absent if they are an empty text in quotes.
    if (nothing !== '""') keys.push('type', 'confinement', 'architectures');
    const facts = read(keys.map((key) => `${key}: ${nothing}\n`).join(''));
    t.same({ ...facts, snapYaml: '' }, { ...read(''), snapYaml: '' }, JSON.stringify(nothing));
    t.match(sentences(`name: ${nothing}\nversion: 1`), [/meta\/snap\.yaml has no 'name': add it/]);
    t.match(sentences(`name: hello\nversion: ${nothing}`), [/meta\/snap\.yaml has no 'version': add it/]);
  }
});

t.test('the name keeps to the rule for names', async (t) => {
  for (const name of ['a1', 'hello', 'x-1-y', '0ad', 'a'.repeat(40)]) {
    t.same(sentences(`name: ${name}\nversion: 1`, name), [], name);
  }
  for (const name of ['a', 'Hello', '-a', 'a-', 'a--b', '123', 'a_b', 'a.b', 'é', 'a'.repeat(41), 'a/b', '"a\\nb"']) {
    t.match(sentences(`name: ${name}\nversion: 1`), [/^The name '.*' in meta\/snap\.yaml is not possible/], name);
  }
});

t.test('the version keeps to the rule for versions', async (t) => {
  for (const version of ['1', 'v', '1.2.3', '1:2~rc+x', '1-2', 'a'.repeat(32), '1+', '1~']) {
    t.same(sentences(`name: hello\nversion: ${version}`), [], version);
  }
  for (const version of ['-1', '1.', '1-', '"1:"', 'a b', 'a'.repeat(33), 'ü', '"1\\n"', '1/2']) {
    t.match(
      sentences(`name: hello\nversion: ${version}`),
      [/^The version '.*' in meta\/snap\.yaml is not possible/],
      version,
    );
  }
  t.match(sentences('name: hello\nversion: [1]'), [/'version' in meta\/snap\.yaml must be one text/]);
});

t.test('type, grade and confinement are words that devices know', async (t) => {
  for (const type of ['app', 'gadget', 'kernel', 'base', 'os', 'snapd'] as const)
    t.equal(read(`type: ${type}`).type, type);
  t.equal(read('type: application').type, 'app');
  t.equal(readSnapYaml('name: snapd\nversion: 1\ntype: app', 'snapd').type, 'snapd');
  t.same(refused('type: App'), [
    "The type 'App' in meta/snap.yaml is unknown: use app, gadget, kernel, base, os, snapd.",
  ]);
  t.equal(read('grade: devel').grade, 'devel');
  t.match(refused('grade: edge'), [/The grade 'edge' .* use stable, devel\./]);
  t.equal(read('confinement: classic').confinement, 'classic');
  t.match(refused('confinement: none'), [/The confinement 'none' .* use strict, classic, devmode\./]);
  t.match(refused('confinement: {a: b}'), [/'confinement' in meta\/snap\.yaml must be one text/]);
});

t.test('a base is another snap, or none', async (t) => {
  t.equal(read('base: core24').base, 'core24');
  t.equal(read('base: none').base, 'none');
  t.match(refused('base: Core'), [/The base 'Core' .* is not the name of a snap/]);
});

t.test('architectures are a list of names', async (t) => {
  t.same(read('architectures: [amd64, arm64, amd64]').architectures, ['amd64', 'arm64']);
  t.same(read('architectures: []').architectures, ['all']);
  t.same(read('architectures: [AMD64, x86_64]').architectures, ['AMD64', 'x86_64'], 'as they are written');
  t.match(refused('architectures: amd64'), [/must be a list/]);
  t.match(refused('architectures: [amd64, "x y"]'), [/'x y' is among them/]);
  t.match(refused('architectures: [{build-on: amd64}]'), [/something else is among them/]);
  t.match(refused('architectures: [~]'), [/something else is among them/]);
});

t.test('apps keep the order of the file, and their names the rule', async (t) => {
  t.same(read('apps:\n  z:\n  10: {}\n  2: {}\n  a-b: {}\n  A1: {}').apps, ['z', '10', '2', 'a-b', 'A1']);
  for (const name of ['a--b', '-a', 'a-', 'a.b', 'a b', 'ä', '__proto__', '""']) {
    t.match(
      refused(`apps:\n  ok: {}\n  ${name}: {}`),
      [/^The app name '.*' in meta\/snap\.yaml is not possible/],
      name,
    );
  }
  t.match(refused('apps: {? [x] : y}'), [/The app name that is no text/]);
  t.match(refused('apps: [run]'), [/must be a mapping/]);
});

t.test('text for people has a length that the store can keep', async (t) => {
  const limits = { title: 256, summary: 65536, description: 65536 } as const;
  for (const key of ['title', 'summary', 'description'] as const) {
    const longest = '🥫'.repeat(limits[key]);
    t.equal(read(`${key}: ${longest}`)[key], longest);
    t.equal(read(`${key}: ${longest}x`)[key], longest, 'the rest of it stays in the snap alone');
    t.equal(read(`${key}: "a\\0b"`)[key], 'a\ufffdb', 'a device reads it; the records cannot keep it');
    t.match(refused(`${key}: "a\\ud800b"`), [/an escape that is no Unicode character/]);
    t.match(refused(`${key}: [a]`), [/must be one text/]);
  }
});

t.test('an epoch is kept as text', async (t) => {
  for (const epoch of ['0', '1', '12', '1*', '12*']) t.equal(read(`epoch: ${epoch}`).epoch, epoch);
  t.equal(read('epoch: {read: [0, 1], write: [1]}').epoch, '{"read":[0,1],"write":[1]}');
  t.equal(read('epoch: {write: [3]}').epoch, '{"read":[3],"write":[3]}');
  const eleven = Array.from({ length: 11 }, (_, at) => at).join(',');
  for (const epoch of ['0*', '-1', '01', '1.0', 'x', '1**', '[1]', '{read: []}', '{read: [1, 1]}', '{read: [2, 1]}']) {
    t.match(refused(`epoch: ${epoch}`), [/'epoch' in meta\/snap\.yaml must be/], epoch);
  }
  t.equal(read('epoch: {read: [1, 2, 3]}').epoch, '{"read":[1,2,3],"write":[3]}', 'it writes the last that it reads');
  t.equal(read('epoch: {}').epoch, '{"read":[0],"write":[0]}');
  t.equal(read('epoch: {read: [1], other: [1]}').epoch, '{"read":[1],"write":[1]}');
  t.equal(read('epoch: 4294967295*').epoch, '4294967295*');
  for (const epoch of ['{read: [1], write: [2]}', '{read: 1}', '4294967296', `{read: [${eleven}]}`]) {
    t.match(refused(`epoch: ${epoch}`), [/'epoch' in meta\/snap\.yaml must be/], epoch);
  }
});

t.test('all mistakes are reported at once', async (t) => {
  const mistakes = sentences(
    'name: Hello\ntype: apps\ngrade: x\nconfinement: y\nbase: Z\napps: []\nepoch: z\nsummary: {}',
  );
  t.match(mistakes, [/name/, /version/, /type/, /base/, /grade/, /confinement/, /apps/, /summary/, /epoch/]);
});

t.test('text of an upload is quoted on one short line', async (t) => {
  const [sentence = ''] = refused(`type: "a\\nb\\u202e\\e[31m${'x'.repeat(10_000)}"`);
  t.notMatch(sentence, /[\p{C}]/u);
  t.ok(sentence.length < 200);
});

t.test('only a mapping is a meta/snap.yaml', async (t) => {
  for (const yaml of ['- a', 'text', '~']) t.match(sentences(yaml), [/must be a mapping/], yaml);
});

t.test('merged keys count, as they do for a device', async (t) => {
  t.match(readSnapYaml('x: &x {type: kernel, name: other}\n<<: *x\nname: hello\nversion: 1', 'hello'), {
    name: 'hello',
    type: 'kernel',
  });
});

t.test('60,000 apps are quick', async (t) => {
  const apps = Array.from({ length: 60_000 }, (_, at) => `  app${String(at)}: x\n`).join('');
  t.equal(read(`apps:\n${apps}`).apps.length, 60_000);
});

t.test('any YAML is taken or refused with sentences', async () => {
  const key = fc.constantFrom('name', 'version', 'type', 'base', 'apps', 'epoch', 'architectures', 'summary', 'grade');
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom('hello', '1.0', '[a, b]', '{a: b}', '*a', '&a x', '!!x y', '|\n  x', '- x', '"', '~', '<<: *a'),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(key, value), { maxLength: 12 }), (pairs) => {
      sentences(pairs.map(([name, text]) => `${name}: ${text}\n`).join(''));
    }),
    { numRuns: 500 },
  );
});
