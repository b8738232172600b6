import { offerPackage as act } from '#acts/packages/ownership.ts';
import { publisherOf } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import { caller } from '../../caller.ts';
import { presentAccount } from '../../present.ts';

export const offerPackage = operation({
  name: 'offer_package',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/offer',
  since: 0,
  summary: 'Offer a package to another publisher, by e-mail address. An earlier offer becomes invalid.',
  access: publisherOf('package-manage-acl'),
  body: 'OfferPackageRequest',
  response: 'PackageOffer',
  status: 201,
  refuses: ['account-not-found', 'conflict'],

  async handle(call) {
    const { package: subject, principal, body, records, acts } = call;
    const { namespace, name } = subject;
    const account = await records.accounts.byEmail(body.email.trim());
    if (account === undefined) {
      throw new Refusal('account-not-found', `There is no account with the e-mail address '${body.email}'.`);
    }
    const input = { package: subject, accountId: account.id, offeredBy: principal.accountId };
    const { offeredAt, expiresAt } = await acts.do(act, caller(call), input);
    return { namespace, name, to: presentAccount(account), 'offered-at': offeredAt, 'expires-at': expiresAt };
  },
});
