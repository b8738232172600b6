import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { presentInvite } from './present.ts';

const newest = 500;

export const getAllInvites = operation({
  name: 'get_all_invites',
  method: 'GET',
  path: '/v1/:namespace/:name/collaborators/invites',
  since: 18,
  summary: 'List all invites of a package, pending and settled, newest first.',
  access: onPackage('package-view-acl'),
  response: 'GetAllInvitesResponse',

  async handle({ package: subject, records }) {
    const invites = await records.invites.list(subject.id, newest);
    const people = await records.accounts.byIds(
      invites.flatMap(({ accountId, createdBy, revokedBy }) => [accountId, createdBy, revokedBy]),
    );
    return { invites: invites.map((invite) => presentInvite(invite, people)) };
  },
});
