import { publisherOf } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';
import { digestOf } from './token.ts';

export const inviteCollaborators = operation({
  name: 'invite_collaborators',
  method: 'POST',
  path: '/v1/:namespace/:name/collaborators/invites',
  since: 14,
  summary: 'Invite accounts to collaborate on a package, by e-mail address.',
  access: publisherOf('package-manage-acl'),
  body: 'InvitesRequest',
  response: 'InviteCollaboratorsResponse',
  status: 201,
  refuses: ['account-not-found', 'conflict'],

  async handle(call) {
    const { package: subject, principal, body, records, config, newId, now } = call;
    const moment = now();
    const at = timestamp(moment);
    const expiresAt = timestamp(after(moment, days(config.collaborators.invite_days)));
    const tokens = body.invites.map(({ email }) => ({ email, token: newId.id() }));
    const entry = { ...by(call, 'invite_collaborators'), at, object: `${subject.namespace}/${subject.name}` };
    await records.change(entry, async (tx, note) => {
      const invited = new Set<string>();
      for (const { email, token } of tokens) {
        const account = await tx.accounts.byEmail(email.trim());
        if (account === undefined)
          throw new Refusal('account-not-found', `There is no account with the e-mail address '${email}'.`);
        if (invited.has(account.id)) throw new Refusal('api-error', `The account of '${email}' is named twice.`);
        if (account.id === subject.publisherId) {
          throw new Refusal('conflict', `'${email}' is the publisher of '${subject.name}' and needs no invite.`);
        }
        if (await tx.collaborators.has(subject.id, account.id)) {
          throw new Refusal('conflict', `'${email}' collaborates on '${subject.name}' already.`);
        }
        invited.add(account.id);
        const who = { packageId: subject.id, accountId: account.id, email: account.email };
        await tx.invites.add({
          ...who,
          tokenSha256: digestOf(token),
          createdAt: at,
          createdBy: principal.accountId,
          expiresAt,
        });
      }
      note({ invited: [...invited] });
    });
    return { tokens };
  },
});
