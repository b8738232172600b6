import { invited } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { by } from '../by.ts';
import { answerable } from './token.ts';

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
    const { namespace, params, principal, body, records, now } = call;
    const at = timestamp(now());
    const entry = { ...by(call, 'reject_invite'), at, object: `${namespace}/${params.name}` };
    await records.change(entry, async (tx) => {
      const asked = { namespace, name: params.name, token: body.token, principal, now: at };
      const { invite } = await answerable(tx, asked);
      await tx.invites.revoke(invite.tokenSha256, { at, by: principal.accountId });
    });
    return undefined;
  },
});
