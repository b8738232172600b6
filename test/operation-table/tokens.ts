// Rows of the operations about tokens.
import type { OperationRows } from './row.ts';
import { each, makeAccount, must, request } from './writes.ts';

export const tokensRows: OperationRows = {
  get_macaroon: { about: 'token', callers: 'any account', reads: () => [{ as: 'bob', path: '/v1/tokens' }] },
  issue_macaroon: { about: 'public', callers: 'anyone' },
  exchange_macaroons: { about: 'token', callers: 'anyone' },
  offline_exchange_macaroon: { about: 'public', callers: 'anyone' },
  revoke_macaroon: { about: 'token', callers: 'any account' },
  macaroon_info: { about: 'token', callers: 'any account', reads: () => [{ as: 'bob', path: '/v1/tokens/whoami' }] },
  issue_usso_macaroon: { about: 'public', callers: 'anyone', writes: 'writes nothing' },
  exchange_usso_macaroons: {
    about: 'token',
    callers: 'anyone',
    writes: 'not tried: each login is a session of its own',
  },
  exchange_dashboard_macaroons: {
    about: 'token',
    callers: 'anyone',
    writes: 'not tried: each login is a session of its own',
  },
  end_tokens: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: each(async (world, n) => {
      const id = world.store.ids[await makeAccount(world, n, 'ended')]!;
      return request(world.root, 'POST', `/internal/v1/accounts/${id}/end-tokens`, {});
    }),
  },
  list_tokens: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: ({ ids }) => [
      { as: 'root', path: '/internal/v1/tokens' },
      { variant: 'of one', as: 'root', path: `/internal/v1/tokens?account=${ids.bob}` },
      { variant: 'ending', as: 'root', path: '/internal/v1/tokens?ending-before=2101-01-01T00:00:00Z' },
    ],
  },
  revoke_token: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: each(async ({ store, root }, n) => {
      const { token } = await store.as('bob', { ttl: 10_000 + n });
      const text = Buffer.from(token, 'base64url').toString('latin1');
      const { tokens } = must(await root.get('/internal/v1/tokens?limit=500'));
      const session = tokens
        .map((macaroon: { 'session-id': string }) => macaroon['session-id'])
        .find((id: string) => text.includes(id));
      return request(root, 'POST', '/internal/v1/tokens/revoke', { 'session-id': session });
    }),
  },
  dashboard_whoami: {
    about: 'token',
    callers: 'any account',
    reads: () => [{ as: 'ada', path: '/api/v2/tokens/whoami' }],
  },
};
