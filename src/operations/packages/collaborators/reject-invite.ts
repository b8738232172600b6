import { rejectInvite as act } from '#acts/packages/collaborators.ts';
import { invited } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';

export const rejectInvite = operation({
  name: 'reject_invite',
  method: 'POST',
  path: '/v1/:namespace/:name/collaborators/invites/reject',
  since: 14,
  summary: 'Reject an invite to collaborate on a package.',
  access: invited,
  body: 'InviteTokenRequest',
  status: 204,
  refuses: ['invalid-token'],

  async handle(call) {
    const { namespace, params, principal, body, acts } = call;
    const answer = { namespace, name: params.name, token: body.token, accountId: principal.accountId };
    await acts.do(act, caller(call), answer);
    return undefined;
  },
});
