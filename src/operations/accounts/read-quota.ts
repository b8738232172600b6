import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { quotaOfEverybody } from '#domain/accounts/quota.ts';
import { findAccount } from './present.ts';
import { presentQuota } from './present-quota.ts';

export const readQuota = operation({
  name: 'read_quota',
  method: 'GET',
  path: '/internal/v1/accounts/:account_id/quota',
  since: 0,
  summary: 'Say how many bytes and packages a publisher has, and how many he may have.',
  access: storeAdministrator('store-view'),
  response: 'AccountQuota',

  handle: async ({ params, records, config }) =>
    presentQuota(records, await findAccount(params.account_id, records), quotaOfEverybody(config.quotas)),
});
