import { deepEqual, equal } from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import {
  contentOf,
  joined,
  parseAssertion,
  parseStream,
  stream,
  type Headers,
  type AssertionValue,
} from '#assertions/format/assertion.ts';
import { primaryKeyOf, typeOf } from '#assertions/format/types.ts';
import { anyCharacter } from '#test/fixtures/characters.ts';
import { chain, requests } from '../vectors.ts';

const long = process.env['LARDER_LONG'] === '1';
const valid = requests.valid[0]?.assertion ?? '';
const imported = Object.entries(chain.assertions);
const id = 'A'.repeat(64);

/** An object with the same members in another order. */
const shuffled = (headers: Headers): Headers => Object.fromEntries(Object.entries(headers).reverse());

t.test('assertions of snapd are read and written back byte for byte', (t) => {
  for (const { name, assertion: text } of requests.valid) t.equal(joined(parseAssertion(text)), text, name);
  for (const [name, text] of imported) t.equal(joined(parseAssertion(text)), text, name);
  for (const { name, assertion: text } of chain.steps) t.equal(joined(parseAssertion(text)), text, name);
  t.end();
});

t.test('headers are written in the order of snapd, in any order of the input', (t) => {
  const texts = [...requests.valid, ...chain.steps].map(({ name, assertion }) => [name, assertion] as const);
  for (const [name, text] of [...imported, ...texts]) {
    const { type, headers, body, content, signKeyId } = parseAssertion(text);
    // These were signed by a release that sorted a default provenance among the other headers.
    if (headers['provenance'] === 'global-upload') continue;
    t.equal(contentOf(type, typeOf({ type }).primaryKey, shuffled(headers), body, signKeyId), content, name);
  }
  t.end();
});

t.test('nested lists, maps and texts of several lines are written as snapd writes them', (t) => {
  const headers = {
    'brand-id': 'ada',
    lines: 'one\n\n two\n',
    list: ['a', ['b', ''], { key: 'c\nd', inner: ['e'] }],
    map: { zebra: 'z', apple: { core: ['x', { y: '1' }] }, nothing: [] },
    nothing: [],
    format: '0',
    revision: '0',
  };
  const content = contentOf('test', ['brand-id'], headers, 'Body: é\n', id);
  t.equal(
    content,
    [
      'type: test',
      'brand-id: ada',
      'lines:',
      '    one',
      '    ',
      '     two',
      '    ',
      'list:',
      '  - a',
      '  -',
      '    - b',
      '    - ',
      '  -',
      '    inner:',
      '      - e',
      '    key:',
      '        c',
      '        d',
      'map:',
      '  apple:',
      '    core:',
      '      - x',
      '      -',
      '        y: 1',
      '  zebra: z',
      'body-length: 9',
      `sign-key-sha3-384: ${id}`,
      '',
      'Body: é',
      '',
    ].join('\n'),
  );
  const read = parseAssertion(`${content}\n\nAcLB\n`);
  t.equal(read.body, 'Body: é\n');
  t.same(JSON.parse(JSON.stringify(read.headers['list'])), headers.list);
  t.end();
});

t.test('a written assertion is read back unchanged', (t) => {
  const name = fc.stringMatching(/^[a-z](?:-?[a-z0-9]){0,5}$/);
  const text = fc.string({ unit: anyCharacter, maxLength: 12 }).filter((text) => !text.includes('\r'));
  const lines = fc.string({ unit: fc.constantFrom('\n', ' ', '-', ':', 'a'), maxLength: 8 });
  const { value } = fc.letrec<{ value: AssertionValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      lines,
      fc.array(tie('value'), { minLength: 1, maxLength: 3 }),
      fc.dictionary(name, tie('value'), { minKeys: 1, maxKeys: 3 }),
    ),
  }));
  const set = ['type', 'format', 'revision', 'body-length', 'sign-key-sha3-384'];
  const headers = fc.dictionary(
    name.filter((candidate) => !set.includes(candidate)),
    value,
    { maxKeys: 5 },
  );
  fc.assert(
    fc.property(headers, text, (headers, body) => {
      const content = contentOf('test', [], headers, body, id);
      const assertion = `${content}\n\nAcLB\n`;
      for (const read of [parseAssertion(assertion), ...parseStream(`${assertion}\n${assertion}`)]) {
        equal(read.content, content);
        equal(read.body, body);
        const { type, 'sign-key-sha3-384': signKeyId, 'body-length': length, ...others } = read.headers;
        deepEqual([type, signKeyId, length], ['test', id, body === '' ? undefined : String(Buffer.byteLength(body))]);
        equal(JSON.stringify(sorted(others)), JSON.stringify(sorted(headers)));
      }
    }),
    { numRuns: long ? 20_000 : 300 },
  );
  t.pass('for random headers and bodies');
  t.end();
});

