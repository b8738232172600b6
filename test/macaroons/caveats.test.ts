// The combined effect of the first-party caveats of a token: each narrows, and an unknown one refuses.
import fc from 'fast-check';
import t from 'tap';

import { permissions } from '#domain/tokens/permission.ts';
import { caveatsFor, readTerms } from '#macaroons/caveats.ts';

const [ada, bob] = ['0d3f6b52-6f0e-4c5a-9d59-0c1a4a5a7b01', '7c9e6679-7425-40de-944b-e07fc1f90ae7'];
const session = { id: ada, since: '2026-03-01T12:00:00.000Z', until: '2026-03-02T12:00:00.000Z' };
const plain = caveatsFor(session, {});
const read = (...more: string[]) => readTerms([...plain, ...more], '2');

t.test('a token has its beginning, its end and its session, and is otherwise unrestricted', async (t) => {
  t.same(plain, [`time-before ${session.until}`, `time-since ${session.since}`, `session-id ${ada}`]);
  t.same(read(), {
    sessionId: ada,
    issued: Date.parse(session.since),
    since: Date.parse(session.since),
    until: Date.parse(session.until),
    permissions: null,
    channels: null,
    packages: null,
  });
});

t.test('a token without an end, or of no session, is none', async (t) => {
  for (const missing of ['time-before', 'session-id']) {
    t.equal(
      readTerms(
        plain.filter((caveat) => !caveat.startsWith(missing)),
        '2',
      ),
      undefined,
      missing,
    );
  }
  t.equal(readTerms([], '2'), undefined);
  t.ok(
    readTerms(
      plain.filter((caveat) => !caveat.startsWith('time-since')),
      '2',
    ),
    'one that has always begun is',
  );
});

t.test('a caveat with the id of another session gives no access to that session', async (t) => {
  t.equal(read(`session-id ${bob}`), undefined);
  t.equal(readTerms([`session-id ${bob}`, ...plain], '2'), undefined);
  t.match(read(`session-id ${ada}`), { sessionId: ada }, 'the same one again changes nothing');
  t.equal(read('session-id root'), undefined);
});

t.test('of several times the narrowest counts', async (t) => {
  t.match(read('time-before 2026-03-01T13:00:00Z'), { until: Date.parse('2026-03-01T13:00:00Z') });
  t.match(read('time-before 2099-01-01T00:00:00Z'), { until: Date.parse(session.until) });
  t.match(read('time-since 2026-03-01T18:00:00+02:00'), { since: Date.parse('2026-03-01T16:00:00Z') });
  t.match(read('time-since 1999-01-01T00:00:00Z'), { since: Date.parse(session.since) });
  for (const time of [
    '',
    'tomorrow',
    '2026-03-01',
    '2026-03-01T12:00:00',
    '2026-13-01T12:00:00Z',
    '2026-02-30T12:00:00Z',
    '1e3',
  ]) {
    t.equal(read(`time-before ${time}`), undefined, time);
    t.equal(read(`time-since ${time}`), undefined, time);
  }
});

t.test('of several lists of permissions only what all of them grant is left', async (t) => {
  const list = (...names: string[]): string => `permissions ${JSON.stringify(names)}`;
  for (const [caveats, left] of [
    [[list('package-view')], ['package-view']],
    [[list()], []],
    [[list('package-view'), list('package-view', 'store-manage')], ['package-view']],
    [[list('package-view'), list('package-manage')], []],
    [[list('package-manage'), list('package-manage-releases')], ['package-manage-releases']],
    [[list('package-manage-releases'), list('package-manage')], ['package-manage-releases']],
    [[list('package-view-acl', 'store-view'), list('package-view')], ['package-view-acl']],
    [[list(), list('store-manage')], []],
  ] as const) {
    t.same(read(...caveats)?.permissions, left, caveats.join(' '));
    t.same(new Set(read(...caveats.toReversed())?.permissions), new Set(left), 'in whichever order');
  }
});

t.test('no caveat that is added lets a token do more', (t) => {
  const some = fc.subarray([...permissions]);
  const grants = (held: readonly string[], permission: string): boolean =>
    held.includes(permission) ||
    ['package-manage', 'package-view'].some((all) => held.includes(all) && permission.startsWith(`${all}-`));
  fc.assert(
    fc.property(fc.array(some, { minLength: 1, maxLength: 4 }), (lists) => {
      const left = read(...lists.map((list) => `permissions ${JSON.stringify(list)}`))?.permissions ?? [...permissions];
      for (const permission of permissions) t.equal(grants(left, permission), lists.every((list) => grants(list, permission)), { diagnostic: false }); // prettier-ignore
    }),
  );
  t.end();
});

t.test('each list of channels and of packages is checked separately', async (t) => {
  const terms = read(
    'channels ["edge", "*/beta"]',
    'channels []',
    'packages [{"type": "snap", "name": "hello"}]',
    'packages []',
  );
  t.equal(terms?.channels?.length, 2);
  t.same(
    terms?.channels?.map((patterns) => patterns.length),
    [2, 0],
  );
  t.same(terms?.packages, [[{ type: 'snap', name: 'hello' }], []]);
});

t.test('an unknown caveat refuses the whole token', async (t) => {
  for (const caveat of [
    'is-admin',
    'is-admin true',
    '',
    'permissions',
    'permissions null',
    'permissions {}',
    'permissions "package-view"',
    'permissions ["package-everything"]',
    'permissions [1]',
    'permissions  []',
    'permissions [] []',
    'Permissions []',
    'channels [1]',
    'channels ["no such/channel/at/all"]',
    'channels {"length": 1}',
    'packages [{}]',
    'packages [null]',
    'packages [[]]',
    'packages ["hello"]',
    'packages [{"type": "snap", "name": 1}]',
    'packages [{"type": "snap", "id": []}]',
    'packages [{"type": "snap", "publisher": "ada"}]',
  ]) {
    t.equal(read(caveat), undefined, caveat);
  }
});
