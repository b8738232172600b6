import { pauseRollout as act } from '#acts/releases/rollouts.ts';
import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';
import { presentRollout } from './present.ts';
import { findRolloutInReach } from './rollout-of.ts';

export const pauseRollout = operation({
  name: 'pause_rollout',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/rollouts/:number/pause',
  since: 0,
  summary: 'Pause an automatic rollout: no further device gets its revision.',
  access: onPackage('package-manage-releases'),
  body: 'PauseRolloutRequest',
  response: 'Rollout',
  refuses: ['conflict'],

  async handle(call) {
    const { package: subject, records, acts, now } = call;
    const { number } = await findRolloutInReach(call);
    const rollout = await acts.do(act, caller(call), { package: subject, number, reason: call.body.reason });
    return presentRollout(records, subject, rollout, now());
  },
});
