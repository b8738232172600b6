import { acceptPackage, rejectPackage } from '#acts/ownership.ts';
import { invited, nowhere } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { caller } from '../by.ts';

export const answerPackageOffer = operation({
  name: 'answer_package_offer',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/offer/answer',
  since: 0,
  summary: 'Take a package that is offered, and publish it from now on; or leave it to its publisher.',
  access: invited,
  body: 'AnswerOfferRequest',
  status: 204,
  refuses: ['resource-not-found', 'conflict'],

  async handle(call) {
    const { package: subject, params, principal, body, acts } = call;
    if (subject === undefined) throw nowhere(params);
    const answer = { package: subject, accountId: principal.accountId };
    await acts.do(body.accept ? acceptPackage : rejectPackage, caller(call), answer);
    return undefined;
  },
});
