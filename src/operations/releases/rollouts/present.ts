// A rollout with the results of devices, as every door shows it.
import { advanceWatch, countResults, judge } from '#acts/releases/rollout-results.ts';
import { endedByChange } from '#acts/releases/rollouts.ts';
import type { Rollout as WireRollout } from '#contract/wire.ts';
import { timestamp } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Rollout, RolloutCount } from '#records/releases/rollouts.ts';
import { presentPlan } from './rollout-plan.ts';

type PresentedStep = NonNullable<WireRollout['steps']>[number];
type RolloutPackage = Pick<PublishedPackage, 'namespace' | 'name'>;

/** A rollout without the results of devices, for lists. */
export async function summarizeRollout(
  records: Pick<StoreRecords, 'releases'>,
  subject: RolloutPackage,
  stored: Rollout,
  now: Date,
): Promise<WireRollout> {
  return toSummary(subject, await presentState(records, stored, timestamp(now)));
}

/** A rollout with the results of devices, and the reason why it does not rise yet. */
export async function presentRollout(
  records: Pick<StoreRecords, 'releases' | 'rollouts'>,
  subject: RolloutPackage,
  stored: Rollout,
  now: Date,
): Promise<Required<WireRollout>> {
  const at = timestamp(now);
  const rollout = await presentState(records, stored, at);
  const counting = isOpen(rollout) ? at : rollout.changedAt;
  const watch = advanceWatch((await records.rollouts.watch(rollout.number)) ?? unwatched(rollout, at), rollout, at);
  const counts = await countResults(records, rollout, counting, watch.awayMs);
  const waiting = rollout.state === 'running' ? (await judge(records, rollout, watch, at)).because : null;
  const { plan, step: present, state } = rollout;
  return {
    ...toSummary(subject, rollout),
    because: rollout.because ?? waiting,
    steps: plan.steps.slice(0, present + 1).map((percentage, step) => ({
      percentage,
      state: step < present || state === 'done' ? 'done' : 'present',
      ...presentResults(counts.filter((count) => count.step === step)),
    })),
  };
}

const isOpen = ({ state }: Rollout): boolean => state === 'running' || state === 'paused';

const toSummary = ({ namespace, name }: RolloutPackage, rollout: Rollout): WireRollout => ({
  number: rollout.number,
  package: `${namespace}/${name}`,
  channel: rollout.channel,
  revision: rollout.revision,
  state: rollout.state,
  percentage: rollout.plan.steps[rollout.step] ?? 100,
  because: rollout.because,
  plan: presentPlan(rollout.plan),
  'started-at': rollout.startedAt,
  'started-by': rollout.startedBy,
  'changed-at': rollout.changedAt,
  'changed-by': rollout.changedBy,
});

const unwatched = ({ number, stepAt }: Rollout, at: string) => ({
  rollout: number,
  stepAt,
  checkedAt: at,
  servedMs: 0,
  awayMs: 0,
});

/** A rollout as `ended` from the moment that another change takes its place; the job records that later. */
async function presentState(
  { releases }: Pick<StoreRecords, 'releases'>,
  rollout: Rollout,
  at: string,
): Promise<Rollout> {
  if (!isOpen(rollout)) return rollout;
  const held = await releases.inChannel(rollout.packageId, rollout.channel, at);
  const isHeld = held.some((release) => release.rollout === rollout.number);
  return isHeld ? rollout : { ...rollout, state: 'ended', because: endedByChange };
}

/** Adds up the devices that got their offer in one step. */
function presentResults(counts: readonly RolloutCount[]): Omit<PresentedStep, 'percentage' | 'state'> {
  const isSilent = (count: RolloutCount): boolean =>
    count.silence !== 'calls' && (count.state === 'offered' || count.state === 'took');
  const sum = (counted: readonly RolloutCount[]): number => counted.reduce((total, { devices }) => total + devices, 0);
  const inState = (state: RolloutCount['state']): number =>
    sum(counts.filter((count) => count.state === state && !isSilent(count)));
  return {
    offered: sum(counts),
    took: inState('took'),
    failed: inState('failed'),
    held: inState('held'),
    'came-back': inState('back'),
    silent: sum(counts.filter(isSilent)),
  };
}
