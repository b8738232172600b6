import { updateOwnAccount as act } from '#acts/accounts/details.ts';
import { account } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { presentAccount } from '../present.ts';

export const updateOwnAccount = operation({
  name: 'update_own_account',
  method: 'PATCH',
  path: '/internal/v1/account',
  since: 0,
  summary: 'Change your own display name. A store administrator can change the other details of an account.',
  access: account('store', 'account-manage-metadata'),
  body: 'UpdateOwnAccountRequest',
  response: 'Account',

  async handle(call) {
    const { principal, body, acts } = call;
    const input = { id: principal.accountId, displayName: body['display-name'].trim() };
    return presentAccount(await acts.do(act, caller(call), input));
  },
});
