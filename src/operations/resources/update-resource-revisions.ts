import { onPackage } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { mergedBases } from '#domain/resource-base.ts';
import { by } from '../by.ts';

export const updateResourceRevisions = operation({
  name: 'update_resource_revisions',
  method: 'PATCH',
  path: '/v1/:namespace/:name/resources/:resource_name/revisions',
  since: 25,
  summary: 'Say on which bases revisions of a resource run.',
  access: onPackage('package-manage-revisions'),
  body: 'UpdateResourceRevisionsRequest',
  response: 'UpdateResourceRevisionsResponse',

  async handle(call) {
    const { package: subject, params, principal, body, records, now } = call;
    const { resource_name: name } = params;
    const updates = body['resource-revision-updates'];
    const numbers = updates.map(({ revision }) => revision);
    const twice = numbers.find((number, at) => numbers.indexOf(number) < at);
    if (twice !== undefined)
      throw new Refusal('api-error', `Revision ${twice} is named twice at /resource-revision-updates`);
    const at = timestamp(now());
    const details = { resource: name, revisions: numbers };
    const entry = {
      ...by(call, 'update_resource_revisions'),
      at,
      object: `${subject.namespace}/${subject.name}`,
      details,
    };
    await records.change(entry, async (tx) => {
      for (const { revision, bases } of updates) {
        const found = await tx.resourceRevisions.find(subject.id, name, revision);
        if (found === undefined) {
          throw new Refusal(
            'resource-not-found',
            `The resource '${name.slice(0, 100)}' of '${subject.name}' has no revision ${revision}.`,
          );
        }
        if (found.bases === null)
          throw new Refusal('api-error', `The resource '${name}' is a component of a snap and has no bases.`);
        const changed = { packageId: subject.id, name, revision, bases: mergedBases(bases) };
        await tx.resourceRevisions.rebase({ ...changed, at, by: principal.accountId });
      }
    });
    return { 'num-resource-revisions-updated': updates.length };
  },
});
