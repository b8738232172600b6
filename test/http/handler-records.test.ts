// Data that a handler cannot reach beyond its evidence: the type check of the tests proves it, line by line.
import t from 'tap';

import { account, onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';

t.test('a handler has no access beyond its rule', (t) => {
  const record = { method: 'GET', since: 0, summary: 'Find what is guarded.' } as const;
  operation({
    ...record,
    name: 'find_anything',
    path: '/anything/:id',
    access: account('store'),
    async handle({ records, params: { id } }) {
      // @ts-expect-error -- a package is found by a rule
      await records.packages.find('snap', id);
      // @ts-expect-error -- also by its id
      await records.packages.byId(id);
      // @ts-expect-error -- so is a brand
      await records.brands.find(id);
      // @ts-expect-error -- only a signer may use the private half of a key
      await records.signingKeys.find(id);
      // @ts-expect-error -- builds belong to a package
      await records.buildSets.find(id);
      // @ts-expect-error -- and workflows
      await records.commitWorkflows.find(id);
      // @ts-expect-error -- no caller may set the beginning of the audit log
      await records.beginAnew({ at: '', actor: id, action: '', object: '' }, () => Promise.resolve());
      return undefined;
    },
  });
  operation({
    ...record,
    name: 'find_another',
    path: '/v1/:namespace/:name/another',
    access: onPackage('package-view'),
    async handle({ records, package: subject }) {
      await records.tracks.list(subject.id);
      // @ts-expect-error -- who has one package has not all of them
      await records.packages.find(subject.namespace, 'other');
      return undefined;
    },
  });
  t.end();
});
