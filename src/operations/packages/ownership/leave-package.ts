import { leavePackage as act } from '#acts/packages/ownership.ts';
import { invited, packageNotFound } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';

export const leavePackage = operation({
  name: 'leave_package',
  method: 'DELETE',
  path: '/internal/v1/packages/:namespace/:name/collaboration',
  since: 0,
  summary: 'Stop collaborating on a package.',
  access: invited,
  status: 204,

  async handle(call) {
    const { package: subject, params, principal, acts, records } = call;
    if (subject === undefined || !(await records.collaborators.has(subject.id, principal.accountId))) {
      throw packageNotFound(params);
    }
    await acts.do(act, caller(call), { package: subject, accountId: principal.accountId });
    return undefined;
  },
});
