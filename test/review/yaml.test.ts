import t from 'tap';
import { Unacceptable } from '#review/unacceptable.ts';
import { readTypedYaml, readYaml } from '#review/yaml.ts';

function refusal(text: string): string {
  try {
    readYaml(text, 'x.yaml');
    return '';
  } catch (error) {
    if (error instanceof Unacceptable) return error.message;
    throw error;
  }
}

/** The value as JSON, mappings as objects. */
function read(text: string): unknown {
  return plainValue(readYaml(text, 'x.yaml'));
}

function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, member]) => [String(key), plainValue(member)]));
}

t.test('scalars stay text, and only nothing is null', async (t) => {
  t.same(readYaml('[1.10, 0x1F, yes, 2001-01-01, "~", ~, null, Null, ]', 'x.yaml'), [
    ...['1.10', '0x1F', 'yes', '2001-01-01', '~'],
    ...[null, null, null],
  ]);
  t.same(read('a:\nb: ""\nc: !!str\nd: ! ~\ne: !!null\nf: |\n'), { a: null, b: '', c: '', d: '~', e: null, f: '' });
});

t.test('keys are only keys', async (t) => {
  t.same(
    [...(readYaml('__proto__: a\nconstructor: b\n2: c\n1: d', 'x.yaml') as Map<string, string>)],
    [
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['2', 'c'],
      ['1', 'd'],
    ],
  );
});

// Texts with their value in go-yaml v2.4.0, the reader of snapd 2.57.6 and of juju 3;
// test/review/judged-by-snapd.tools.test.ts compares with it.
t.test('everything that a device reads is read', async (t) => {
  const cases: [text: string, value: unknown][] = [
    // continuation lines in column 0
    ["a: 'x\n\n'\nb: c\n", { a: 'x\n', b: 'c' }],
    ['a: "x\ny\n"\nb: c\n', { a: 'x y ', b: 'c' }],
    ['a: {x: 1,\ny: 2}\nb: [c,\nd\n]\n', { a: { x: '1', y: '2' }, b: ['c', 'd'] }],
    ['a: "x\\\n  y"', { a: 'xy' }],
    // the last of equal keys
    ['a: 1\nb: 2\na: 3', { a: '3', b: '2' }],
    // the first document, followed by any text
    ['a: 1\n--- \na: [', { a: '1' }],
    ['a: 1\n...\nb: 2\n', { a: '1' }],
    ['{a: 1} b', { a: '1' }],
    ['%YAML 1.1\n---\na: 1\n', { a: '1' }],
    ['%TAG !x! tag:site.example:\n--- !x!y\na: 1\n', { a: '1' }],
    ['---\n', null],
    ['null', null],
    ['', null],
    ['# nothing\n', null],
    // tags that the reader does not know
    ['a: !ruby/object:X {b: !foo c}\nd: !!set [e]', { a: { b: 'c' }, d: ['e'] }],
    ['a: !!int 3\nb: !!float 4\nc: !!binary aGk=', { a: '3', b: '4', c: 'hi' }],
    // aliases and merges, each where it stands
    [
      'a: &x {b: 1, c: 2}\nd: *x\ne: {b: 3, <<: *x, c: 4}',
      { a: { b: '1', c: '2' }, d: { b: '1', c: '2' }, e: { b: '1', c: '4' } },
    ],
    ['a: {<<: [{b: 1}, {b: 2, c: 3}]}', { a: { b: '1', c: '3' } }],
    ['a: &x\nb: *x\n"<<": c', { a: null, b: null, '<<': 'c' }],
    // blocks
    ['a:\n- b\n- c: d\n  e: f\ng:\n  - - h\n', { a: ['b', { c: 'd', e: 'f' }], g: [['h']] }],
    ['a: >-\n  x\n  y\n\n  z\n\n   q\nb: |+\n  c\n\n', { a: 'x y\nz\n\n q', b: 'c\n\n' }],
    ['a: |2\n   x\nb: |\n\n\n  y', { a: ' x\n', b: '\n\ny' }],
    ['? a\n: b\n? c\n', { a: 'b', c: null }],
    // flow collections
    ['[a: b, ? c : d, "e":f, g:h, {i: , j}]', [{ a: 'b' }, { c: 'd' }, { e: 'f' }, 'g:h', { i: null, j: null }]],
    // characters
    [
      "a: \"\\x41\\u00e9\\U0001F600\\t\\_\"\nb: 'it''s'\nc: d # e\nf: g#h",
      { a: 'Aé😀\t\u00a0', b: "it's", c: 'd', f: 'g#h' },
    ],
    ['a:\tb\r\nc: d\u0085e: f\u2028g: h', { a: 'b', c: 'd', e: 'f', g: 'h' }],
    ['\ufeffa: b', { a: 'b' }],
  ];
  for (const [text, value] of cases) t.same(read(text), value, encodeURI(text));
});

