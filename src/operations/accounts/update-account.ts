import { updateAccount as act } from '#acts/accounts/details.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { emailAddress } from '#domain/accounts/account.ts';
import { caller } from '../caller.ts';
import { presentAccount } from '../present.ts';
import { findAccount } from './present.ts';

export const updateAccount = operation({
  name: 'update_account',
  method: 'PATCH',
  path: '/internal/v1/accounts/:account_id',
  since: 0,
  summary: 'Change the user name, the display name, the e-mail address or the validation of an account.',
  access: storeAdministrator('store-manage'),
  body: 'UpdateAccountRequest',
  response: 'Account',
  refuses: ['conflict'],

  async handle(call) {
    const { params, body, records, acts } = call;
    const { id } = await findAccount(params.account_id, records);
    const { username, 'display-name': displayName, email, validation } = body;
    const details = {
      ...(username !== undefined && { username }),
      ...(displayName !== undefined && { displayName: displayName.trim() }),
      ...(email !== undefined && { email: emailAddress(email) ?? email }),
      ...(validation !== undefined && { validation }),
    };
    return presentAccount(await acts.do(act, caller(call), { id, ...details }));
  },
});
