// Track guardrails: patterns match in bounded time, with any input.
import fc from 'fast-check';
import t from 'tap';

import { checkGuardrail, matchesGuardrail } from '#domain/releases/track-guardrail.ts';
import { cpuWatch } from '#test/fixtures/cpu.ts';

t.test('a name must match the whole pattern', (t) => {
  for (const [pattern, name, matches] of [
    ['^\\d+\\.\\d+$', '2.0', true],
    ['\\d+\\.\\d+', '2.0', true],
    ['\\d+\\.\\d+', '2.0-lts', false],
    ['v[0-9]{1,2}', 'v12', true],
    ['v[0-9]{1,2}', 'v123', false],
    ['(lts|edge)-\\w+', 'lts-24', true],
    ['(?:lts|edge)-\\w+', 'beta-24', false],
    ['a*', '', true],
    ['a*?b', 'aaab', true],
    ['[^a-c]+', 'xyz', true],
    ['[^a-c]+', 'xaz', false],
    ['[a\\-]+', 'a-a', true],
    ['\\$', '$', true],
    ['a{2,}', 'a', false],
    ['a{3}', 'aaa', true],
  ] as const) {
    t.equal(matchesGuardrail(pattern, name), matches, `${pattern} and '${name}'`);
  }
  t.end();
});

t.test('a pattern that clients or this store could not match safely is refused when it is set', (t) => {
  for (const pattern of [
    '',
    'x'.repeat(201),
    '(a)\\1',
    '(?=a)b',
    '(?!a)b',
    '(?<=a)b',
    '(?<n>a)',
    '(a+)+',
    '(?:a*b?)*',
    'a++',
    'a**',
    '*a',
    '(a',
    'a)',
    '[a',
    '[]',
    '[z-a]',
    'a{2',
    'a{3,2}',
    'a\\',
    '\\s',
    'a^b',
    'a$b',
    '('.repeat(50) + ')'.repeat(50),
  ]) {
    t.throws(() => checkGuardrail(pattern), { code: 'api-error' }, pattern.slice(0, 40));
  }
  t.end();
});

t.test('it matches what a regular expression matches', (t) => {
  const piece = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '(a|b)',
    '(?:ab|a)',
    '\\d',
    '\\.',
    'a*',
    'b+',
    '(a|ab)?',
    'a{1,2}',
    '[0-9]*',
  );
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '1', '.'), maxLength: 8 });
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), name, (pieces, text) => {
      const pattern = pieces.join('');
      return matchesGuardrail(pattern, text) === new RegExp(`^(?:${pattern})$`).test(text);
    }),
  );
  t.end();
});

t.test('no pattern takes long', (t) => {
  const cpu = cpuWatch();
  for (const pattern of [
    '.*'.repeat(100),
    '(a|a)'.repeat(40),
    '(a|a)?'.repeat(33),
    `${'a?'.repeat(60)}${'a'.repeat(60)}`,
  ]) {
    matchesGuardrail(pattern, 'a'.repeat(28));
  }
  t.ok(cpu() < 500);
  t.end();
});
