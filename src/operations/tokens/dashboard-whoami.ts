import { account } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { inCommon, shownChannels } from '#domain/tokens/principal.ts';

export const dashboardWhoami = operation({
  name: 'dashboard_whoami',
  method: 'GET',
  path: '/api/v2/tokens/whoami',
  since: 0,
  summary: 'Get the account of the token, for the older publishing tools.',
  access: account('token'),
  errors: 'dashboard',
  response: 'DashboardWhoamiResponse',

  async handle({ principal, records }) {
    const { accountId: id, email, username, displayName: name } = principal;
    const expires = (await records.macaroons.validUntil(principal.sessionId)) ?? '';
    return {
      account: { id, email, username, name },
      channels: shownChannels(principal),
      // The tools add the time zone.
      expires: expires.replace(/Z$/, ''),
      packages: inCommon(principal.packages),
      permissions: principal.permissions,
    };
  },
});
