import fc from 'fast-check';
import t from 'tap';

import { nameProblem } from '#domain/packages/package-name.ts';
import { anyCharacter, quoteInAscii } from '#test/fixtures/characters.ts';

/** The rule as the interface's answers state it. */
const isName = (text: string): boolean =>
  /^[a-z0-9-]*[a-z][a-z0-9-]*$/.test(text) &&
  text.length >= 2 &&
  text.length <= 40 &&
  !text.startsWith('-') &&
  !text.endsWith('-') &&
  !text.includes('--');

t.test('a name has no problem exactly when it keeps the rule', (t) => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom(...Array.from('ab09-')), maxLength: 45 }),
    fc.string({ unit: fc.constantFrom(...Array.from('abZ09-_.é \n')), maxLength: 10 }),
    fc.string({ unit: anyCharacter, maxLength: 10 }),
  );
  let names = 0;
  fc.assert(
    fc.property(text, (name) => {
      const problem = nameProblem(name);
      if (isName(name)) names++;
      t.equal(problem === undefined, isName(name), quoteInAscii(name));
      if (problem !== undefined) t.match(problem, /^[A-Z][^]*\.$/);
    }),
    { numRuns: 2000, examples: [['\u2028']] },
  );
  t.ok(names > 100, `${names} were names`);
  t.end();
});

t.test('the mistake is named', (t) => {
  t.match(nameProblem('a'), /2 to 40 characters; 'a' has 1\./);
  t.match(nameProblem('x'.repeat(500)), /has 500\.$/);
  t.match(nameProblem('Hello'), /only lower-case letters/);
  t.match(nameProblem('42'), /at least one letter/);
  t.match(nameProblem('-ab'), /begin or end with a dash/);
  t.match(nameProblem('a--b'), /two dashes in a row/);
  t.end();
});
