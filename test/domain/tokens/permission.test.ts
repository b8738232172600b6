import fc from 'fast-check';
import t from 'tap';

import { grants, isPermission, permissions, storePermission } from '#domain/tokens/permission.ts';

const permission = fc.constantFrom(...permissions);
const list = fc.subarray([...permissions]);

t.test('there are the seventeen permissions of the interface', (t) => {
  t.equal(permissions.length, 17);
  t.equal(new Set(permissions).size, 17);
  for (const text of permissions) t.ok(isPermission(text));
  for (const other of [
    '',
    'package',
    'package-manage-',
    'PACKAGE-MANAGE',
    'store-admin',
    null,
    5,
    ['store-view'],
    undefined,
  ])
    t.notOk(isPermission(other));
  t.end();
});

t.test('a token grants its named permissions, and the two general ones grant those with their prefix', (t) => {
  fc.assert(
    fc.property(list, permission, (held, needed) => {
      const implied =
        held.includes(needed) ||
        (held.includes('package-manage') && needed.startsWith('package-manage-')) ||
        (held.includes('package-view') && needed.startsWith('package-view-'));
      t.equal(grants(held, needed), implied, `${held.join(' ')} for ${needed}`);
      t.ok(grants(null, needed), 'an unrestricted one grants everything');
      t.notOk(grants([], needed), 'an empty one nothing');
    }),
    { numRuns: 500 },
  );
  t.notOk(grants(['package-manage'], 'package-view'), 'managing is not viewing');
  t.notOk(grants(['package-view'], 'package-manage'));
  t.notOk(grants(['package-manage-acl'], 'package-manage'), 'the particular does not imply the general');
  t.notOk(grants(['store-manage'], 'store-view'));
  t.end();
});

t.test('holding more never grants less', (t) => {
  fc.assert(
    fc.property(list, list, permission, (held, more, needed) => {
      if (grants(held, needed)) t.ok(grants([...held, ...more], needed));
    }),
    { numRuns: 300 },
  );
  t.end();
});

t.test('a store administrator views by store-view and does the rest by store-manage', (t) => {
  for (const needed of permissions) {
    t.equal(storePermission(needed), /-view(-|$)/.test(needed) ? 'store-view' : 'store-manage', needed);
  }
  t.end();
});
