import t from 'tap';

import { readDateTime } from '#domain/date-time.ts';

t.test('a fraction of a second has nine digits, unless more are allowed', (t) => {
  const text = '2026-03-01T12:00:00.1234567890+02:00';
  t.equal(readDateTime(text), undefined);
  t.equal(readDateTime(text, 32)?.toISOString(), '2026-03-01T10:00:00.123Z');
  t.equal(readDateTime(text.replace('0+', '+'))?.toISOString(), '2026-03-01T10:00:00.123Z');
  t.equal(readDateTime('2026-02-30T12:00:00Z'), undefined, 'no day of the calendar, rather than the second of March');
  t.end();
});
