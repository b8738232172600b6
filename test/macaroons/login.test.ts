// What the conditions of a discharge say together: who logged in, and until when that is true.
import t from 'tap';

import { readDischarge } from '#macaroons/login.ts';

const until = 'time-before 2026-03-02T12:00:00Z';

t.test('a discharge says who and until when, or nothing', async (t) => {
  t.match(readDischarge(['declared username ada', until]), {
    username: 'ada',
    until: Date.parse('2026-03-02T12:00:00Z'),
    since: -Infinity,
    loggedInAt: undefined,
  });
  t.equal(readDischarge(['declared username ada']), undefined, 'one without an end is none');
  t.equal(readDischarge([until]), undefined, 'nor is one that names nobody');
  t.equal(readDischarge([]), undefined);
});

t.test('what a bearer adds narrows, or makes all of it void', async (t) => {
  const read = (...more: string[]) => readDischarge(['declared username ada', until, ...more]);
  t.match(read('time-before 2026-03-01T12:00:00Z'), { until: Date.parse('2026-03-01T12:00:00Z') });
  t.match(read('time-before 2099-01-01T00:00:00Z'), { until: Date.parse('2026-03-02T12:00:00Z') });
  t.match(read('time-since 2026-03-01T12:00:00Z', 'time-since 1999-01-01T00:00:00Z'), {
    since: Date.parse('2026-03-01T12:00:00Z'),
  });
  t.match(read('declared username ada'), { username: 'ada' });
  for (const added of [
    'declared username bob',
    'declared role administrator',
    'time-before tomorrow',
    'time-since 1e3',
    'logged-in 2026-03-01T12:00:00Z',
    'is-human',
    '',
  ])
    t.equal(read(added), undefined, added);
});
