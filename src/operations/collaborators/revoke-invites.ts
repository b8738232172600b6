import { publisherOf } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { by } from '../by.ts';

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
    const { package: subject, principal, body, records, now } = call;
    const at = timestamp(now());
    const entry = { ...by(call, 'revoke_invites'), at, object: `${subject.namespace}/${subject.name}` };
    await records.change(entry, async (tx, note) => {
      const pending = await tx.invites.listPending(subject.id, at);
      const meant = new Set<string | undefined>();
      for (const { email } of body.invites) meant.add((await tx.accounts.byEmail(email.trim()))?.id);
      const revoked = pending.filter(({ accountId }) => meant.has(accountId));
      for (const { tokenSha256 } of revoked) await tx.invites.revoke(tokenSha256, { at, by: principal.accountId });
      note({ revoked: revoked.map(({ accountId }) => accountId) });
    });
    return undefined;
  },
});
