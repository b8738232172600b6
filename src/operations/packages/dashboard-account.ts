import { parseAssertion } from '#assertions/format/assertion.ts';
import { account } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { grants } from '#domain/tokens/permission.ts';
import { reachesPackage, type Principal } from '#domain/tokens/principal.ts';

export const dashboardAccount = operation({
  name: 'dashboard_account',
  method: 'GET',
  path: '/dev/api/account',
  since: 0,
  summary: 'Get the account of the token and its snaps, for the older publishing tools.',
  access: account('packages'),
  errors: 'dashboard',
  response: 'DashboardAccountResponse',

  async handle({ principal, records }) {
    const { accountId: id } = principal;
    const accountKeys = (await records.assertions.keysOf([id])).map(({ text }) => parseAssertion(text));
    const keys = accountKeys.map(({ headers }) => ({
      name: typeof headers['name'] === 'string' ? headers['name'] : 'default',
      'public-key-sha3-384': headers['public-key-sha3-384'] as string,
    }));
    const snaps = seesSnaps(principal) ? await records.packages.namesOf(id, 'snap') : [];
    return {
      // Some commands read one name, some the other.
      account_id: id,
      id,
      account_keys: keys,
      'account-keys': keys,
      display_name: principal.displayName,
      email: principal.email,
      username: principal.username,
      snaps: {
        '16': Object.fromEntries(
          snaps
            .filter((snap) => reachesPackage(principal, snap))
            .map((snap) => [
              snap.name,
              { private: snap.private === 1, since: snap.createdAt, 'snap-id': snap.id, status: 'Approved' as const },
            ]),
        ),
      },
    };
  },
});

/**
 * A login that only registers a key has no further permission, but needs the account's id from here: it gets no snaps. To release
 * or close, the tools look up the snap's id here.
 */
const seesSnaps = ({ permissions }: Principal): boolean =>
  grants(permissions, 'account-view-packages') ||
  permissions?.some((permission) => permission.startsWith('package-')) === true;
