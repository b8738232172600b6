import { account } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { inCommon, shownChannels } from '#domain/tokens/principal.ts';
import { presentPrincipal } from '../present.ts';

export const macaroonInfo = operation({
  name: 'macaroon_info',
  method: 'GET',
  path: '/v1/tokens/whoami',
  since: 11,
  summary: 'Get the account of the token, and its permissions.',
  access: account('token'),
  response: 'WhoamiResponse',

  handle: ({ principal }) => ({
    account: presentPrincipal(principal),
    channels: shownChannels(principal),
    packages: inCommon(principal.packages),
    permissions: principal.permissions,
  }),
});
