import { visitor } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { presentMacaroon } from './present.ts';

export const getMacaroon = operation({
  name: 'get_macaroon',
  method: 'GET',
  path: '/v1/tokens',
  since: 1,
  summary: "Give a macaroon to log in with; to whoever has a token, list the account's.",
  access: visitor,
  query: 'GetMacaroonQuery',
  response: 'GetMacaroonResponse',

  async handle({ principal, query, records, authority }) {
    if (principal === undefined) return { macaroon: await authority.startLogin({}, 'bakery') };
    const asked = query['include-inactive'];
    const includeInactive = asked !== undefined && asked !== 'false';
    // Inactive by the latest time that was seen: a clock set back makes nothing active again.
    const macaroons = await records.macaroons.list(
      principal.accountId,
      timestamp(authority.latestTime()),
      includeInactive,
    );
    return { macaroons: macaroons.map(presentMacaroon) };
  },
});
