import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { presentAccount } from '../../present.ts';
import { presentCollaborator } from './present.ts';

export const getCollaborators = operation({
  name: 'get_collaborators',
  method: 'GET',
  path: '/v1/:namespace/:name/collaborators',
  since: 14,
  summary: 'List the publisher and the collaborators of a package.',
  access: onPackage('package-view-acl'),
  response: 'GetCollaboratorsResponse',

  async handle({ package: subject, records }) {
    const collaborators = await records.collaborators.list(subject.id);
    const people = await records.accounts.byIds(
      collaborators.flatMap(({ accountId, createdBy }) => [accountId, createdBy]),
    );
    return {
      collaborators: collaborators.map((collaborator) => presentCollaborator(collaborator, people)),
      publisher: presentAccount(subject.publisher),
    };
  },
});
