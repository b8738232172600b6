// larder package accept-offer, larder package reject-offer
import { acceptPackage, rejectPackage } from '#acts/packages/ownership.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { command } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';
import { publisherChangeConfirmation, packageArgument, findPackage } from './package-argument.ts';

const receiver = { name: 'account', value: 'ID', summary: 'The id of the account it is offered to.' } as const;

export const packageAcceptOffer = command({
  name: 'package accept-offer',
  summary: 'Accept an offered package for an account, which becomes its publisher.',
  description: "'larder package offers' lists each offer and its account.",
  positionals: [packageArgument, receiver],
  examples: ['larder package accept-offer snap/hello xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --yes'],
  confirm: publisherChangeConfirmation,

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person, config }) => {
      const subject = await findPackage(records, positionals.package);
      const { id: to, username } = await findAccount(records, positionals.account);
      const defaultQuota = readDefaultQuota(config.quotas);
      await acts.do(acceptPackage, person, { package: subject, accountId: to, defaultQuota });
      const { namespace, name, publisherId: from } = subject;
      return {
        text: `The package ${namespace}/${name} is published by ${to} (${username}) now, and was by ${from}.`,
        json: { namespace, name, from, to },
      };
    }),
});

export const packageRejectOffer = command({
  name: 'package reject-offer',
  summary: 'Reject an offered package for an account. The package stays with its publisher.',
  description: "'larder package offers' lists each offer and its account.",
  positionals: [packageArgument, receiver],
  examples: ['larder package reject-offer snap/hello xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI'],

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person }) => {
      const subject = await findPackage(records, positionals.package);
      const { id, username } = await findAccount(records, positionals.account);
      await acts.do(rejectPackage, person, { package: subject, accountId: id });
      const { namespace, name } = subject;
      return {
        text: `The package ${namespace}/${name} stays with its publisher; ${id} (${username}) does not take it.`,
        json: { namespace, name, 'account-id': id },
      };
    }),
});
