// What the channels of a snap mean for a fleet: another revision, another channel, or nothing at all.
import { changedLines, lineText, type ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { settingText, type FleetSetting } from '#domain/fleets/fleet-view.ts';
import type { Channel } from '#domain/releases/channel.ts';
import { isProgressive, slotsOf } from '#domain/releases/channel-map.ts';
import { riskProblem } from '#domain/releases/risk-problem.ts';
import { Refusal } from '#domain/refusal.ts';
import { parseAssertion } from '#assertions/format/assertion.ts';
import { series } from '#assertions/format/types.ts';
import type { Fleet } from '#records/fleets/fleets.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Revision } from '#records/revisions/revisions.ts';
import { act, type ActContext } from '../act.ts';
import { describeMissingRevision, packageObject, requireCurrentPackage } from '../packages/package.ts';
import { refuseTrack } from '../releases/releases.ts';
import { storedSubject, vulnerabilityLines, type ReleasedSubject } from '../vulnerabilities/vulnerability-lines.ts';
import { refuseContradictions } from './contradictions.ts';
import { settingLines, visibilityLine, withDevices } from './fleet-lines.ts';
import { fleetObject, requireFleet } from './fleets.ts';

/** The meaning of a channel for a fleet. `clear` returns it to that of the store. */
export type FleetChannelMode =
  { mode: 'pin'; revision: number } | { mode: 'follow'; follows: Channel } | { mode: 'hold' } | { mode: 'clear' };

interface FleetChannelChange {
  fleet: string;
  package: PublishedPackage;
  channel: Channel;
  setting: FleetChannelMode;
}

interface FleetChannelPlan {
  before: FleetSetting[];
  after: FleetSetting[];
  lines: ApprovalLine[];
}

export const setFleetChannel = act<FleetChannelChange, FleetSetting[]>({
  name: 'set_fleet_channel',
  summary: 'Set the revision that a channel of a snap gives to the devices of a fleet.',
  on: 'fleet/NAME',
  object: fleetObject,
  gate: {
    kinds: ['releases', 'vulnerabilities'],
    async lines(tx, change, context) {
      const { after, lines } = await planChannel(tx, change, context);
      const subjects = settingSubjects(tx, change.package, after, context.at);
      return [
        ...(await withDevices(tx, await requireFleet(tx, change.fleet), lines)),
        ...(await vulnerabilityLines(tx, subjects, context)),
      ];
    },
  },

  async perform(tx, change, doing) {
    const { fleet, package: subject, channel } = change;
    const { after, lines } = await planChannel(tx, change, doing);
    const changed = changedLines(lines);
    if (changed.length === 0) {
      const state = after[0] === undefined ? 'as in the store' : settingText(after[0]);
      throw new Refusal(
        'conflict',
        `For the fleet '${fleet}', ${packageObject(subject)} ${channel.name} is ${state} already.`,
      );
    }
    await tx.fleets.setChannel({ fleet, packageId: subject.id, channel: channel.name }, after);
    await refuseContradictions(tx, fleet);
    doing.note({ changes: changed.map(lineText) });
    return after;
  },
});

/** The revisions that settings give to the devices of a fleet. */
async function* settingSubjects(
  tx: ChangeRecords,
  subject: PublishedPackage,
  settings: readonly FleetSetting[],
  at: string,
): AsyncGenerator<ReleasedSubject> {
  for (const { channel, revision: fixed, follows } of settings) {
    const followed = follows === null ? [] : await tx.releases.inChannel(subject.id, follows, at);
    for (const number of fixed === null ? followed.map((release) => release.revision) : [fixed]) {
      yield* await storedSubject(tx, subject, { channel, revision: number });
    }
  }
}

async function planChannel(
  tx: ChangeRecords,
  { fleet: name, package: subject, channel, setting }: FleetChannelChange,
  doing: Pick<ActContext, 'at' | 'actor'>,
): Promise<FleetChannelPlan> {
  const fleet = await requireFleet(tx, name);
  const { id: packageId } = await requireSnap(tx, subject);
  const all = (await tx.fleets.settingsIn([name])).filter((other) => other.packageId === packageId);
  const before = all.filter((other) => other.channel === channel.name);
  const common = {
    fleet: name,
    packageId,
    channel: channel.name,
    setAt: doing.at,
    setBy: doing.actor,
    withdrawn: false,
  };
  const plan = (after: FleetSetting[]): FleetChannelPlan => ({
    before,
    after,
    lines: settingLines(subject, { fleet: name, channel: channel.name }, { before, after }).map(({ line }) => line),
  });
  if (setting.mode === 'clear') return plan([]);
  if ((await tx.fleets.hiddenIn([name])).some((hidden) => hidden.packageId === packageId)) {
    throw new Refusal(
      'conflict',
      `The fleet '${name}' hides ${packageObject(subject)}. Show it first: larder fleet unhide ${name} ${packageObject(subject)}`,
    );
  }
  await refuseTrack(tx, subject, channel);
  if (setting.mode === 'follow') {
    await refuseFollow(tx, { subject, fleet, channel, follows: setting.follows, all });
    return plan([
      { ...common, slot: '*', mode: 'follow', revision: null, follows: setting.follows.name, resources: [] },
    ]);
  }
  const leader = all.find(({ follows }) => follows === channel.name);
  if (leader !== undefined) throw contradictsItself(fleet, leader.channel, channel.name);
  const fixed = { ...common, mode: setting.mode, follows: null };
  if (setting.mode === 'hold') {
    const held = await releasesToHold(tx, subject, channel, doing.at);
    return plan(held.map(({ slot, revision, resources }) => ({ ...fixed, slot, revision, resources })));
  }
  const revision = await requirePinnableRevision(tx, {
    subject,
    fleet,
    channel,
    number: setting.revision,
    at: doing.at,
  });
  const resources = (await tx.pastReleases.resourcesOf(packageId, revision.revision)) ?? [];
  const slots = slotsOf('snap', revision.details).map(({ slot }) => slot);
  const remaining = before.filter(
    ({ slot, mode }) => mode !== 'follow' && !slots.includes(slot) && !slots.includes('all'),
  );
  return plan([...remaining, ...slots.map((slot) => ({ ...fixed, slot, revision: revision.revision, resources }))]);
}

async function requireSnap(tx: ChangeRecords, subject: PublishedPackage): Promise<PublishedPackage> {
  const snap = await requireCurrentPackage(tx, subject);
  if (snap.namespace !== 'snap')
    throw new Refusal('api-error', `Fleets are about snaps, and '${packageObject(snap)}' is not a snap.`);
  if (snap.status !== 'published')
    throw new Refusal('api-error', `'${snap.name}' is not released to any channel yet. Release it first.`);
  return snap;
}

interface FollowRequest {
  subject: PublishedPackage;
  fleet: Fleet;
  channel: Channel;
  follows: Channel;
  /** The settings of the fleet for the snap. */
  all: readonly FleetSetting[];
}

async function refuseFollow(
  tx: ChangeRecords,
  { subject, fleet, channel, follows, all }: FollowRequest,
): Promise<void> {
  await refuseTrack(tx, subject, follows);
  const problem = followProblem(channel, follows);
  if (problem !== undefined) throw new Refusal('api-error', problem);
  const set = all.find((setting) => setting.channel === follows.name || setting.follows === channel.name);
  if (set !== undefined) throw contradictsItself(fleet, channel.name, follows.name);
}

/** Why a channel cannot follow another one, as sentences; undefined if it can. */
export function followProblem(channel: Channel, follows: Channel): string | undefined {
  if (follows.name === channel.name)
    return `${channel.name} cannot follow itself. Name another channel after the equals sign.`;
  const finished = ({ risk }: Channel): boolean => risk === 'stable' || risk === 'candidate';
  if (!finished(channel) || finished(follows)) return undefined;
  return (
    `${channel.name} cannot follow ${follows.name}, which may hold revisions of grade devel or confinement devmode. ` +
    'Pin a revision instead.'
  );
}

const contradictsItself = ({ name }: Fleet, channel: string, followed: string): Refusal =>
  new Refusal(
    'conflict',
    `In the fleet '${name}', ${channel} would follow ${followed}, and ${followed} would not be as in the store. ` +
      `Clear one of the two with 'larder fleet clear'.`,
  );

async function releasesToHold(tx: ChangeRecords, { id, name }: PublishedPackage, channel: Channel, at: string) {
  const held = await tx.releases.inChannel(id, channel.name, at);
  if (held.length === 0) {
    throw new Refusal(
      'api-error',
      `${channel.name} of '${name}' is empty, so there is nothing to hold. Pin a revision.`,
    );
  }
  if (held.some(({ progressive }) => isProgressive(progressive))) {
    throw new Refusal(
      'conflict',
      `${channel.name} of '${name}' has a progressive release. Complete or end it first, or pin a revision.`,
    );
  }
  return held;
}

interface PinRequest {
  subject: PublishedPackage;
  fleet: Fleet;
  channel: Channel;
  number: number;
  at: string;
}

/** Returns the revision if it can be pinned. Only revisions that were released once can: a pin publishes nothing. */
async function requirePinnableRevision(
  tx: ChangeRecords,
  { subject, fleet, channel, number, at }: PinRequest,
): Promise<Revision> {
  const { id, name } = subject;
  const revision = await tx.revisions.find(id, number);
  if (revision === undefined) throw new Refusal('api-error', await describeMissingRevision(tx, subject, number));
  const called = `Revision ${String(number)} of '${name}'`;
  if (revision.withdrawnAt !== null) {
    throw new Refusal(
      'api-error',
      `${called} is withdrawn and cannot be pinned before it is restored: ${revision.withdrawnBecause ?? ''}`,
    );
  }
  const problem = riskProblem(revision.details, channel.risk);
  if (problem !== undefined)
    throw new Refusal('api-error', `${called} cannot be pinned in '${channel.name}': ${problem}.`);
  if (revision.status !== 'released') {
    throw new Refusal(
      'api-error',
      `${called} was never released. Release it first, for example to a branch: ` +
        `larder release ${packageObject(subject)} ${String(number)} ${channel.track}/${channel.risk}/${fleet.name}`,
    );
  }
  const { architectures = ['all'] } = revision.details;
  const ofDevices = await architecturesOf(tx, {
    packageId: id,
    models: await tx.fleets.modelsOf(fleet.name),
    channel,
    at,
  });
  if (!architectures.includes('all') && ofDevices.length > 0 && !ofDevices.some((its) => architectures.includes(its))) {
    throw new Refusal(
      'api-error',
      `${called} is for ${architectures.join(', ')}, and the devices of the fleet '${fleet.name}' have ${ofDevices.join(', ')}. ` +
        'Pin a revision for their architecture.',
    );
  }
  return revision;
}

interface DeviceModels {
  /** A snap. */
  packageId: string;
  channel: Pick<Channel, 'name'>;
  /** `BRAND/MODEL` of the devices, as far as the rule of the fleet names models. */
  models: readonly string[];
  at: string;
}

/** The architectures of devices, from their models, or else from the releases in the channel. Empty if unknown. */
export async function architecturesOf(
  {
    assertions,
    releases,
  }: Pick<StoreRecords, 'assertions' | 'releases'> | Pick<ChangeRecords, 'assertions' | 'releases'>,
  { packageId, channel, models, at }: DeviceModels,
): Promise<string[]> {
  const stored = await assertions.listOf(models.map((model) => `model/${series}/${model}`));
  const stated = stored.map(({ text }) => parseAssertion(text).headers['architecture']);
  if (models.length > 0 && stored.length === models.length)
    return [...new Set(stated.filter((architecture) => typeof architecture === 'string'))];
  const held = await releases.inChannel(packageId, channel.name, at);
  const slots = held.map(({ architecture }) => architecture ?? 'all');
  return slots.includes('all') ? [] : [...new Set(slots)];
}

interface FleetVisibilityChange {
  fleet: string;
  package: PublishedPackage;
  hidden: boolean;
}

export const setFleetVisibility = act<FleetVisibilityChange, void>({
  name: 'set_fleet_visibility',
  summary: 'Hide a snap from the devices of a fleet, or show it again.',
  on: 'fleet/NAME',
  object: fleetObject,
  gate: {
    kinds: ['releases'],
    lines: async (tx, change) =>
      withDevices(tx, await requireFleet(tx, change.fleet), [(await planVisibility(tx, change)).line]),
  },

  async perform(tx, change, { at, actor, note }) {
    const { fleet, package: subject, hidden } = change;
    const { line, isSet } = await planVisibility(tx, change);
    const called = `${packageObject(subject)} ${hidden ? 'from' : 'to'} the fleet '${fleet}'`;
    if (line.from === line.to)
      throw new Refusal('conflict', `${packageObject(subject)} is ${line.to} for the fleet '${fleet}' already.`);
    if (hidden && isSet) {
      throw new Refusal(
        'conflict',
        `Cannot hide ${called}: the fleet sets channels of the snap. Clear them first with 'larder fleet clear'.`,
      );
    }
    if (hidden) await tx.fleets.hide(fleet, subject.id, { at, actor });
    else await tx.fleets.unhide(fleet, subject.id);
    await refuseContradictions(tx, fleet);
    note({ changes: [lineText(line)] });
  },
});

async function planVisibility(tx: ChangeRecords, { fleet: name, package: subject, hidden }: FleetVisibilityChange) {
  await requireFleet(tx, name);
  const { id } = await requireSnap(tx, subject);
  const isHidden = (await tx.fleets.hiddenIn([name])).some(({ packageId }) => packageId === id);
  const isSet = (await tx.fleets.settingsIn([name])).some(({ packageId }) => packageId === id);
  return { line: visibilityLine(subject, name, { from: isHidden, to: hidden }), isSet };
}
