// Reads a release request in its wire form, checks that the token reaches the channels, and releases.
import type { Acts } from '#acts/act.ts';
import { pushReleases, type ReleaseResult, type ReleaseRequest } from '#acts/releases/releases.ts';
import type { PushReleasesRequest } from '#contract/wire.ts';
import { readProgress } from '#domain/releases/channel-map.ts';
import type { RolloutPlan } from '#domain/releases/rollout.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { caller } from '../caller.ts';
import { readPlan } from './rollouts/rollout-plan.ts';
import { readChannel, refuseOutOfReach } from './channels.ts';

interface ReleaseOperationCall {
  principal: Principal;
  package: PublishedPackage;
  requestId: string;
  acts: Acts;
}

/** The requested releases; throws if a channel is invalid or the token does not reach it. */
export function readRequestedReleases(principal: Principal, request: PushReleasesRequest): ReleaseRequest[] {
  const releases = request.map(({ channel, revision, progressive, rollout, resources }) => ({
    channel: readChannel(channel),
    revision,
    progressive: readProgress(progressive),
    rollout: readStatedRollout(progressive, readPlan(rollout)),
    resources: resources ?? [],
  }));
  for (const { channel } of releases) refuseOutOfReach(principal, channel);
  return releases;
}

/** The plan of a release; a stated percentage, even of 100 %, rules out the plan of the track. */
export const readStatedRollout = (
  progressive: { percentage?: number | null } | undefined,
  rollout: RolloutPlan | null | undefined,
): RolloutPlan | null | undefined => rollout ?? (typeof progressive?.percentage === 'number' ? null : rollout);

/** Performs all releases or none. */
export function performRequestedReleases(
  call: ReleaseOperationCall,
  request: PushReleasesRequest,
): Promise<ReleaseResult[]> {
  const { package: subject, principal, acts } = call;
  return acts.do(pushReleases, caller(call), { package: subject, releases: readRequestedReleases(principal, request) });
}
