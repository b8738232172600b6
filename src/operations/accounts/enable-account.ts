import { enableAccount as act } from '#acts/accounts/accounts.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { findAccount, presentState } from './present.ts';

export const enableAccount = operation({
  name: 'enable_account',
  method: 'POST',
  path: '/internal/v1/accounts/:account_id/enable',
  since: 0,
  summary: 'Enable a disabled account. Its tokens are valid again unless they were revoked or have expired.',
  access: storeAdministrator('store-manage'),
  response: 'AccountState',

  async handle(call) {
    const { params, records, acts } = call;
    const account = await findAccount(params.account_id, records);
    await acts.do(act, caller(call), { id: account.id });
    return presentState(account, null, undefined);
  },
});
