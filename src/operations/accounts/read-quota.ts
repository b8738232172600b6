import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { findAccount } from './present.ts';
import { presentQuota } from './present-quota.ts';

export const readQuota = operation({
  name: 'read_quota',
  method: 'GET',
  path: '/internal/v1/accounts/:account_id/quota',
  since: 0,
  summary: 'Get the quota of a publisher and its use, in bytes and packages.',
  access: storeAdministrator('store-view'),
  response: 'AccountQuota',

  handle: async ({ params, records, config }) =>
    presentQuota(records, await findAccount(params.account_id, records), readDefaultQuota(config.quotas)),
});
