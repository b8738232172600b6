// larder account show
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { presentQuota } from '#operations/accounts/present-quota.ts';
import { command } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';
import { columns, visible, widthOf } from '../frame/terminal.ts';
import { presentWholeAccount } from '#operations/store/present.ts';
import { describeQuota } from './quota.ts';

export const accountShow = command({
  name: 'account show',
  summary: 'Show one account: who it is, its roles, and how much it has in the store.',
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  examples: ['larder account show xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI'],

  run: ({ positionals: { id }, data, world }) =>
    withStore({ data, world }, async ({ records, config }) => {
      const account = await findAccount(records, id);
      const [roles, disabledAt, quota] = await Promise.all([
        records.accounts.rolesOf(id),
        records.accounts.disabledAt(id),
        presentQuota(records, account, readDefaultQuota(config.quotas)),
      ]);
      const rows: [string, string][] = [
        ['Account', `${account.username} (${id})`],
        ['Name', visible(account.displayName)],
        ['E-mail', visible(account.email)],
        ['Created', account.createdAt],
        ['Disabled', disabledAt ?? 'no'],
        ['Roles', roles.join(', ') || 'none'],
        ['In the store', describeQuota(quota)],
      ];
      const { bytes, packages } = quota;
      return {
        text: columns(rows, widthOf(world.stdout, 120)).trimEnd(),
        json: { ...presentWholeAccount({ ...account, roles, disabledAt }), quota: { bytes, packages } },
      };
    }),
});
