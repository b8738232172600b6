// larder package offer, larder package withdraw-offer
import { offerPackage, withdrawOffer } from '#acts/packages/ownership.ts';
import { command } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';
import { packageArgument, findPackage } from './package-argument.ts';

export const packageOffer = command({
  name: 'package offer',
  summary: 'Offer a package to another publisher on behalf of its own. An earlier offer of the package becomes void.',
  description:
    'The account accepts or rejects the offer within seven days by HTTP, or an administrator does so with ' +
    "'larder package accept-offer' and 'reject-offer'. 'larder package hand-over' needs no consent.",
  positionals: [packageArgument, { name: 'account', value: 'ID', summary: 'The id of the account it is offered to.' }],
  examples: ['larder package offer snap/hello xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI'],

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person }) => {
      const subject = await findPackage(records, positionals.package);
      const { id, username } = await findAccount(records, positionals.account);
      const offer = { package: subject, accountId: id, offeredBy: subject.publisherId };
      const { offeredAt, expiresAt } = await acts.do(offerPackage, person, offer);
      const { namespace, name } = subject;
      return {
        text: `The package ${namespace}/${name} is offered to ${id} (${username}) until ${expiresAt}.`,
        json: { namespace, name, to: { id, username }, 'offered-at': offeredAt, 'expires-at': expiresAt },
      };
    }),
});

export const packageWithdrawOffer = command({
  name: 'package withdraw-offer',
  summary: 'Withdraw an offer that has not been answered.',
  positionals: [packageArgument],
  examples: ['larder package withdraw-offer snap/hello'],

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person }) => {
      const subject = await findPackage(records, positionals.package);
      await acts.do(withdrawOffer, person, { package: subject });
      const { namespace, name } = subject;
      return {
        text: `The package ${namespace}/${name} is no longer offered.`,
        json: { namespace, name },
      };
    }),
});
