// Rollouts: raise the percentage of a release step by step, pause, resume and roll back.
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { everyDevice, isProgressive, type ReleaseReach } from '#domain/releases/channel-map.ts';
import { slotText } from '#domain/releases/release-text.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import type { Rollout, RolloutWatch } from '#records/releases/rollouts.ts';
import { act, DoneAlready, type ActContext } from '../act.ts';
import { packageObject, requireCurrentPackage } from '../packages/package.ts';
import { isSameSlot, slotLine, withoutRollout } from './release-lines.ts';
import { recordRelease } from './releases.ts';
import { judge } from './rollout-results.ts';
import { findNewVulnerabilities, seenVulnerabilities } from './rollout-vulnerabilities.ts';
import { storedSubject, vulnerabilityLines } from '../vulnerabilities/vulnerability-lines.ts';

interface RolloutTarget {
  package: PublishedPackage;
  /** The number of the rollout. */
  number: number;
}

const object = ({ package: subject }: RolloutTarget): string => packageObject(subject);

export const pauseRollout = act<RolloutTarget & { reason?: string | undefined }, Rollout>({
  name: 'pause_rollout',
  summary: 'Pause a rollout: no further device gets its revision.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'no device gets a revision by it' },

  async perform(tx, { package: subject, number, reason }, doing) {
    const { rollout, slots } = await openRollout(tx, subject, number, doing);
    if (rollout.state === 'paused') throw new DoneAlready(rollout);
    const because = reason ?? 'a person paused it';
    for (const slot of slots) await tx.releases.fill({ ...slot, progressive: reachOf(rollout, true) });
    doing.note({ rollout: number, channel: rollout.channel, revision: rollout.revision, because });
    return change(tx, rollout, { state: 'paused', because }, doing);
  },
});

export const resumeRollout = act<RolloutTarget, Rollout>({
  name: 'resume_rollout',
  summary: 'Resume a paused rollout. Results of devices until now no longer count.',
  on: 'NAMESPACE/NAME',
  object,
  gate: {
    kinds: ['releases', 'vulnerabilities'],
    async lines(tx, target, context) {
      const rollout = await tx.rollouts.find(target.number);
      const subjects = rollout === undefined ? [] : await storedSubject(tx, target.package, rollout);
      return [...(await resumeLines(tx, target, context)), ...(await vulnerabilityLines(tx, subjects, context))];
    },
  },

  async perform(tx, { package: subject, number }, doing) {
    const { rollout, slots } = await openRollout(tx, subject, number, doing);
    if (rollout.state === 'running') throw new DoneAlready(rollout);
    for (const slot of slots) await tx.releases.fill({ ...slot, progressive: reachOf(rollout, false) });
    doing.note({
      rollout: number,
      channel: rollout.channel,
      revision: rollout.revision,
      'paused-because': rollout.because,
    });
    const acceptedVulnerabilities = await seenVulnerabilities(tx, subject, rollout, doing.at);
    const resumed = { state: 'running', because: null, stepAt: doing.at, judgedFrom: doing.at } as const;
    return change(tx, rollout, { ...resumed, acceptedVulnerabilities }, doing);
  },
});

/** The lines of the slots that give the revision to further devices again. */
export async function resumeLines(
  tx: Pick<StoreRecords, 'releases' | 'rollouts'>,
  { package: subject, number }: RolloutTarget,
  { at }: { at: string },
): Promise<ApprovalLine[]> {
  const { rollout, slots } = await findSlots(tx, subject, number, at);
  const held = rollout === undefined ? [] : await tx.releases.inChannel(subject.id, rollout.channel, at);
  return slots.map((slot) => {
    const before = held.filter((release) => isSameSlot(release, slot));
    const resumed = before.map((release) =>
      release.rollout === number ? { ...release, progressive: { ...release.progressive, paused: false } } : release,
    );
    return slotLine(subject, slot.channel, slot.slot, { from: slotText(before), to: slotText(resumed) });
  });
}

export const rollBackRollout = act<RolloutTarget, Rollout>({
  name: 'roll_back_rollout',
  summary: 'Roll back a rollout: all devices get the revision again that the channel gives to the others.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'devices get only the revision that the other devices have' },

  async perform(tx, { package: subject, number }, doing) {
    const { rollout, slots } = await openRollout(tx, subject, number, doing);
    for (const { channel, slot } of slots) await tx.releases.endProgress(subject.id, channel, slot);
    doing.note({ rollout: number, channel: rollout.channel, revision: rollout.revision });
    return change(tx, rollout, { state: 'rolled-back', because: 'a person rolled it back' }, doing);
  },
});

/** The step that the job wants to leave, and how long the store has run in it. */
interface RolloutRaise extends RolloutTarget {
  step: number;
  watch: Pick<RolloutWatch, 'servedMs' | 'awayMs'>;
}

