// Places of values in a canonical text: found without parsing all of it, and equal to those of a parser.
import fc from 'fast-check';
import t from 'tap';

import { toCanonicalText, toCanonicalBytes, measureCanonical } from '#domain/canonical-json.ts';
import {
  itemsOf,
  listIn,
  membersOfObject,
  NotCanonical,
  parseExtent,
  textIn,
} from '#transfers/statement/json-extents.ts';
import { anyCharacter } from '#test/fixtures/characters.ts';

const object = fc
  .dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue(), { maxKeys: 6 })
  .map((members) => JSON.parse(toCanonicalText(members as never)) as Record<string, never>);

t.test('the members of an object, and the items of its lists, are found at their places', (t) => {
  fc.assert(
    fc.property(object, (value) => {
      const bytes = Buffer.from(toCanonicalText(value));
      t.ok(toCanonicalBytes(value).equals(bytes));
      t.equal(measureCanonical(value), bytes.length);
      const members = membersOfObject(bytes);
      t.same(
        [...members.keys()],
        Object.keys(value).sort((a, b) => (a < b ? -1 : 1)),
      );
      for (const [name, extent] of members) {
        t.same(parseExtent(bytes, extent), value[name]);
        t.equal(textIn(bytes, extent), toCanonicalText(value[name]!));
        if (Array.isArray(value[name]))
          t.same([...listIn(({ begin, end }) => bytes.subarray(begin, end), itemsOf(bytes, extent))], value[name]);
        else t.throws(() => itemsOf(bytes, extent), { name: 'NotCanonical' });
      }
    }),
    { numRuns: 300 },
  );
  t.end();
});

t.test('there is one form, with any order of members', (t) => {
  const formOf = (value: unknown): string => {
    if (value === null || typeof value !== 'object') return JSON.stringify(value);
    if (Array.isArray(value)) return `[${value.map(formOf).join(',')}]`;
    const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${sorted.map(([key, member]) => `${JSON.stringify(key)}:${formOf(member)}`).join(',')}}`;
  };
  // A number-like member name comes first in any JavaScript object; no shape of ours has such names.
  const memberName = fc.string({ unit: anyCharacter }).map((name) => `.${name}`);
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 0 }), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 4 }),
    object: fc
      .array(fc.tuple(memberName, tie('value')), { maxLength: 4 })
      .map((all) => Object.fromEntries(all) as unknown),
  }));
  fc.assert(
    fc.property(value, (json) => {
      t.equal(toCanonicalText(json), formOf(json));
      t.equal(toCanonicalText(JSON.parse(formOf(json))), formOf(json));
    }),
    { numRuns: 500 },
  );
  t.end();
});

t.test('values read from a changed text equal those of JSON, or are undefined', (t) => {
  fc.assert(
    fc.property(
      object,
      fc.nat(),
      fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', ' ', '0', 'a'),
      fc.boolean(),
      (value, where, character, isNew) => {
        const text = toCanonicalText(value);
        const at = where % (text.length + 1);
        const changed = Buffer.from(text.slice(0, at) + character + text.slice(isNew ? at : at + 1));
        let members: Record<string, unknown>;
        try {
          members = Object.fromEntries(
            [...membersOfObject(changed)].map(([name, extent]) => [name, parseExtent(changed, extent)]),
          );
        } catch (error) {
          return void t.ok(error instanceof NotCanonical);
        }
        t.same(members, JSON.parse(changed.toString()));
      },
    ),
    { numRuns: 1000 },
  );
  t.end();
});

t.test('an object with a repeated member, or members out of order, is refused', (t) => {
  for (const text of [
    '{"a":1,"a":1}',
    '{"b":1,"a":1}',
    '{"a":1}x',
    '{"a":1} ',
    ' {}',
    '[]',
    '{',
    '',
    '{"a":1,}',
    '{,}',
  ])
    t.throws(() => membersOfObject(Buffer.from(text)), { name: 'NotCanonical' }, text);
  t.same([...membersOfObject(Buffer.from('{}'))], []);
  t.end();
});
