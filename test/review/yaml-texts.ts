// Texts that are YAML, nearly YAML, or only made of its signs.
import fc from 'fast-check';

const signs = [
  ...[
    'a',
    'b',
    'key',
    '1',
    '0644',
    '1.5',
    '~',
    'null',
    'yes',
    'é',
    '😀',
    '012',
    '0x1f',
    '-1',
    '.5',
    '1_000',
    '1e3',
    '.inf',
  ],
  ...['- ', '-', ': ', ':', ', ', ',', '[', ']', '{', '}', '? ', '?', '"', "'", '"x"', "'y'", '<<: ', '<<', '='],
  ...[
    '\n',
    '\n  ',
    '\n    ',
    '\n ',
    '\n\n',
    ' ',
    '  ',
    '\t',
    '\r\n',
    '\u2028',
    '\u0085',
    '#c',
    ' # c',
    '\\n',
    '\\',
    '\\x41',
  ],
  ...[
    '&a ',
    '*a',
    '!t ',
    '!!str ',
    '!!int ',
    '!!binary aGk=',
    '!',
    '|\n',
    '>\n',
    '|-\n',
    '>+\n',
    '|2\n',
    '@',
    '`',
    '%',
  ],
  ...['---\n', '...\n', '%YAML 1.1\n', 'x: y\n', '- z\n', 'k:\n', '<<: *a\n', '{a: 1}', '[b]'],
];

/** Whole lines, so that collections and blocks come to stand in one another. */
const lines = [
  ...[
    'a: 1',
    'b: &x {c: d}',
    '<<: *x',
    '- *x',
    "s: 'one",
    '',
    "'",
    't: "two',
    '  three"',
    'u: |',
    '  text',
    '   more',
    'v: >-',
  ],
  ...[
    'list:',
    '- one',
    '  - two',
    '- k: v',
    '  w: z',
    '? q',
    ': r',
    'f: [a, {b: c},',
    'd]',
    'g: {h: i,',
    'j: k}',
    '# note',
  ],
];

const ofSigns = fc.array(fc.constantFrom(...signs), { minLength: 1, maxLength: 16 }).map((parts) => parts.join(''));
const ofLines = fc.array(fc.constantFrom(...lines), { minLength: 1, maxLength: 12 }).map((parts) => parts.join('\n'));

/** One of `texts` with signs put in and characters taken out. */
const changed = (texts: readonly string[]): fc.Arbitrary<string> =>
  fc
    .record({
      text: fc.constantFrom(...texts),
      changes: fc.array(
        fc.record({
          at: fc.double({ min: 0, max: 1, noNaN: true }),
          sign: fc.constantFrom('', ...signs),
          cut: fc.nat(3),
        }),
        { maxLength: 3 },
      ),
    })
    .map(({ text, changes }) =>
      changes.reduce((before, { at, sign, cut }) => {
        const place = Math.floor(at * before.length);
        return (before.slice(0, place) + sign + before.slice(place + cut)).toWellFormed();
      }, text),
    );

/** Texts made of signs, of lines, and of `texts` with changes; `count` of them, the same for the same `seed`. */
export const yamlTexts = (texts: readonly string[], count: number, seed: number): string[] =>
  fc.sample(fc.oneof(ofSigns, ofLines, changed(texts)), { numRuns: count, seed });
