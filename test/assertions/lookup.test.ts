import fc from 'fast-check';
import t from 'tap';

import { resolveLookup } from '#assertions/lookup.ts';
import { nameOf, primaryKeyOf } from '#assertions/format/types.ts';
import { Refusal } from '#domain/refusal.ts';
import { adasAccount, adasKey, made, timestamp } from './world.ts';

t.test('an assertion is found by its primary key, with or without the parts that have a default', async (t) => {
  const revision = await made('store', 'authority', 'snap-revision', {
    'snap-sha3-384': 'A'.repeat(64),
    'snap-id': 'S'.repeat(32),
    'snap-size': '1',
    'snap-revision': '1',
    'developer-id': 'ada',
    timestamp,
  });
  for (const assertion of [adasAccount, adasKey, revision]) {
    t.same(resolveLookup(assertion.type, primaryKeyOf(assertion)), { name: nameOf(assertion) });
  }
  t.same(resolveLookup('snap-revision', ['A'.repeat(64)]), { name: nameOf(revision) });
  t.same(resolveLookup('validation-set', ['16', 'ada', 'pumps']), { accountId: 'ada', setName: 'pumps' });
  t.same(resolveLookup('validation-set', ['16', 'ada', 'pumps', '2']), { name: 'validation-set/16/ada/pumps/2' });
  t.same(resolveLookup('validation-set', ['17', 'ada', 'pumps']), { name: 'validation-set/17/ada/pumps' });
});

t.test('an unknown query is refused by name', async (t) => {
  const types = fc.oneof(
    fc.string(),
    fc.constantFrom('account', 'model', 'snap-revision', 'validation-set', 'repair', '__proto__', 'toString'),
  );
  fc.assert(
    fc.property(types, fc.array(fc.string(), { maxLength: 6 }), (type, keys) => {
      try {
        const lookup = resolveLookup(type, keys);
        t.ok('name' in lookup ? lookup.name.startsWith(`${type}/`) : type === 'validation-set');
      } catch (error) {
        t.ok(error instanceof Refusal && error.status === (type === 'repair' ? 404 : 400));
      }
    }),
  );
});
