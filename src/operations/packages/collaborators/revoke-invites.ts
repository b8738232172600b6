import { revokeInvites as act } from '#acts/packages/collaborators.ts';
import { publisherOf } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';

export const revokeInvites = operation({
  name: 'revoke_invites',
  method: 'POST',
  path: '/v1/:namespace/:name/collaborators/invites/revoke',
  since: 14,
  summary: 'Revoke the pending invites of these e-mail addresses.',
  access: publisherOf('package-manage-acl'),
  body: 'InvitesRequest',
  status: 204,

  async handle(call) {
    const { package: subject, principal, body, acts } = call;
    const emails = body.invites.map(({ email }) => email);
    await acts.do(act, caller(call), { package: subject, revokedBy: principal.accountId, emails });
    return undefined;
  },
});
