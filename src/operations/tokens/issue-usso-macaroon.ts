import { anyone } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { loginRequest } from './attenuation.ts';

export const issueUssoMacaroon = operation({
  name: 'issue_usso_macaroon',
  method: 'POST',
  path: '/v1/tokens/usso',
  since: 0,
  summary: 'Issue a macaroon to log in with, in the Ubuntu One style.',
  access: anyone,
  body: 'IssueMacaroonRequest',
  response: 'UndischargedMacaroonResponse',

  handle: async ({ body, authority }) => ({
    macaroon: await authority.startLogin(loginRequest(body, authority), 'sso'),
  }),
});
