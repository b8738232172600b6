import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { presentPendingInvite } from './present.ts';

export const getPendingInvites = operation({
  name: 'get_pending_invites',
  method: 'GET',
  path: '/v1/:namespace/:name/collaborators/invites/pending',
  since: 14,
  summary: 'List the pending invites of a package, newest first.',
  access: onPackage('package-view-acl'),
  response: 'GetPendingInvitesResponse',

  async handle({ package: subject, records, now }) {
    return { invites: (await records.invites.listPending(subject.id, timestamp(now()))).map(presentPendingInvite) };
  },
});
