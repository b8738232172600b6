import { acceptInvite as act } from '#acts/packages/collaborators.ts';
import { invited } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';

export const acceptInvite = operation({
  name: 'accept_invite',
  method: 'POST',
  path: '/v1/:namespace/:name/collaborators/invites/accept',
  since: 14,
  summary: 'Accept an invite, and collaborate on its package.',
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
