// Rows of the operations about accounts.
import type { OperationRows } from './row.ts';
import { each, makeAccount, must, request } from './writes.ts';

export const accountsRows: OperationRows = {
  update_account: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: each(async (world, n) => {
      const id = world.store.ids[await makeAccount(world, n, 'updated')]!;
      return request(world.root, 'PATCH', `/internal/v1/accounts/${id}`, { 'display-name': `Carol ${n}` });
    }),
  },
  update_own_account: {
    about: 'store',
    callers: 'any account',
    needs: ['account-manage-metadata'],
    writes: each(async ({ bob }, n) => request(bob, 'PATCH', '/internal/v1/account', { 'display-name': `Bob ${n}` })),
  },
  account_holdings: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: ({ ids }) => [{ as: 'root', path: `/internal/v1/accounts/${ids.bob}/holdings` }],
  },
  read_quota: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: ({ ids }) => [{ as: 'root', path: `/internal/v1/accounts/${ids.bob}/quota` }],
  },
  set_quota: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: each(async (world, n) => {
      const id = world.store.ids[await makeAccount(world, n, 'bounded')]!;
      return request(world.root, 'POST', `/internal/v1/accounts/${id}/quota`, { packages: 1000 });
    }),
  },
  disable_account: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: each(async (world, n) => {
      const id = world.store.ids[await makeAccount(world, n, 'disabled')]!;
      return request(world.root, 'POST', `/internal/v1/accounts/${id}/disable`, {});
    }),
  },
  enable_account: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: each(async (world, n) => {
      const id = world.store.ids[await makeAccount(world, n, 'enabled')]!;
      must(await world.root.post(`/internal/v1/accounts/${id}/disable`, {}));
      return request(world.root, 'POST', `/internal/v1/accounts/${id}/enable`);
    }),
  },
  change_role: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: each(async (world, n) => {
      const id = world.store.ids[await makeAccount(world, n, 'auditing')]!;
      return request(world.root, 'POST', `/internal/v1/accounts/${id}/roles`, { role: 'auditor' });
    }),
  },
  list_accounts: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/accounts' }],
  },
};
