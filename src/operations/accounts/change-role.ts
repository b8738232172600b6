import { changeRole as act } from '#acts/accounts/accounts.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { findAccount } from './present.ts';
import { parseRole } from './parse-role.ts';

export const changeRole = operation({
  name: 'change_role',
  method: 'POST',
  path: '/internal/v1/accounts/:account_id/roles',
  since: 0,
  summary: 'Give a role to an account, or remove it. Returns the resulting roles.',
  access: storeAdministrator('store-manage'),
  body: 'ChangeRoleRequest',
  response: 'AccountRoles',
  refuses: ['conflict'],

  async handle(call) {
    const { params, body, records, acts } = call;
    const { id, username } = await findAccount(params.account_id, records);
    const roles = await acts.do(act, caller(call), { id, role: parseRole(body.role), remove: body.remove ?? false });
    return { id, username, roles };
  },
});
