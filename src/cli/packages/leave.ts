// larder package leave
import { leavePackage } from '#acts/packages/ownership.ts';
import { command } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';
import { accessLossConfirmation, packageArgument, findPackage } from './package-argument.ts';

export const packageLeave = command({
  name: 'package leave',
  summary: 'Leave a package on behalf of a collaborator.',
  description:
    "The audit log records it as the decision of the collaborator. 'larder collaborator remove' removes a " +
    'collaborator without their consent.',
  positionals: [packageArgument, { name: 'account', value: 'ID', summary: 'The id of the collaborator.' }],
  examples: ['larder package leave snap/hello xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --yes'],
  confirm: accessLossConfirmation,

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person }) => {
      const subject = await findPackage(records, positionals.package);
      const { id, username } = await findAccount(records, positionals.account);
      await acts.do(leavePackage, person, { package: subject, accountId: id });
      const { namespace, name } = subject;
      return {
        text: `The account ${id} (${username}) has left ${namespace}/${name}.`,
        json: { namespace, name, 'account-id': id },
      };
    }),
});
