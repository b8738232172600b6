// The plan of a release: stated with the release, or the plan of its track.
import type { Channel } from '#domain/releases/channel.ts';
import { isProgressive, type ReleaseReach } from '#domain/releases/channel-map.ts';
import { planOfPercentage, planText, type RolloutPlan } from '#domain/releases/rollout.ts';
import { releaseText } from '#domain/releases/release-text.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import { isSameSlot } from './release-lines.ts';

interface RolloutRequest {
  channel: Channel;
  progressive: ReleaseReach;
  rollout?: RolloutPlan | null | undefined;
}

interface ReleaseRollout {
  plan: RolloutPlan;
  /** Whether it is the plan of the track. Such a plan applies only to slots that give another revision to all devices. */
  isOfTrack: boolean;
}

/** The plan of a release; undefined if it has none. Refuses a stated plan that the release cannot have. */
export async function findRolloutPlan(
  tx: Pick<StoreRecords, 'accounts' | 'tracks'>,
  subject: PublishedPackage,
  { channel, progressive, rollout }: RolloutRequest,
): Promise<ReleaseRollout | undefined> {
  if (rollout === null || (rollout === undefined && isProgressive(progressive))) return undefined;
  if (rollout === undefined) {
    if (subject.namespace !== 'snap' || channel.branch !== null) return undefined;
    const track = await tx.tracks.find(subject.id, channel.track);
    const plan = track?.rollout ?? planOfPercentage(track?.automaticPhasingPercentage ?? null);
    return plan && { plan, isOfTrack: true };
  }
  refuseOtherThanSnap(subject);
  if (isProgressive(progressive)) {
    throw new Refusal('api-error', "A release has a percentage or a rollout. Leave out 'progressive' or 'rollout'.");
  }
  await refuseUnknownPeople(tx, rollout);
  return { plan: rollout, isOfTrack: false };
}

/** Refuses a plan for a package without results of devices. */
export function refuseOtherThanSnap({ type, namespace }: Pick<PublishedPackage, 'type' | 'namespace'>): void {
  if (namespace === 'snap') return;
  throw new Refusal(
    'api-error',
    `A ${type} cannot be rolled out in steps, because only devices with snaps report results. Leave out the steps.`,
  );
}

/** Refuses a plan that notifies an account that does not exist or is disabled. */
export async function refuseUnknownPeople(
  { accounts }: Pick<StoreRecords, 'accounts'>,
  { notify }: RolloutPlan,
): Promise<void> {
  for (const username of notify) {
    if ((await accounts.logsInAs(username))?.username === username) continue;
    throw new Refusal('account-not-found', `There is no account '${username}' to notify. Name an enabled account.`);
  }
}

/** The slots with the first step of the plan. A slot in the middle of the same rollout is left out, so that a repeated request changes nothing. */
export function toRolloutSlots(
  slots: readonly Release[],
  rollout: ReleaseRollout | undefined,
  held: readonly Release[],
): Release[] {
  if (rollout === undefined) return [...slots];
  const { plan, isOfTrack } = rollout;
  return slots.flatMap((slot) => {
    const present = held.filter((release) => isSameSlot(release, slot));
    const whole = present.find(({ progressive }) => !isProgressive(progressive));
    if (isOfTrack && (whole === undefined || whole.revision === slot.revision)) return [slot];
    const [percentage = 100] = plan.steps;
    const filled: Release = { ...slot, progressive: { paused: false, percentage }, plan };
    const running = present.find((release) => release.plan !== undefined);
    return running !== undefined && isSameRollout(running, filled) ? [] : [filled];
  });
}

/** Whether two releases differ in nothing but their progress. */
const isSameRollout = (running: Release, filled: Release): boolean =>
  running.plan !== undefined &&
  filled.plan !== undefined &&
  planText(running.plan) === planText(filled.plan) &&
  releaseText({ ...running, progressive: filled.progressive, expiresAt: filled.expiresAt }) === releaseText(filled);
