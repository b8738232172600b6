import { setQuota as act } from '#acts/accounts/quotas.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { caller } from '../caller.ts';
import { findAccount } from './present.ts';
import { toStoredLimit, presentQuota } from './present-quota.ts';

export const setQuota = operation({
  name: 'set_quota',
  method: 'POST',
  path: '/internal/v1/accounts/:account_id/quota',
  since: 0,
  summary: 'Set the quota of a publisher in bytes and packages. Existing content stays.',
  access: storeAdministrator('store-manage'),
  body: 'SetQuotaRequest',
  response: 'AccountQuota',

  async handle(call) {
    const { params, body, records, config, acts } = call;
    const account = await findAccount(params.account_id, records);
    const { bytes, packages } = body;
    const quota = {
      ...(bytes !== undefined && { bytes: toStoredLimit(bytes) }),
      ...(packages !== undefined && { packages: toStoredLimit(packages) }),
    };
    await acts.do(act, caller(call), { id: account.id, quota });
    return presentQuota(records, account, readDefaultQuota(config.quotas));
  },
});
