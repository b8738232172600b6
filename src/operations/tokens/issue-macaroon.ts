import { anyone } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { loginRequest } from './attenuation.ts';

export const issueMacaroon = operation({
  name: 'issue_macaroon',
  method: 'POST',
  path: '/v1/tokens',
  since: 1,
  summary: 'Issue a macaroon to log in with, for a token with the requested restrictions.',
  access: anyone,
  body: 'IssueMacaroonRequest',
  response: 'UndischargedMacaroonResponse',

  handle: async ({ body, authority }) => ({
    macaroon: await authority.startLogin(loginRequest(body, authority), 'bakery'),
  }),
});
