// Reads a release request in its wire form, checks that the token reaches the channels, and releases.
import type { Acts } from '#acts/act.ts';
import { pushReleases, type ReleaseResult, type ReleaseRequest } from '#acts/releases/releases.ts';
import type { PushReleasesRequest } from '#contract/wire.ts';
import { readProgress } from '#domain/releases/channel-map.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { caller } from '../caller.ts';
import { readChannel, refuseOutOfReach } from './channels.ts';

interface ReleaseOperationCall {
  principal: Principal;
  package: PublishedPackage;
  requestId: string;
  acts: Acts;
}

/** The requested releases; throws if a channel is invalid or the token does not reach it. */
export function readRequestedReleases(principal: Principal, request: PushReleasesRequest): ReleaseRequest[] {
  const releases = request.map(({ channel, revision, progressive, resources }) => ({
    channel: readChannel(channel),
    revision,
    progressive: readProgress(progressive),
    resources: resources ?? [],
  }));
  for (const { channel } of releases) refuseOutOfReach(principal, channel);
  return releases;
}

/** Performs all releases or none. */
export function performRequestedReleases(
  call: ReleaseOperationCall,
  request: PushReleasesRequest,
): Promise<ReleaseResult[]> {
  const { package: subject, principal, acts } = call;
  return acts.do(pushReleases, caller(call), { package: subject, releases: readRequestedReleases(principal, request) });
}
