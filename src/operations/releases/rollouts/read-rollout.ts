import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { presentRollout } from './present.ts';
import { findRollout } from './rollout-of.ts';

export const readRollout = operation({
  name: 'read_rollout',
  method: 'GET',
  path: '/internal/v1/packages/:namespace/:name/rollouts/:number',
  since: 0,
  summary: 'Show an automatic rollout: its plan, its steps with the results of devices, and why it does not rise.',
  access: onPackage('package-view-releases'),
  response: 'Rollout',

  async handle(call) {
    return presentRollout(call.records, call.package, await findRollout(call), call.now());
  },
});
