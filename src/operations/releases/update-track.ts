import { updateTrack as act } from '#acts/releases/tracks.ts';
import { beyondChannels } from '#access/beyond-channels.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { presentTrack } from '../packages/present.ts';
import { readPlan } from './rollouts/rollout-plan.ts';

export const updateTrack = operation({
  name: 'update_track',
  method: 'PATCH',
  path: '/internal/v1/packages/:namespace/:name/tracks/:track',
  since: 0,
  summary: 'Change the version pattern and the phasing of a track.',
  access: beyondChannels('package-manage-releases'),
  body: 'UpdateTrackRequest',
  response: 'Track',

  async handle(call) {
    const { package: subject, params, body, acts } = call;
    const { 'version-pattern': versionPattern, 'automatic-phasing-percentage': automaticPhasingPercentage } = body;
    const rollout = readPlan(body.rollout);
    const changes = {
      ...(versionPattern !== undefined && { versionPattern }),
      // A percentage without a plan replaces the plan, and a plan the percentage.
      ...(automaticPhasingPercentage !== undefined && { automaticPhasingPercentage, rollout: undefined }),
      ...(rollout !== undefined && { automaticPhasingPercentage: null, rollout: rollout ?? undefined }),
    };
    return presentTrack(await acts.do(act, caller(call), { package: subject, track: params.track, changes }));
  },
});