export const raiseRollout = act<RolloutRaise, void>({
  name: 'raise_rollout',
  summary: 'Raise the percentage of a rollout to its next step.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'the release was approved with all its steps' },

  async perform(tx, { package: subject, number, step, watch }, doing) {
    const { rollout, slots } = await findSlots(tx, subject, number, doing.at);
    if (rollout?.state !== 'running' || rollout.step !== step || slots.length === 0) throw new DoneAlready(undefined);
    // Judged again in the transaction: results may have arrived since the job looked.
    const { verdict, because } = await judge(tx, rollout, watch, doing.at);
    const percentage = rollout.plan.steps[step + 1];
    if (verdict !== 'raise' || percentage === undefined) throw new DoneAlready(undefined);
    if ((await findNewVulnerabilities(tx, subject, rollout, doing.at)).length > 0) throw new DoneAlready(undefined);
    const next = { ...rollout, step: step + 1 };
    const isLast = percentage === 100;
    const held = await tx.releases.current(subject.id, doing.at);
    for (const slot of slots) {
      const progressive = isLast ? everyDevice : reachOf(next, false);
      const filled = { ...(isLast ? withoutRollout(slot) : slot), progressive, releasedAt: doing.at };
      const whole = held.find((release) => isSameSlot(release, slot) && !isProgressive(release.progressive));
      if (isLast) await tx.releases.endProgress(subject.id, slot.channel, slot.slot);
      await tx.releases.fill(filled);
      await recordRelease(tx, filled, whole?.revision ?? null, doing);
    }
    const { channel, revision } = rollout;
    doing.note({ rollout: number, channel, revision, percentage, because });
    await change(tx, next, { state: isLast ? 'done' : 'running', because: null, stepAt: doing.at }, doing);
  },
});

export const endRollout = act<RolloutTarget, void>({
  name: 'end_rollout',
  summary: 'Record that another change of the channel ended a rollout.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'its channel has changed already' },

  async perform(tx, { package: subject, number }, doing) {
    const { rollout, slots } = await findSlots(tx, subject, number, doing.at);
    if (rollout === undefined || !isOpen(rollout) || slots.length > 0) throw new DoneAlready(undefined);
    doing.note({ rollout: number, channel: rollout.channel, revision: rollout.revision });
    await change(tx, rollout, { state: 'ended', because: endedByChange }, doing);
  },
});

/** Why a rollout ended after another change of its channel. */
export const endedByChange = 'another change of the channel took its place';

const isOpen = ({ state }: Rollout): boolean => state === 'running' || state === 'paused';

/** The reach of a rollout in its present step. */
const reachOf = ({ plan, step }: Rollout, paused: boolean): ReleaseReach => ({
  paused,
  percentage: plan.steps[step] ?? null,
});

type RolloutChange = Partial<Pick<Rollout, 'state' | 'because' | 'stepAt' | 'judgedFrom' | 'acceptedVulnerabilities'>>;

async function change(
  tx: ChangeRecords,
  rollout: Rollout,
  changes: RolloutChange,
  { at, actor }: Pick<ActContext, 'at' | 'actor'>,
): Promise<Rollout> {
  const changed = { ...rollout, ...changes, changedAt: at, changedBy: actor };
  await tx.rollouts.update(changed);
  return changed;
}

/** A rollout of a package, and the slots that still hold its release as it left them. */
async function findSlots(
  { rollouts, releases }: Pick<StoreRecords, 'releases' | 'rollouts'> | Pick<ChangeRecords, 'releases' | 'rollouts'>,
  { id }: PublishedPackage,
  number: number,
  at: string,
): Promise<{ rollout: Rollout | undefined; slots: Release[] }> {
  const rollout = await rollouts.find(number);
  if (rollout?.packageId !== id) return { rollout: undefined, slots: [] };
  const { paused, percentage } = reachOf(rollout, rollout.state === 'paused');
  // An older larder on the same database releases without ending the rollout, so the whole content is compared.
  const slots = (await releases.inChannel(id, rollout.channel, at)).filter(
    (release) =>
      release.rollout === number &&
      release.revision === rollout.revision &&
      release.progressive.percentage === percentage &&
      release.progressive.paused === paused,
  );
  return { rollout, slots };
}

/** A running or paused rollout with its slots; refuses another one. */
async function openRollout(
  tx: ChangeRecords,
  subject: PublishedPackage,
  number: number,
  { at }: Pick<ActContext, 'at'>,
): Promise<{ rollout: Rollout; slots: Release[] }> {
  await requireCurrentPackage(tx, subject);
  const { rollout, slots } = await findSlots(tx, subject, number, at);
  if (rollout === undefined) {
    throw new Refusal(
      'resource-not-found',
      `${packageObject(subject)} has no rollout ${String(number)}. List its rollouts with 'larder rollout list ${packageObject(subject)}'.`,
    );
  }
  if (isOpen(rollout) && slots.length > 0) return { rollout, slots };
  throw new Refusal(
    'conflict',
    `The rollout ${String(number)} has ended. Release a revision to ${rollout.channel} to change the channel.`,
  );
}
