// larder collaborator remove
import { removeCollaborator } from '#acts/packages/ownership.ts';
import { command } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';
import { accessLossConfirmation, packageArgument, findPackage } from './package-argument.ts';

export const collaboratorRemove = command({
  name: 'collaborator remove',
  summary: 'Remove a collaborator from a package.',
  description: "This takes effect at the next request. 'larder package show' lists the collaborators of a package.",
  positionals: [packageArgument, { name: 'account', value: 'ID', summary: 'The id of the collaborator.' }],
  examples: ['larder collaborator remove snap/hello xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --yes'],
  confirm: accessLossConfirmation,

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person }) => {
      const subject = await findPackage(records, positionals.package);
      const { id, username } = await findAccount(records, positionals.account);
      await acts.do(removeCollaborator, person, { package: subject, accountId: id });
      const { namespace, name } = subject;
      return {
        text: `The account ${id} (${username}) collaborates on ${namespace}/${name} no more.`,
        json: { namespace, name, 'account-id': id },
      };
    }),
});
