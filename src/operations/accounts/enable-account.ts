import { storeAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { by } from '../by.ts';
import { accountNamed, presentState } from './present.ts';

export const enableAccount = operation({
  name: 'enable_account',
  method: 'POST',
  path: '/internal/v1/accounts/:account_id/enable',
  since: 0,
  summary: 'Let a disabled account in again, with the tokens that have not ended.',
  access: storeAdministrator('store-manage'),
  response: 'AccountState',

  async handle(call) {
    const { params, records, now } = call;
    const account = await accountNamed(params.account_id, records);
    const entry = { ...by(call, 'enable_account'), at: timestamp(now()), object: `account/${account.id}` };
    await records.change(entry, (tx) => tx.accounts.enable(account.id));
    return presentState(account, null, undefined);
  },
});
