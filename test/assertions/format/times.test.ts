import fc from 'fast-check';
import t from 'tap';
import { readTime, writeTime } from '#assertions/format/times.ts';

t.test('a time is read as in RFC 3339', (t) => {
  const times: [string, string][] = [
    ['2024-01-02T03:04:05Z', '2024-01-02T03:04:05.000Z'],
    ['2016-04-01T00:00:00.0Z', '2016-04-01T00:00:00.000Z'],
    ['2024-02-29T23:59:59.123456789Z', '2024-02-29T23:59:59.123Z'],
    ['2025-06-30T23:59:59.5+02:00', '2025-06-30T21:59:59.500Z'],
    ['2025-06-30T23:59:59-05:30', '2025-07-01T05:29:59.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ];
  for (const [text, moment] of times) t.equal(readTime(text)?.toISOString(), moment, text);
  t.end();
});

t.test('a time outside the calendar is refused', (t) => {
  const none = [
    '',
    'never',
    '1704164645',
    '2024-01-02',
    '2024-01-02 03:04:05Z',
    '2024-01-02t03:04:05z',
    '2024-01-02T03:04Z',
    '2024-01-02T3:04:05Z',
    '2024-01-02T24:00:00Z',
    '2024-01-02T23:60:00Z',
    '2016-12-31T23:59:60Z',
    '2024-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-00-01T00:00:00Z',
    '2024-01-00T00:00:00Z',
    '2024-01-02T03:04:05',
    '2024-01-02T03:04:05,5Z',
    '2024-01-02T03:04:05+2:00',
    '2024-01-02T03:04:05+24:00',
    '2024-01-02T03:04:05Z\n',
  ];
  for (const text of none) t.equal(readTime(text), undefined, JSON.stringify(text));
  t.end();
});

t.test('a time is written in UTC with whole seconds, and read again', (t) => {
  t.equal(writeTime(new Date('2024-01-02T03:04:05.999Z')), '2024-01-02T03:04:05Z');
  t.throws(() => writeTime(new Date('+010000-01-01')), { message: /years 0 to 9999/ });
  t.throws(() => writeTime(new Date(NaN)), { message: /years 0 to 9999/ });
  const moments = fc.date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(moments, (moment) => {
      const seconds = Math.floor(moment.getTime() / 1000) * 1000;
      return readTime(writeTime(moment))?.getTime() === seconds;
    }),
  );
  t.end();
});
