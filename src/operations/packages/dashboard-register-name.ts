import { refuseName, registerName as act } from '#acts/packages/registration.ts';
import { account, packageOutOfScope } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { reachesPackage } from '#domain/tokens/principal.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { caller } from '../caller.ts';

export const dashboardRegisterName = operation({
  name: 'dashboard_register_name',
  method: 'POST',
  path: '/dev/api/register-name/',
  since: 0,
  summary: 'Register a snap name, for the older publishing tools.',
  access: account('packages', 'account-register-package'),
  errors: 'dashboard',
  body: 'DashboardRegisterNameRequest',
  response: 'DashboardRegisterNameResponse',
  status: 201,
  refuses: ['already-owned', 'already-registered', 'conflict', 'reserved-name', 'forbidden'],

  async handle(call) {
    const { principal, body, acts, config, newId } = call;
    const { snap_name: name } = body;
    const { reserved } = config.names;
    // Report an invalid or reserved name before a problem with the token.
    refuseName({ namespace: 'snap', name, reserved });
    if (!reachesPackage(principal, { type: 'snap', name })) throw packageOutOfScope({ name });
    const publisher = { publisherId: principal.accountId, private: body.is_private ?? false };
    const registration = { namespace: 'snap', type: 'snap', name, ...publisher } as const;
    const { id } = await acts.do(act, caller(call), {
      ...registration,
      freshId: newId.id(),
      reserved,
      defaultQuota: readDefaultQuota(config.quotas),
    });
    return { snap_id: id, snap_name: name };
  },
});
