import { gateErrorCodes } from '#acts/gate.ts';
import { resumeRollout as act } from '#acts/releases/rollouts.ts';
import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';
import { presentRollout } from './present.ts';
import { findRolloutInReach } from './rollout-of.ts';

export const resumeRollout = operation({
  name: 'resume_rollout',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/rollouts/:number/resume',
  since: 0,
  summary: 'Resume a paused rollout. Results of devices until now no longer count.',
  access: onPackage('package-manage-releases'),
  response: 'Rollout',
  refuses: ['conflict', ...gateErrorCodes],

  async handle(call) {
    const { package: subject, records, acts, now } = call;
    const { number } = await findRolloutInReach(call);
    const rollout = await acts.do(act, caller(call), { package: subject, number });
    return presentRollout(records, subject, rollout, now());
  },
});