function sorted(value: AssertionValue): AssertionValue {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

t.test('a stream is what snapd prints: assertions with an empty line between them', (t) => {
  const all = imported.map(([, text]) => parseAssertion(text));
  const text = stream(all);
  t.equal(text, imported.map(([, assertionText]) => assertionText).join('\n'));
  t.same(
    parseStream(text).map(joined),
    imported.map(([, assertionText]) => assertionText),
  );
  t.equal(parseStream(`${text}\n`).length, all.length, 'an empty line at the end ends it');
  t.equal(parseStream(text.slice(0, -1)).length, all.length, 'the last newline may be missing');
  t.same(primaryKeyOf(parseAssertion(chain.assertions['model'] ?? '')), ['16', 'my-brand', 'dev-1']);
  t.end();
});

t.test('a text that is no assertion is refused with the reason', (t) => {
  const edge = (name: string) => requests['edge-cases'].find((edgeCase) => edgeCase.name === name)?.assertion ?? '';
  const [head = ''] = valid.split('\n\n');
  const reasons: [string | Uint8Array, RegExp][] = [
    ['', /the text is empty/],
    ['\n', /an empty line before the headers/],
    [`\n${valid}`, /an empty line before the headers/],
    [`\ufeff${valid}`, /begins with a byte order mark/],
    [Buffer.from(`\ufeff${valid}`, 'utf16le'), /not UTF-8/],
    [Buffer.from([0x74, 0x3a, 0x20, 0xff]), /not UTF-8/],
    ['type: \ud800', /not UTF-8/],
    [valid.replaceAll('\n', '\r\n'), /CR LF .*exactly as it was made/],
    [head, /the empty line between the headers and the signature is missing/],
    [edge('body-length-short'), /body-length says 716, but the body has 717 bytes/],
    [edge('body-length-long'), /body-length says 718, but the body has 717 bytes/],
    [edge('body-length-missing'), /body-length is missing, although a body of 717 bytes/],
    [valid.replace('717', '7170'), /body-length says 7170, but the body has 717 bytes/],
    [valid.slice(0, 700), /body-length says 717, but the text ends/],
    [edge('sig-empty'), /the signature is missing/],
    [edge('sig-two-final-newlines'), /ends in an empty line/],
    [`${valid}\nmore`, /4 bytes of other data follow the signature/],
    [`${valid}\n${valid}`, /1742 bytes of other data follow the signature; one assertion is expected/],
    [valid + valid, /the empty line between two assertions is missing/],
    [edge('repeated-header'), /the header 'name' is there twice/],
    [edge('header-name-uppercase'), /"X-Extra" is not the name of a header/],
    [edge('header-no-space'), /a space is missing before the value in the line "name:fixed"/],
    [edge('revision=x'), /'revision' is "x", but must be a whole number/],
    [edge('format=01'), /'format' is "01"/],
    [edge('sign-key-short'), /'sign-key-sha3-384' is missing or is no key id/],
    [`no colon\n\nAcLB\n`, /"no colon" is not a header/],
    [`type:\n\nAcLB\n`, /"type:" must be followed by lines indented by 4 spaces/],
    [`type:\n  - a\n\nAcLB\n`, /the header 'type' is missing/],
    [`m:\n  a: 1\n  a: 2\n\nAcLB\n`, /the member 'a' is there twice/],
    [`m:\n  a: 1\n  b\n\nAcLB\n`, /"  b" is not a member of a map/],
    [`m:\n  a: 1\n  B: 1\n\nAcLB\n`, /"B" is not the name of a member of a map/],
  ];
  for (const [text, reason] of reasons) {
    t.throws(() => parseAssertion(text), { name: 'Refusal', code: 'api-error', message: reason }, String(reason));
  }
  t.end();
});

t.test('everything is bounded', (t) => {
  const plain = `type: test\nsign-key-sha3-384: ${id}`;
  const tooMuch: [string, RegExp][] = [
    [`x: ${'x'.repeat(128 * 1024)}\n${plain}\n\nAcLB\n`, /the headers are longer than 131072 bytes/],
    [`body-length: 2097153\n${plain}\n\n${'x'.repeat(2097153)}\n\nAcLB\n`, /the body is longer than 2097152 bytes/],
    [`${plain}\n\nAcLB${'A'.repeat(128 * 1024)}\n`, /the signature is longer than 131072 bytes/],
    ['x'.repeat(4 * 1024 * 1024 + 1), /the text is longer than 4194304 bytes/],
    [`${plain}\n\nAcLB\n\n`.repeat(257), /more than 256 assertions/],
    [
      `x:\n${Array.from({ length: 34 }, (_, depth) => `${' '.repeat(2 * depth)}  -`).join('\n')} a\n${plain}\n\nAcLB\n`,
      /nested deeper than 32/,
    ],
  ];
  for (const [text, reason] of tooMuch)
    t.throws(() => parseStream(text), { name: 'Refusal', message: reason }, String(reason));
  t.end();
});

t.test('an assertion that would change its meaning is never written', (t) => {
  const impossible: [Headers, RegExp][] = [
    [{ name: 'a\r' }, /carriage return/],
    [{ 'name: x\ntype': 'a' }, /header of the name/],
    [{ Name: 'a' }, /header of the name "Name"/],
    [{ map: { 'a b': 'x' } }, /header of the name "a b"/],
    [{ list: ['a', []] }, /empty member of the list/],
    [{ name: '\udfff' }, /not valid Unicode/],
  ];
  for (const [headers, reason] of impossible) {
    t.throws(() => contentOf('test', [], headers, '', id), reason);
  }
  t.throws(() => contentOf('test', [], {}, '\ud800', id), /not valid Unicode/);
  t.end();
});
