import t from 'tap';

import { timeline } from '#console/parts/timeline.ts';

const headings = (...moments: string[]): string[] => {
  const page = timeline(moments.map((at) => ({ at, actor: 'ada', sentence: 'did it' }))).toString();
  return [...page.matchAll(/class="day">([^<]*)</g)].map(([, day]) => day!);
};

t.test('each day has one heading, in UTC', (t) => {
  t.same(headings('2026-11-06T23:59:59.999Z', '2026-11-06T00:00:00.000Z', '2026-11-05T23:00:00.000Z'), [
    'Friday, 6 November 2026',
    'Thursday, 5 November 2026',
  ]);
  t.end();
});

t.test('a day has the name that the locale data of Node gives it', (t) => {
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' });
  for (let day = 0; day < 366; day += 3) {
    const at = new Date(Date.UTC(2028, 0, 1 + day)).toISOString();
    t.same(headings(at), [format.format(new Date(at))]);
  }
  t.end();
});
