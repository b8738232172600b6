import fc from 'fast-check';
import t from 'tap';

import { readJson } from '#contract/json.ts';
import { Refusal } from '#domain/refusal.ts';
import { cpuWatch } from '#test/fixtures/cpu.ts';

const reads = (text: string): unknown => {
  try {
    return { value: readJson(text) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { refused: error.message };
  }
};

t.test('valid JSON is read like JSON.parse reads it', (t) => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'grapheme', maxDepth: 8 }), (text) => {
      fc.pre(!/\\u0000|\\ud[89a-f]/i.test(text));
      t.same(readJson(text), JSON.parse(text));
    }),
    { numRuns: 300 },
  );
  for (const text of [
    'null',
    '0',
    '-1.5e3',
    '""',
    '"a\\"b\\\\"',
    '[]',
    '{}',
    ' {"a" : [1, {"a":2}, "a"], "b":"a"} ',
    '{"a":{"a":{"a":1}}}',
    '"\\ud83d\\ude00"',
    '{"":1," ":2}',
  ]) {
    t.same(reads(text), { value: JSON.parse(text) }, text);
  }
  t.end();
});

t.test('an object with a repeated member is refused, in any spelling', (t) => {
  const name = fc.string({ unit: 'grapheme', maxLength: 5 });
  const spelled = (text: string, escaped: boolean): string =>
    escaped
      ? `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
      : JSON.stringify(text);
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { minLength: 1, maxLength: 6 }),
      fc.nat(),
      fc.boolean(),
      fc.json(),
      (names, pick, escaped, value) => {
        fc.pre(!/\\u0000|\\ud[89a-f]/i.test(value) && names.every((member) => !member.includes('\0')));
        const twice = names[pick % names.length] ?? '';
        const members = [
          ...names.map((member) => `${spelled(member, false)}:${value}`),
          `${spelled(twice, escaped)} : ${value}`,
        ];
        t.match(reads(`{${members.join(',')}}`), { refused: /appears twice/ });
        t.match(reads(`[0,{"within":{${members.join(',')}}}]`), { refused: /appears twice/ });
        t.match(reads(`{${members.slice(0, -1).join(',')}}`), { value: Object });
      },
    ),
    { numRuns: 200 },
  );
  t.end();
});

t.test('64 levels are read and 65 are not', (t) => {
  const nested = (levels: number): string => '[{"a":'.repeat(levels / 2) + '0' + '}]'.repeat(levels / 2);
  t.match(reads(nested(64)), { value: Array });
  t.match(reads(nested(66)), { refused: /more than 64 levels/ });
  t.match(reads('['.repeat(64) + ']'.repeat(64)), { value: Array });
  t.match(reads('['.repeat(65) + ']'.repeat(65)), { refused: /more than 64 levels/ });
  t.match(reads(`[${'[],'.repeat(500)}[]]`), { value: Array }, 'beside one another is not within');
  t.match(reads(JSON.stringify(']}'.repeat(100))), { value: String }, 'brackets in a text are text');
  t.end();
});

t.test('an error has the place and repeats none of the text', (t) => {
  const secret = 'MDAxY2xvY2F0aW9u';
  for (const text of [
    `{"macaroon": ${secret}}`,
    secret,
    `{"a":"${secret}`,
    `["${secret}" "x"]`,
    `{"macaroon":"${secret}","b":\\}`,
  ]) {
    const answer = JSON.stringify(reads(text));
    t.match(answer, /not JSON/);
    t.notMatch(answer, secret.slice(0, 6), text);
  }
  t.end();
});

t.test('a megabyte of any text is parsed quickly', (t) => {
  const size = 1024 * 1024;
  for (const [label, text] of [
    ['brackets', '['.repeat(size)],
    ['closed brackets', '[' + '[],'.repeat(size / 3) + '[]]'],
    ['members', `{${Array.from({ length: size / 12 }, (_, at) => `"m${at}":0`).join(',')}}`],
    ['escapes', `"${'\\u0041'.repeat(size / 6)}"`],
    ['backslashes', `"${'\\\\'.repeat(size / 2)}"`],
    ['quotes', `[${'"",'.repeat(size / 3)}""]`],
    ['spaces', `{"a"${' '.repeat(size)}:1}`],
  ] as const) {
    const cpu = cpuWatch();
    reads(text);
    t.ok(cpu() < 1000, label);
  }
  t.end();
});
