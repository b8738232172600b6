import { invited } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { by } from '../by.ts';
import { answerable } from './token.ts';

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
    const { namespace, params, principal, body, records, now } = call;
    const at = timestamp(now());
    const entry = { ...by(call, 'accept_invite'), at, object: `${namespace}/${params.name}` };
    await records.change(entry, async (tx) => {
      const asked = { namespace, name: params.name, token: body.token, principal, now: at };
      const { invite, subject } = await answerable(tx, asked);
      await tx.invites.accept(invite.tokenSha256, at);
      await tx.collaborators.add(subject.id, principal.accountId, invite.createdBy, at);
    });
    return undefined;
  },
});
