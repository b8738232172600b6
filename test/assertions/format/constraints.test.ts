import fc from 'fast-check';
import t from 'tap';
import type { Headers, AssertionValue } from '#assertions/format/assertion.ts';
import { constraintsAllow } from '#assertions/format/constraints.ts';

const key = (...constraints: Headers[]) => ({ headers: { constraints: constraints.map((headers) => ({ headers })) } });
const allows = (constraint: AssertionValue, value: AssertionValue) =>
  constraintsAllow(key({ type: 'model', model: constraint }), { type: 'model', model: value });

t.test('a key without constraints may sign everything', (t) => {
  t.ok(constraintsAllow({ headers: {} }, { type: 'model' }));
  t.notOk(constraintsAllow({ headers: { constraints: 'all' } }, { type: 'model' }));
  t.ok(constraintsAllow({ headers: { format: '1' } }, { type: 'model' }));
  t.notOk(constraintsAllow({ headers: { format: '2' } }, { type: 'model' }), 'in a newer format they are not known');
  t.end();
});

t.test('one constraint must hold in all its headers', (t) => {
  const constrained = key({ type: 'serial', model: 'pc' }, { type: 'model', model: 'pc', store: 'ada' });
  t.ok(constraintsAllow(constrained, { type: 'serial', model: 'pc', serial: '1' }));
  t.ok(constraintsAllow(constrained, { type: 'model', model: 'pc', store: 'ada' }));
  t.notOk(constraintsAllow(constrained, { type: 'model', model: 'pc' }));
  t.notOk(constraintsAllow(constrained, { type: 'model', model: 'pc', store: 'bob' }));
  t.notOk(constraintsAllow(constrained, { type: 'system-user', model: 'pc' }));
  t.notOk(constraintsAllow(key({ model: 'pc' }), { type: 'model', model: 'pc' }), 'the type must be named');
  t.notOk(constraintsAllow(key({ type: '.*' }), { type: 'model' }), 'and named exactly');
  t.end();
});

t.test('a value must be met as a whole', (t) => {
  const met: [AssertionValue, AssertionValue][] = [
    ['pc', 'pc'],
    ['pc-.*', 'pc-'],
    ['pc-.*', 'pc-1'],
    ['.*-pc-.*', 'a-pc-b-pc-c'],
    ['p.', 'pc'],
    ['a|pc|b', 'pc'],
    ['v1\\.2', 'v1.2'],
    [['kiosk', 'pc'], 'pc'],
    ['pc.*', ['pc-1', 'pc-2']],
    [{ name: 'a' }, { name: 'a', more: 'b' }],
  ];
  for (const [constraint, value] of met) t.ok(allows(constraint, value), JSON.stringify([constraint, value]));
  const unmet: [AssertionValue, AssertionValue][] = [
    ['pc', 'pc-1'],
    ['pc', 'my-pc'],
    ['pc-.*', 'pc'],
    ['p.', 'p'],
    ['p.', 'p\n'],
    ['v1\\.2', 'v1x2'],
    ['pc.*', ['pc-1', 'kiosk']],
    ['pc', []],
    ['pc.*', 'pc\n'],
    [{ name: 'a' }, 'a'],
    [{ name: 'a' }, {}],
    [['a', ['pc']], 'pc'],
  ];
  for (const [constraint, value] of unmet) t.notOk(allows(constraint, value), JSON.stringify([constraint, value]));
  t.end();
});

t.test('an expression that is not understood allows nothing', (t) => {
  for (const constraint of [
    '(pc)',
    '[p]c',
    'p+',
    'p*',
    'pc?',
    'pc{1}',
    '^pc',
    'pc$',
    '\\pc',
    '$MISSING',
    '.+',
    '.**',
    'pc\\',
  ]) {
    t.notOk(allows(constraint, 'pc'), constraint);
  }
  t.end();
});

t.test('a constraint that is understood means the same as in snapd', (t) => {
  const expression = fc
    .array(fc.constantFrom('a', 'b', '.', '.*', '|', '\\.'), { maxLength: 8 })
    .map((parts) => parts.join(''));
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '\n'), maxLength: 8 });
  fc.assert(
    fc.property(
      expression,
      text,
      (expression, text) => allows(expression, text) === new RegExp(`^(?:${expression})$`).test(text),
    ),
    { numRuns: 2000 },
  );
  t.notOk(allows('.*a'.repeat(1000), 'a'.repeat(999)), 'and long ones take no longer');
  t.end();
});
