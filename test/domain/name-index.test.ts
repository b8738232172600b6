// Names are numbered in little memory.
import fc from 'fast-check';
import t from 'tap';

import { NameIndex } from '#domain/name-index.ts';

t.test('names have the numbers of their order, and unknown names have none', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 3 }), { maxLength: 400 }),
      fc.string({ maxLength: 3 }),
      (names, other) => {
        const index = new NameIndex();
        const expectedIndexes = new Map<string, number>();
        for (const name of names) {
          if (!expectedIndexes.has(name)) expectedIndexes.set(name, expectedIndexes.size);
          t.equal(index.add(name), expectedIndexes.get(name));
        }
        t.equal(index.size, expectedIndexes.size);
        for (const name of [...names, other]) {
          t.equal(index.numberOf(name), expectedIndexes.get(name) ?? -1);
          t.equal(index.has(name), expectedIndexes.has(name));
        }
      },
    ),
    { numRuns: 20 },
  );
  t.end();
});