t.test('a document that a device cannot read is refused with its line', async (t) => {
  const cases: [text: string, problem: string][] = [
    ['a: [', 'did not find expected node content in line 2'],
    ['a: b\nc\n', "could not find expected ':' in line 2"],
    ['a: b: c', 'mapping values are not allowed in this context in line 1'],
    ["a: 'x' y", 'did not find expected key in line 1'],
    ['a: *b', "unknown anchor 'b' referenced in line 1"],
    ['a: 1\nb: @x', 'found character that cannot start any token in line 2'],
    ['\ta: b', 'found character that cannot start any token in line 1'],
    ['a: b\n\tc', 'found a tab character that violates indentation in line 2'],
    ['a: "\\q"', 'found unknown escape character in line 1'],
    ['a: "\\ud800"', 'found an escape that is no Unicode character in line 1'],
    ['a: "b', 'found the end of the text in a quoted scalar that begins here in line 1'],
    ['a: \u0007', 'control characters are not allowed in line 1'],
    ['a: !!int b', 'a value tagged !!int is none in line 1'],
    ['a: !x!y b', 'found undefined tag handle in line 1'],
    ['%YAML 1.2\n---\na: b', 'found a YAML version other than 1.1 in line 1'],
    ['<<: a', "only a mapping or a list of mappings can be merged with '<<' in line 2"],
    ['a: &a [*a]', "anchor 'a' value contains itself in line 1"],
    ['a: &a {b: &b [*a]}', "anchor 'a' value contains itself in line 1"],
  ];
  for (const [text, problem] of cases) {
    t.equal(
      refusal(text),
      `x.yaml is not the YAML that a device can read: ${problem}. Correct it.`,
      JSON.stringify(text),
    );
  }
  t.equal(refusal('a: *' + 'b'.repeat(10_000)).length < 200, true);
});

t.test('booleans and numbers differ from texts, as in YAML 1.1', async (t) => {
  const types = (text: string) =>
    (readTypedYaml(text, 'x.yaml') as unknown[]).map((value) =>
      value === null ? 'null' : typeof value === 'string' ? 'text' : (value as { type: string }).type,
    );
  t.same(types('[yes, N, "yes", 1, -0644, 089, 0x1F, 0b11, 1_000, 1.5, .5, 1e3, .inf, 1.2.3, 2001-01-01, ~, a]'), [
    ...['bool', 'bool', 'text', 'int', 'int', 'float', 'int', 'int', 'int', 'float', 'float', 'float', 'float'],
    ...['text', 'text', 'null', 'text'],
  ]);
  t.same(types('[18446744073709551615, 18446744073709551616, -9223372036854775808, !!str 1, !!float 1, ! 1]'), [
    ...['int', 'float', 'int', 'text', 'float', 'text'],
  ]);
});

t.test('nesting, aliases and length have bounds, and reaching them takes no time', async (t) => {
  t.match(refusal('['.repeat(1 << 20)), /^x\.yaml nests more than 1000 levels: write it flatter\.$/);
  t.match(refusal('- '.repeat(1 << 19)), /nests more than 1000 levels/);
  t.match(refusal('? '.repeat(1 << 19)), /nests more than 1000 levels/);
  t.equal(refusal('['.repeat(1000) + ']'.repeat(1000)), '');
  const tooLong = 'x.yaml becomes too long when its aliases are written out: use fewer of them.';
  const chain = Array.from({ length: 20_000 }, (_, at) => `- &a${String(at + 1)} [*a${String(at)}]`).join('\n');
  t.equal(refusal(`- &a0 x\n${chain}`), tooLong);

  const laughs = ['- &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let at = 0; at < 40; at++) laughs.push(`- &a${String(at + 1)} [${`*a${String(at)}, `.repeat(10)}]`);
  t.equal(refusal(laughs.join('\n')), tooLong);
  t.equal(refusal(laughs.slice(0, 4).join('\n')), '');
  const pairs = Array.from({ length: 1000 }, (_, at) => `k${String(at)}: v`).join(', ');
  const merges = Array.from({ length: 2000 }, (_, at) => `m${String(at)}: {<<: *a}`).join('\n');
  t.equal(refusal(`a: &a {${pairs}}\n${merges}`), tooLong);

  t.match(refusal(`[${'a,'.repeat(500_000)}]`), /^x\.yaml has more than 200000 values: shorten it\.$/);
  t.equal(refusal(Array.from({ length: 60_000 }, (_, at) => `key-${String(at)}: value`).join('\n')), '');
  t.equal(refusal(`a: |\n${'  A line of text, with a comma: and a colon.\n'.repeat(23_000)}`), '');
  t.equal(refusal(`a: |\n  ${'-'.repeat(1 << 20)}`), '', 'signs in a text are no values');
  t.equal(refusal(`a: "${'\\x41'.repeat(1 << 18)}"\nb: c${' \t'.repeat(1 << 19)}d\n${'#\n'.repeat(1 << 18)}`), '');
});
