// larder account list
import { presentWholeAccount } from '#operations/store/present.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';

export const accountList = command({
  name: 'account list',
  summary: 'List the accounts with their roles.',
  examples: ['larder account list', 'larder account list --json'],

  run: (call) =>
    withStore(call, async ({ records }) => {
      const accounts = await records.accounts.list();
      const rows = accounts.map(({ id, username, email, displayName, roles, disabledAt, isForeign }) => [
        id,
        username,
        email,
        displayName,
        [...roles, ...(isForeign === 1 ? ['(of another store)'] : disabledAt === null ? [] : ['(disabled)'])].join(
          ', ',
        ),
      ]);
      return {
        text: table(['ID', 'USER NAME', 'E-MAIL', 'DISPLAY NAME', 'ROLES'], rows),
        json: { accounts: accounts.map(presentWholeAccount) },
      };
    }),
});
