// The smaller words: ids, namespaces, refusals, times.
import fc from 'fast-check';
import t from 'tap';

import { after, days, timestamp } from '#domain/clock.ts';
import { isAccountId, isPackageId, isUuid, randomIds } from '#domain/ids.ts';
import { defaultType, isNamespace, namespaces, packageTypes } from '#domain/packages/namespace.ts';
import { Refusal } from '#domain/refusal.ts';

t.test('ids are 32 letters and digits, all alike in chance', (t) => {
  const ids = Array.from({ length: 2000 }, () => randomIds.id());
  t.equal(new Set(ids).size, ids.length);
  const counts = new Map<string, number>();
  for (const id of ids) {
    t.ok(isPackageId(id) && isAccountId(id), id);
    for (const character of id) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  t.equal(counts.size, 62);
  const expected = (ids.length * 32) / 62;
  const squares = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  t.ok(squares < 130, `chi-squared ${Math.round(squares)}`); // 61 degrees of freedom: beyond 130 by chance once in a million
  t.ok(isUuid(randomIds.uuid()));
  t.end();
});

t.test('an account id is local or from the online store', (t) => {
  for (const id of ['canonical', 'my-brand-2', 'ab', 'x'.repeat(28), 'A'.repeat(32), 'a1'.repeat(16)])
    t.ok(isAccountId(id), id);
  for (const id of [
    '',
    'a',
    'x'.repeat(29),
    'A'.repeat(31),
    'A'.repeat(33),
    'My-Brand',
    'under_score',
    'a b',
    'canonical\n',
    '../x',
  ])
    t.notOk(isAccountId(id), id);
  for (const id of ['', 'x', 'A'.repeat(31), `${'A'.repeat(31)}-`, `${'A'.repeat(32)}\n`]) t.notOk(isPackageId(id), id);
  for (const id of [
    '',
    'x',
    '00000000-0000-0000-0000-00000000000',
    '00000000-0000-0000-0000-00000000000G',
    '00000000-0000-0000-0000-00000000000A',
  ])
    t.notOk(isUuid(id), id);
  t.end();
});

t.test('namespaces have their types, and an inherited property is no namespace', (t) => {
  t.same(namespaces, ['bin', 'charm', 'snap', 'rock', 'sdk', 'source']);
  t.same(packageTypes('charm'), ['charm', 'bundle']);
  t.equal(defaultType('source'), 'rockcraft');
  for (const other of ['', 'Snap', 'toString', '__proto__', 'constructor', 'hasOwnProperty', 'deb'])
    t.notOk(isNamespace(other), other);
  t.end();
});

t.test('a refusal has the status of its code', (t) => {
  for (const [code, status] of [
    ['api-error', 400],
    ['macaroon-authorization-required', 401],
    ['macaroon-needs-refresh', 401],
    ['permission-required', 401],
    ['exchange-window-expired', 401],
    ['forbidden', 403],
    ['resource-not-found', 404],
    ['method-not-allowed', 405],
    ['already-registered', 409],
    ['already-owned', 409],
    ['reserved-name', 409],
    ['conflict', 409],
    ['length-required', 411],
    ['request-too-large', 413],
    ['unsupported-media-type', 415],
    ['too-many-requests', 429],
    ['header-too-large', 431],
    ['sealed', 503],
    ['shutting-down', 503],
    ['insufficient-storage', 507],
  ] as const) {
    t.match(new Refusal(code, 'No.'), { code, status, message: 'No.', retryAfter: undefined });
  }
  t.equal(new Refusal('too-many-requests', 'No.', 7).retryAfter, 7);
  t.end();
});

t.test('moments are written so that their order is that of their texts', (t) => {
  const moment = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(moment, moment, (first, other) => {
      t.match(timestamp(first), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      t.equal(timestamp(first) < timestamp(other), first < other);
    }),
    { numRuns: 200 },
  );
  t.equal(timestamp(after(new Date('2026-03-01T12:00:00Z'), days(30))), '2026-03-31T12:00:00.000Z');
  t.end();
});
