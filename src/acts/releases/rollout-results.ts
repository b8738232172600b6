// The results of a rollout, and the verdict about its next step.
import { after, seconds, timestamp } from '#domain/clock.ts';
import { judgeRollout, type RolloutResults, type RolloutVerdict } from '#domain/releases/rollout.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Rollout, RolloutCount, RolloutWatch } from '#records/releases/rollouts.ts';

type RolloutRecords = Pick<StoreRecords, 'rollouts'>;

/** Counts the devices of a rollout by step and result. Time while the store did not run does not make a device silent. */
export function countResults(
  { rollouts }: RolloutRecords,
  rollout: Rollout,
  at: string,
  awayMs: number,
): Promise<RolloutCount[]> {
  const { plan, judgedFrom } = rollout;
  const silence = seconds(plan.silentSeconds);
  const before = (moment: string, milliseconds: number): string => timestamp(after(new Date(moment), -milliseconds));
  return rollouts.results(rollout, before(at, silence + awayMs), before(judgedFrom, silence));
}

/** Adds up the counts that decide about the next step. */
export function sumResults(counts: readonly RolloutCount[], presentStep: number): RolloutResults {
  const sum: RolloutResults = { tried: 0, troubled: 0, open: 0, triedInStep: 0 };
  for (const { step, state, silence, isJudged, devices } of counts) {
    const mayBeSilent = state === 'offered' || state === 'took';
    if (state === 'held' || (mayBeSilent && silence === 'accepted')) continue;
    const isSilent = mayBeSilent && silence === 'silent';
    if (!isSilent && state === 'offered') {
      sum.open += devices;
      continue;
    }
    if (!isSilent && !isJudged) continue;
    sum.tried += devices;
    if (step === presentStep) sum.triedInStep += devices;
    if (isSilent || state !== 'took') sum.troubled += devices;
  }
  return sum;
}

/** The longest time between two checks that counts as time while the store ran. */
const maxServedMs = seconds(600);

/** Continues to count the time that the store runs in the present step. */
export function advanceWatch(watch: RolloutWatch, { stepAt }: Pick<Rollout, 'stepAt'>, at: string): RolloutWatch {
  const passedMs = Math.max(0, Date.parse(at) - Date.parse(watch.checkedAt));
  const servedMs = Math.min(passedMs, maxServedMs);
  const isSameStep = watch.stepAt === stepAt;
  return {
    rollout: watch.rollout,
    stepAt,
    checkedAt: at,
    servedMs: isSameStep
      ? watch.servedMs + servedMs
      : Math.min(servedMs, Math.max(0, Date.parse(at) - Date.parse(stepAt))),
    awayMs: watch.awayMs + passedMs - servedMs,
  };
}

/** Judges a running rollout at a moment. */
export async function judge(
  records: RolloutRecords,
  rollout: Rollout,
  { servedMs, awayMs }: Pick<RolloutWatch, 'servedMs' | 'awayMs'>,
  at: string,
): Promise<RolloutVerdict & { results: RolloutResults }> {
  const results = sumResults(await countResults(records, rollout, at, awayMs), rollout.step);
  return { ...judgeRollout(rollout.plan, results, servedMs / seconds(1)), results };
}
