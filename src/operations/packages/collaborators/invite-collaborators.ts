import { inviteCollaborators as act } from '#acts/packages/collaborators.ts';
import { publisherOf } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';

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
    const { package: subject, principal, body, acts, config, newId } = call;
    const tokens = body.invites.map(({ email }) => ({ email, token: newId.id() }));
    const invites = { package: subject, invitedBy: principal.accountId, invites: tokens };
    await acts.do(act, caller(call), { ...invites, days: config.collaborators.invite_days });
    return { tokens };
  },
});
