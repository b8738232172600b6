import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import type { AccountHoldings } from '#contract/wire.ts';
import { timestamp } from '#domain/clock.ts';
import type { Holdings } from '#records/accounts/holdings.ts';
import { findAccount } from './present.ts';

export const accountHoldings = operation({
  name: 'account_holdings',
  method: 'GET',
  path: '/internal/v1/accounts/:account_id/holdings',
  since: 0,
  summary:
    'Count the credentials of an account, which are not valid while it is disabled, and its possessions, which stay.',
  access: storeAdministrator('store-view'),
  response: 'AccountHoldings',

  async handle({ params, records, authority }) {
    const { id, username } = await findAccount(params.account_id, records);
    const held = await records.holdings.of(id, timestamp(authority.latestTime()));
    return { id, username, ...presentHoldings(held), roles: await records.accounts.rolesOf(id) };
  },
});

export const presentHoldings = (held: Holdings): Pick<AccountHoldings, 'ends' | 'stays'> => ({
  ends: {
    tokens: held.tokens,
    agents: held.agents,
    'push-credentials': held.pushCredentials,
    'set-up-links': held.setUpLinks,
  },
  stays: {
    packages: held.packages,
    collaborations: held.collaborations,
    invites: held.invites,
    brands: held.brands,
  },
});
