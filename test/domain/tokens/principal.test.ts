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
    fc.property(selector, subject, (packageSelector, target) => {
      const members = Object.entries(packageSelector).filter(([name]) => name !== 'type');
      const agrees = members.every(([name, value]) => target[name as 'id' | 'name'] === value);
      t.equal(selects(packageSelector, target), packageSelector.type === target.type && members.length > 0 && agrees);
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
    fc.property(lists, fc.array(selector, { maxLength: 3 }), subject, (packages, more, target) => {
      const token = { ...free, packages };
      t.equal(
        reachesPackage(token, target),
        packages.every((list) => list.some((packageSelector) => selects(packageSelector, target))),
      );
      if (reachesPackage({ ...free, packages: [...packages, more] }, target))
        t.ok(reachesPackage(token, target), 'a further list only narrows');
      t.ok(reachesPackage(free, target));
      t.notOk(reachesPackage({ ...free, packages: [[]] }, target));
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
      t.same(new Set(shown), new Set(words.filter((element) => lists.every((list) => list.includes(element)))));
    }),
    { numRuns: 200 },
  );
  t.equal(inCommon(null), null);
  t.same(inCommon([[{ type: 'snap', name: 'a' }], [{ type: 'snap', name: 'a' }]]), [{ type: 'snap', name: 'a' }]);
  t.end();
});
