import fc from 'fast-check';
import t from 'tap';

import { channel, readChannelPattern, type ChannelPattern } from '#domain/releases/channel.ts';
import { inCommon, reachesChannel, reachesPackage, type Restrictions } from '#domain/tokens/principal.ts';
import { selects, type PackageSelector } from '#domain/tokens/package-selector.ts';

const free: Restrictions = { permissions: null, channels: null, packages: null };
const type = fc.constantFrom('snap' as const, 'charm' as const);
const words = ['a', 'b', 'c'];
const word = fc.constantFrom(...words);
const selector: fc.Arbitrary<PackageSelector> = fc.record({ type, id: word, name: word }, { requiredKeys: ['type'] });
const subject = fc.record({ type, id: word, name: word });

t.test('a selector means a package when every member it has agrees, and it has one', (t) => {
  fc.assert(
    fc.property(selector, subject, (wanted, one) => {
      const members = Object.entries(wanted).filter(([name]) => name !== 'type');
      const agrees = members.every(([name, value]) => one[name as 'id' | 'name'] === value);
      t.equal(selects(wanted, one), wanted.type === one.type && members.length > 0 && agrees);
    }),
    { numRuns: 500 },
  );
  t.notOk(selects({ type: 'snap' }, { type: 'snap', id: 'a', name: 'a' }), 'a type alone means nothing');
  t.notOk(selects({ type: 'snap', id: 'a' }, { type: 'snap', name: 'a' }), 'what has no id yet is meant by none');
  t.end();
});

t.test('a token reaches what every one of its lists names', (t) => {
  const lists = fc.array(fc.array(selector, { maxLength: 3 }), { maxLength: 3 });
  fc.assert(
    fc.property(lists, fc.array(selector, { maxLength: 3 }), subject, (packages, more, one) => {
      const token = { ...free, packages };
      t.equal(
        reachesPackage(token, one),
        packages.every((list) => list.some((wanted) => selects(wanted, one))),
      );
      if (reachesPackage({ ...free, packages: [...packages, more] }, one))
        t.ok(reachesPackage(token, one), 'a further list only narrows');
      t.ok(reachesPackage(free, one));
      t.notOk(reachesPackage({ ...free, packages: [[]] }, one));
    }),
    { numRuns: 300 },
  );
  t.end();
});

t.test('channels are shown in the same way', (t) => {
  const edge = channel('latest', 'edge');
  const read = (text: string): ChannelPattern => readChannelPattern(text) ?? { text, names: [] };
  const lists = (...all: string[][]) => ({ ...free, channels: all.map((list) => list.map(read)) });
  t.ok(reachesChannel(free, edge));
  t.ok(reachesChannel(lists(['beta', 'edge'], ['*/edge']), edge));
  t.notOk(reachesChannel(lists(['beta', 'edge'], ['beta']), edge));
  t.notOk(reachesChannel(lists([]), edge));
  t.end();
});

t.test('lists are shown by their common permissions', (t) => {
  fc.assert(
    fc.property(fc.array(fc.array(word, { maxLength: 4 }), { minLength: 1, maxLength: 4 }), (lists) => {
      const shown = inCommon(lists);
      t.same(new Set(shown), new Set(words.filter((one) => lists.every((list) => list.includes(one)))));
    }),
    { numRuns: 200 },
  );
  t.equal(inCommon(null), null);
  t.same(inCommon([[{ type: 'snap', name: 'a' }], [{ type: 'snap', name: 'a' }]]), [{ type: 'snap', name: 'a' }]);
  t.end();
});
