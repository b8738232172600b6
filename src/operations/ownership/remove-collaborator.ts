import { removeCollaborator as act } from '#acts/ownership.ts';
import { publisherOf } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { caller } from '../by.ts';

export const removeCollaborator = operation({
  name: 'remove_collaborator',
  method: 'DELETE',
  path: '/internal/v1/packages/:namespace/:name/collaborators/:account_id',
  since: 0,
  summary: 'Take a collaborator away from a package, from the next request on.',
  access: publisherOf('package-manage-acl'),
  status: 204,

  async handle(call) {
    const { package: subject, params, acts } = call;
    await acts.do(act, caller(call), { package: subject, accountId: params.account_id });
    return undefined;
  },
});
