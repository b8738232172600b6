import { parseAssertion } from '#assertions/assertion.ts';
import { account } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { reachesPackage } from '#domain/principal.ts';

export const dashboardAccount = operation({
  name: 'dashboard_account',
  method: 'GET',
  path: '/dev/api/account',
  since: 0,
  summary: 'Say who asks and which snaps he has, as the older publishing tools ask for it.',
  access: account('account-view-packages'),
  errors: 'dashboard',
  response: 'DashboardAccountResponse',

  async handle({ principal, records }) {
    const own = await records.packages.publishedBy(principal.accountId, 'snap');
    const shared = await records.packages.sharedWith(principal.accountId, 'snap');
    const keys = (await records.assertions.keysOf([principal.accountId])).map(({ text }) => parseAssertion(text));
    const snaps = [...own, ...shared].filter((snap) => reachesPackage(principal, snap));
    return {
      account_id: principal.accountId,
      account_keys: keys.map(({ headers }) => ({
        name: typeof headers['name'] === 'string' ? headers['name'] : 'default',
        'public-key-sha3-384': headers['public-key-sha3-384'] as string,
      })),
      display_name: principal.displayName,
      email: principal.email,
      username: principal.username,
      snaps: {
        '16': Object.fromEntries(
          snaps.map(({ id, name, createdAt, private: hidden }) => [
            name,
            { private: hidden, since: createdAt, 'snap-id': id, status: 'Approved' as const },
          ]),
        ),
      },
    };
  },
});
