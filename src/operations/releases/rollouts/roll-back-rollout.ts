import { rollBackRollout as act } from '#acts/releases/rollouts.ts';
import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';
import { presentRollout } from './present.ts';
import { findRolloutInReach } from './rollout-of.ts';

export const rollBackRollout = operation({
  name: 'roll_back_rollout',
  method: 'POST',
  path: '/internal/v1/packages/:namespace/:name/rollouts/:number/roll-back',
  since: 0,
  summary: 'Roll back a rollout: all devices get the revision again that the channel gives to the others.',
  access: onPackage('package-manage-releases'),
  response: 'Rollout',
  refuses: ['conflict'],

  async handle(call) {
    const { package: subject, records, acts, now } = call;
    const { number } = await findRolloutInReach(call);
    const rollout = await acts.do(act, caller(call), { package: subject, number });
    return presentRollout(records, subject, rollout, now());
  },
});
