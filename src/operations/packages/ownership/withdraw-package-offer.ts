import { withdrawOffer as act } from '#acts/packages/ownership.ts';
import { publisherOf } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';

export const withdrawPackageOffer = operation({
  name: 'withdraw_package_offer',
  method: 'DELETE',
  path: '/internal/v1/packages/:namespace/:name/offer',
  since: 0,
  summary: 'Withdraw a pending offer of a package.',
  access: publisherOf('package-manage-acl'),
  status: 204,

  async handle(call) {
    await call.acts.do(act, caller(call), { package: call.package });
    return undefined;
  },
});
