import { visitor } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { includesInactive } from './includes-inactive.ts';
import { presentMacaroon, isVisibleTo } from './present.ts';

export const getMacaroon = operation({
  name: 'get_macaroon',
  method: 'GET',
  path: '/v1/tokens',
  since: 1,
  summary: 'Without a token, issue a macaroon to log in with. With a token, list the tokens of the account.',
  access: visitor('token'),
  query: 'GetMacaroonQuery',
  response: 'GetMacaroonResponse',

  async handle({ principal, query, records, authority }) {
    if (principal === undefined) return { macaroon: await authority.startLogin({}, 'bakery') };
    const includeInactive = includesInactive(query['include-inactive']);
    // Use the latest time that the store has seen: setting the clock back makes no token active again.
    const at = timestamp(authority.latestTime());
    const macaroons = await records.macaroons.list(principal.accountId, at, includeInactive);
    return { macaroons: macaroons.filter(isVisibleTo(principal)).map(presentMacaroon) };
  },
});
