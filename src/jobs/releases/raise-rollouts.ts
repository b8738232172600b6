// Job that raises rollouts step by step, and pauses those with too many failures.
import type { Logger } from 'pino';

import { itself, type Acts } from '#acts/act.ts';
import { advanceWatch, judge } from '#acts/releases/rollout-results.ts';
import { findNewVulnerabilities } from '#acts/releases/rollout-vulnerabilities.ts';
import { endRollout, pauseRollout, raiseRollout } from '#acts/releases/rollouts.ts';
import { minutes, seconds, timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { OpenRollout, RolloutWatch } from '#records/releases/rollouts.ts';
import type { BackgroundJob } from '../runner.ts';

interface RolloutJobOptions {
  records: StoreRecords;
  acts: Acts;
  now: Now;
  /** A monotonic clock in milliseconds. */
  elapsed: () => number;
  isClockInDoubt: () => boolean;
  /** Whether the store records the reports of devices. */
  remembersDevices: () => boolean;
  log: Logger;
}

/** A clock that moves against the monotonic clock by more than this has jumped. */
const clockToleranceMs = minutes(1);

/** A watch is written at most this often, because each write waits for the disk. */
const watchIntervalMs = minutes(1);

const maxRollouts = 1000;

/** Returns a function that tells whether the clock has jumped since its last call. */
function createJumpDetector(elapsed: () => number): (moment: number) => boolean {
  let before: { wall: number; elapsed: number } | undefined;
  return (moment) => {
    const present = { wall: moment, elapsed: elapsed() };
    const last = (before ??= present);
    before = present;
    return Math.abs(present.wall - last.wall - (present.elapsed - last.elapsed)) > clockToleranceMs;
  };
}

type RolloutJobState = Pick<RolloutJobOptions, 'isClockInDoubt' | 'remembersDevices'>;

/** Why a running rollout must not continue by itself; undefined if it may. */
function findObstacle(
  state: RolloutJobState,
  watch: RolloutWatch | undefined,
  moment: Date,
  isJump: boolean,
): string | undefined {
  if (watch === undefined) return 'the store was restored from a backup, so results of devices are missing';
  const isBehind = Date.parse(watch.checkedAt) - moment.getTime() > clockToleranceMs;
  if (isJump || isBehind || state.isClockInDoubt()) return 'the clock of the store jumped or is in doubt';
  return state.remembersDevices() ? undefined : 'devices.snap or devices.remember is off, so devices report no results';
}

async function keepWatch(
  records: Pick<StoreRecords, 'ephemeral'>,
  watch: RolloutWatch,
  stored: RolloutWatch | undefined,
): Promise<void> {
  const isDue =
    stored?.stepAt !== watch.stepAt || Date.parse(watch.checkedAt) - Date.parse(stored.checkedAt) >= watchIntervalMs;
  if (isDue) await records.ephemeral(({ rollouts }) => rollouts.keepWatch(watch));
}

export function raiseRollouts({ records, acts, now, elapsed, log, ...state }: RolloutJobOptions): BackgroundJob {
  const hasJumped = createJumpDetector(elapsed);

  async function check(
    rollout: OpenRollout,
    subject: PublishedPackage,
    moment: Date,
    isJump: boolean,
  ): Promise<string> {
    const { number, step } = rollout;
    const target = { package: subject, number };
    if (rollout.slots === 0) {
      await acts.do(endRollout, itself, target);
      return 'ended';
    }
    const at = timestamp(moment);
    const stored = await records.rollouts.watch(number);
    const fresh = { rollout: number, stepAt: rollout.stepAt, checkedAt: at, servedMs: 0, awayMs: 0 };
    const watch = advanceWatch(stored ?? fresh, rollout, at);
    const problem = findObstacle(state, stored, moment, isJump);
    await keepWatch(records, watch, problem === undefined ? stored : undefined);
    if (rollout.state === 'paused') return 'waiting';
    const { verdict, because } =
      problem === undefined
        ? await judge(records, rollout, watch, at)
        : { verdict: 'pause' as const, because: problem };
    if (verdict === 'wait') return 'waiting';
    const added = verdict === 'raise' ? await findVulnerabilities(records, rollout, subject, at) : [];
    if (added === undefined) return 'waiting';
    if (verdict === 'raise' && added.length === 0) {
      await acts.do(raiseRollout, itself, { ...target, step, watch });
      return 'raised';
    }
    const reason =
      added.length === 0
        ? because
        : `vulnerabilities were found since its start, and the approval policy names them: ${added.join('; ')}`;
    await acts.do(pauseRollout, itself, { ...target, reason });
    const { channel, revision, plan } = rollout;
    const about = { rollout: number, package: `${subject.namespace}/${subject.name}`, channel, revision };
    log.warn({ ...about, notify: plan.notify, because: reason }, 'rollout paused');
    return 'paused';
  }

  return {
    name: 'raise-rollouts',
    // It has to pause rollouts while the clock is in doubt.
    inDoubt: 'runs',
    every: seconds(15),

    async run() {
      const moment = now();
      const isJump = hasJumped(moment.getTime());
      const counts: Record<string, number> = {};
      for (const rollout of await records.rollouts.open(maxRollouts)) {
        const subject = await records.packages.byId(rollout.packageId);
        if (subject === undefined) continue;
        const done = await check(rollout, subject, moment, isJump);
        if (done !== 'waiting') counts[done] = (counts[done] ?? 0) + 1;
      }
      return counts;
    },
  };
}

/** New vulnerabilities that the policy names; undefined while a feed is not in force, so that they are not known. */
async function findVulnerabilities(
  records: StoreRecords,
  rollout: OpenRollout,
  subject: PublishedPackage,
  at: string,
): Promise<string[] | undefined> {
  try {
    return await findNewVulnerabilities(records, subject, rollout, at);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return undefined;
  }
}
