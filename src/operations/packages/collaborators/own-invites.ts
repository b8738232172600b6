import { acceptInvite, rejectInvite } from '#acts/packages/collaborators.ts';
import { account, invited } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { reachesPackage } from '#domain/tokens/principal.ts';
import { caller } from '../../caller.ts';
import { pageOf, pageSize, placeOf } from '../../page.ts';

export const listOwnInvites = operation({
  name: 'list_own_invites',
  method: 'GET',
  path: '/internal/v1/invites',
  since: 0,
  summary: 'List the packages that this account is invited to collaborate on, page by page.',
  access: account('packages', 'account-view-packages'),
  query: 'PageQuery',
  response: 'ListOwnInvitesResponse',

  async handle({ principal, query, records, now }) {
    const size = pageSize(query);
    const [after] = placeOf(query, [''] as const);
    const rows = await records.invites.to(principal.accountId, timestamp(now()), after, size + 1);
    const { entries, next } = pageOf(rows, size, (invite) => [invite.packageId]);
    const invites = entries.filter((invite) => reachesPackage(principal, { ...invite, id: invite.packageId }));
    return {
      invites: invites.map(({ namespace, name, createdBy, username, createdAt, expiresAt }) => ({
        namespace,
        name,
        from: { id: createdBy, username },
        'invited-at': createdAt,
        'expires-at': expiresAt,
      })),
      'next-cursor': next,
    };
  },
});

export const answerOwnInvite = operation({
  name: 'answer_own_invite',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/invite/answer',
  since: 0,
  summary:
    'Accept the invite of this account to collaborate on a package, or reject it, without the token of the invite.',
  access: invited,
  body: 'AnswerInviteRequest',
  status: 204,
  refuses: ['invalid-token'],

  async handle(call) {
    const { namespace, params, principal, body, acts } = call;
    const answer = { namespace, name: params.name, accountId: principal.accountId };
    await acts.do(body.accept ? acceptInvite : rejectInvite, caller(call), answer);
    return undefined;
  },
});
