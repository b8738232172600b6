import fc from 'fast-check';
import t from 'tap';

import { readCursor, writeCursor } from '#operations/cursor.ts';

t.test('a text that decodes to something else than a place is no cursor, nor is another spelling of one', async (t) => {
  const cursor = writeCursor(['a', 'b']);
  const texts = [
    '[1,2]',
    '[null,null]',
    '["a",["b"]]',
    '{"0":"a","1":"b","length":2}',
    '["a", "b"]',
    ' ["a","b"]',
    'ab',
  ];
  for (const text of texts) {
    t.throws(() => readCursor(Buffer.from(text).toString('base64url'), 2), { code: 'api-error' }, text);
  }
  for (const text of [`${cursor}=`, `${cursor} `, ` ${cursor}`, '']) {
    t.throws(() => readCursor(text, 2), { code: 'api-error' }, text);
  }
  t.same(readCursor(cursor, 2), ['a', 'b']);
});

t.test('a cursor returns its place, and no other text is a cursor', (t) => {
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
