import { account, outOfReach } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { reachesPackage } from '#domain/principal.ts';
import { by } from '../by.ts';
import { claimName, refuseBadName } from './claim-name.ts';

export const dashboardRegisterName = operation({
  name: 'dashboard_register_name',
  method: 'POST',
  path: '/dev/api/register-name/',
  since: 0,
  summary: 'Register a snap name, as the older publishing tools ask for it.',
  access: account('packages', 'account-register-package'),
  errors: 'dashboard',
  body: 'DashboardRegisterNameRequest',
  response: 'DashboardRegisterNameResponse',
  status: 201,
  refuses: ['already-owned', 'already-registered', 'reserved-name'],

  async handle(call) {
    const { principal, body, records, config, newId, now } = call;
    const { snap_name: name } = body;
    refuseBadName(name, config.names.reserved);
    if (!reachesPackage(principal, { type: 'snap', name })) throw outOfReach({ name });
    const id = newId.id();
    const at = timestamp(now());
    const entry = { ...by(call, 'dashboard_register_name'), at, object: `snap/${name}`, details: { id } };
    const wanted = { id, namespace: 'snap', type: 'snap', name, publisherId: principal.accountId } as const;
    await records.change(entry, (tx) => claimName(tx, { ...wanted, private: body.is_private ?? false, createdAt: at }));
    return { snap_id: id, snap_name: name };
  },
});
