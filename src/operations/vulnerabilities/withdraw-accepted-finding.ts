import { withdrawAcceptedFinding as act } from '#acts/vulnerabilities/accepted-findings.ts';
import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';

export const withdrawAcceptedFinding = operation({
  name: 'withdraw_accepted_finding',
  method: 'DELETE',
  path: '/internal/v1/packages/:namespace/:name/accepted-findings/:vulnerability',
  since: 0,
  summary: 'Withdraw the acceptance of a vulnerability of a package.',
  access: storeAdministratorOnPackage('store-manage'),
  status: 204,

  async handle(call) {
    const { package: subject, params, acts } = call;
    await acts.do(act, caller(call), { package: subject, vulnerability: params.vulnerability });
    return undefined;
  },
});
