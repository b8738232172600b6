import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { pageOf, pageSize, placeOf } from '../page.ts';
import { presentStoreAccount } from '../store/present.ts';

export const listAccounts = operation({
  name: 'list_accounts',
  method: 'GET',
  path: '/internal/v1/accounts',
  since: 0,
  summary: 'List the accounts by user name, page by page, with their roles and the number of their packages.',
  access: storeAdministrator('store-view'),
  query: 'PageQuery',
  response: 'ListAccountsResponse',

  async handle({ query, records }) {
    const size = pageSize(query);
    const [username] = placeOf(query, [''] as const);
    const rows = await records.inventory.accounts(username, size + 1);
    const { entries, next } = pageOf(rows, size, (account) => [account.username]);
    return { accounts: entries.map(presentStoreAccount), 'next-cursor': next };
  },
});
