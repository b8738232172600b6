import { acceptPackage, rejectPackage } from '#acts/packages/ownership.ts';
import { invited, packageNotFound } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { caller } from '../../caller.ts';

export const answerPackageOffer = operation({
  name: 'answer_package_offer',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/offer/answer',
  since: 0,
  summary: 'Accept an offered package and become its publisher, or decline the offer.',
  access: invited,
  body: 'AnswerOfferRequest',
  status: 204,
  refuses: ['resource-not-found', 'conflict', 'forbidden'],

  async handle(call) {
    const { package: subject, params, principal, body, acts, config } = call;
    if (subject === undefined) throw packageNotFound(params);
    const answer = { package: subject, accountId: principal.accountId };
    if (!body.accept) await acts.do(rejectPackage, caller(call), answer);
    else await acts.do(acceptPackage, caller(call), { ...answer, defaultQuota: readDefaultQuota(config.quotas) });
    return undefined;
  },
});
