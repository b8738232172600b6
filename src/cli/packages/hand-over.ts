// larder package hand-over
import { handOverPackage } from '#acts/packages/ownership.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { command } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';
import { publisherChangeConfirmation, packageArgument, findPackage } from './package-argument.ts';

export const packageHandOver = command({
  name: 'package hand-over',
  summary: 'Make another account the publisher of a package.',
  description:
    'From the next request on the new publisher has the rights of the old publisher, who loses all access. A ' +
    "snap with an imported declaration can only go to the publisher that the declaration names. 'larder package " +
    "list --publisher ID' lists the packages of an account.",
  positionals: [packageArgument, { name: 'account', value: 'ID', summary: 'The id of the new publisher.' }],
  examples: ['larder package hand-over snap/hello xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --yes'],
  confirm: publisherChangeConfirmation,

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person, config }) => {
      const subject = await findPackage(records, positionals.package);
      const { id: to, username } = await findAccount(records, positionals.account);
      const defaultQuota = readDefaultQuota(config.quotas);
      const { before: from } = await acts.do(handOverPackage, person, {
        package: subject,
        accountId: to,
        defaultQuota,
      });
      const { namespace, name } = subject;
      return {
        text: `The package ${namespace}/${name} is published by ${to} (${username}) now, and was by ${from}.`,
        json: { namespace, name, from, to },
      };
    }),
});
