// The combined conditions of a discharge: the account that logged in, and the expiry of that.
import t from 'tap';

import { readDischarge } from '#macaroons/login.ts';

const until = 'time-before 2026-03-02T12:00:00Z';

t.test('a discharge names the account and the expiry, or nothing', async (t) => {
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

t.test('additions by a bearer narrow a token, or invalidate it', async (t) => {
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
