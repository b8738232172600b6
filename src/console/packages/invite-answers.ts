// The form handlers that accept or reject invites and offers directly in the list.
import { acceptInvite, rejectInvite } from '#acts/packages/collaborators.ts';
import { acceptPackage, rejectPackage } from '#acts/packages/ownership.ts';
import { invited, packageNotFound } from '#access/access-rules.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { caller } from '#operations/caller.ts';
import { declareMessages } from '../messages.ts';
import { formHandler } from '../screen.ts';

const withMessage = declareMessages({
  'invite-accepted': 'You collaborate on the package now.',
  'invite-declined': 'You have declined the invite.',
  'offer-left': 'The package stays with its publisher.',
  'offer-taken': 'You are now the publisher of the package.',
});

export const consoleAnswerInvite = formHandler({
  name: 'console_answer_invite',
  path: '/console/waiting/invites/:namespace/:name',
  summary: 'Accept or decline an invite to collaborate on a package.',
  access: invited,
  body: 'ConsoleAnswer',
  refuses: ['invalid-token'],

  async perform(call) {
    const { namespace, params, principal, body, acts } = call;
    const answer = { namespace, name: params.name, accountId: principal.accountId };
    const accepts = body.answer === 'yes';
    await acts.do(accepts ? acceptInvite : rejectInvite, caller(call), answer);
    return withMessage('/console/waiting', accepts ? 'invite-accepted' : 'invite-declined');
  },
});

export const consoleAnswerOffer = formHandler({
  name: 'console_answer_offer',
  path: '/console/waiting/offers/:namespace/:name',
  summary: 'Accept or decline an offered package.',
  access: invited,
  body: 'ConsoleAnswer',
  refuses: ['conflict'],

  async perform(call) {
    const { package: subject, params, principal, body, acts, config } = call;
    if (subject === undefined) throw packageNotFound(params);
    const answer = { package: subject, accountId: principal.accountId };
    if (body.answer === 'no') {
      await acts.do(rejectPackage, caller(call), answer);
      return withMessage('/console/waiting', 'offer-left');
    }
    await acts.do(acceptPackage, caller(call), { ...answer, defaultQuota: readDefaultQuota(config.quotas) });
    return withMessage('/console/waiting', 'offer-taken');
  },
});
