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
        const known = new Map<string, number>();
        for (const name of names) {
          if (!known.has(name)) known.set(name, known.size);
          t.equal(index.add(name), known.get(name));
        }
        t.equal(index.size, known.size);
        for (const name of [...names, other]) {
          t.equal(index.numberOf(name), known.get(name) ?? -1);
          t.equal(index.has(name), known.has(name));
        }
      },
    ),
    { numRuns: 20 },
  );
  t.end();
});
