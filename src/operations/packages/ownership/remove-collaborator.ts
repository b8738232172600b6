import { removeCollaborator as act } from '#acts/packages/ownership.ts';
import { publisherOf } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';

export const removeCollaborator = operation({
  name: 'remove_collaborator',
  method: 'DELETE',
  path: '/internal/v1/packages/:namespace/:name/collaborators/:account_id',
  since: 0,
  summary: 'Remove a collaborator from a package, from the next request on.',
  access: publisherOf('package-manage-acl'),
  status: 204,

  async handle(call) {
    const { package: subject, params, acts } = call;
    await acts.do(act, caller(call), { package: subject, accountId: params.account_id });
    return undefined;
  },
});
