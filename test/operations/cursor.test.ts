import fc from 'fast-check';
import t from 'tap';

import { readCursor, writeCursor } from '#operations/cursor.ts';

t.test('a cursor gives back the place it was made of, and no other text is one', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 4 }),
      fc.string(),
      (place, text) => {
        const cursor = writeCursor(place);
        t.same(readCursor(cursor, place.length), place);
        t.throws(() => readCursor(cursor, place.length + 1), { code: 'api-error' });
        if (text !== '') t.throws(() => readCursor(text, 3), { code: 'api-error' });
      },
    ),
  );
  t.end();
});
