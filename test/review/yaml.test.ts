import t from 'tap';
import { Unacceptable } from '#review/unacceptable.ts';
import { readYaml } from '#review/yaml.ts';

function refusal(text: string): string {
  try {
    readYaml(text, 'x.yaml');
    return '';
  } catch (error) {
    if (error instanceof Unacceptable) return error.message;
    throw error;
  }
}

t.test('scalars stay text, and only nothing is null', async (t) => {
  t.same(readYaml('[1.10, 0x1F, yes, 2001-01-01, "~", ~, null, Null, ]', 'x.yaml'), [
    ...['1.10', '0x1F', 'yes', '2001-01-01', '~'],
    ...[null, null, null],
  ]);
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

t.test('what a device could read differently is refused', async (t) => {
  t.match(refusal('a: 1\na: 2'), /x\.yaml is not the YAML .*: duplicated mapping key in line 2\. Correct it\./);
  t.match(refusal('a: 1\n---\na: 2'), /single document/);
  t.match(refusal('a: !!int 3'), /unknown scalar tag/);
  t.match(refusal('a: !ruby/object:X {}'), /unknown/);
  t.match(refusal('a: ['), /unexpected end/);
  t.match(refusal('a: *b'), /unidentified alias/);
  t.match(refusal('a: \u0007'), /non-printable/);
  t.match(refusal(''), /the input is empty/);
  t.match(refusal('a: *' + 'b'.repeat(10_000)).length < 200, true);
});

t.test('nesting, aliases and length have bounds, and reaching them takes no time', async (t) => {
  t.match(refusal('['.repeat(1 << 20)), /too many values|nesting/);
  t.match(refusal('['.repeat(101) + ']'.repeat(101)), /nesting/);
  t.match(refusal('a: &a [*a]'), /nests more than 100 levels through its aliases/);
  t.match(refusal('a: &a {b: &b [*a]}'), /nests more than 100 levels/);
  const chain = Array.from({ length: 20_000 }, (_, at) => `- &a${String(at + 1)} [*a${String(at)}]`).join('\n');
  t.match(refusal(`- &a0 x\n${chain}`), /becomes too long when its aliases are written out/);

  const laughs = ['- &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let at = 0; at < 40; at++) laughs.push(`- &a${String(at + 1)} [${`*a${String(at)}, `.repeat(10)}]`);
  t.match(refusal(laughs.join('\n')), /becomes too long when its aliases are written out/);
  t.equal(refusal(laughs.slice(0, 4).join('\n')), '');
  t.match(
    refusal(`a: &a {b: c}\n${Array.from({ length: 12_000 }, (_, at) => `k${String(at)}: {<<: *a}\n`).join('')}`),
    /merge/,
  );

  t.match(refusal(`[${'a,'.repeat(500_000)}]`), /too many values/);
  t.equal(refusal(Array.from({ length: 60_000 }, (_, at) => `key-${String(at)}: value`).join('\n')), '');
  t.equal(refusal(`a: |\n${'  A line of text, with a comma: and a colon.\n'.repeat(23_000)}`), '');
});
