import { gateErrorCodes } from '#acts/gate.ts';
import { acceptFinding as act } from '#acts/vulnerabilities/accepted-findings.ts';
import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { presentAcceptedFinding } from './present.ts';

export const acceptFinding = operation({
  name: 'accept_finding',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/accepted-findings',
  since: 0,
  summary:
    'Accept a vulnerability of a package until a date, in all of its revisions. The acceptance ends earlier if the vulnerability gets a higher severity or becomes known to be exploited.',
  access: storeAdministratorOnPackage('store-manage'),
  body: 'AcceptFinding',
  response: 'AcceptedFinding',
  refuses: gateErrorCodes,

  async handle(call) {
    const { package: subject, body, acts } = call;
    const { vulnerability, reason } = body;
    const until = new Date(body.until);
    const accepted = await acts.do(act, caller(call), { package: subject, vulnerability, reason, until });
    return presentAcceptedFinding({ ...accepted, namespace: subject.namespace, name: subject.name });
  },
});
