// Checks that a fleet of a transfer is possible in this store. A pin names content that is here or comes, or the fleet is refused.
import type { TransferFleet, TransferFleetSetting } from '#contract/wire.ts';
import { isFleetName, partsOfSelector, selectorProblem } from '#domain/fleets/fleet.ts';
import { fitsGlob } from '#domain/packages/package-glob.ts';
import { slotsOf } from '#domain/releases/channel-map.ts';
import { parseChannel, type Channel } from '#domain/releases/channel.ts';
import { riskProblem } from '#domain/releases/risk-problem.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { RevisionDetails } from '#records/revisions/revisions.ts';
import { architecturesOf, followProblem } from '../../fleets/fleet-channels.ts';
import type { FleetChange } from '../../fleets/fleet-change.ts';
import { parseFindings, subjectOf } from '../findings.ts';
import type { PackagePlan, PlanRecords, TransferPlan, TransferPlanInputs } from '../plan-types.ts';

/** A snap that fleets of a transfer change: as it is here, and as the transfer changes it. */
interface FleetSnap {
  name: string;
  existing?: PublishedPackage | undefined;
  planned?: PackagePlan | undefined;
}

/** By package id. */
export type FleetSnaps = Map<string, FleetSnap>;

export async function findFleetSnaps(
  records: PlanRecords,
  { packages }: Pick<TransferPlan, 'packages'>,
  fleets: readonly TransferFleet[],
): Promise<FleetSnaps> {
  const ids = new Set(
    fleets.flatMap(({ channels, hidden }) => [...channels.map(({ snap }) => snap), ...hidden]).map(({ id }) => id),
  );
  const snaps: FleetSnaps = new Map();
  for (const planned of packages) {
    const { id, namespace, name } = planned.carried;
    if (namespace === 'snap' && ids.has(id)) snaps.set(id, { name, planned });
  }
  for (const id of ids) {
    const existing = await records.packages.byId(id);
    if (existing?.namespace === 'snap') snaps.set(id, { ...snaps.get(id), name: existing.name, existing });
  }
  return snaps;
}

interface FleetChecking {
  records: PlanRecords;
  inputs: TransferPlanInputs;
  snaps: FleetSnaps;
}

interface CheckedFleet {
  /** The fleet of the transfer, and the fleet as it will be here. */
  theirs: TransferFleet;
  merged: TransferFleet;
  change: Pick<FleetChange, 'channels' | 'hidden'>;
}

/** Why a fleet cannot be accepted, as sentences; undefined if it can. */
export async function describeFleetProblem(
  checking: FleetChecking,
  { theirs, merged, change }: CheckedFleet,
): Promise<string | undefined> {
  const wrong =
    describeTextProblem(theirs) ?? describeScopeProblem(checking, theirs) ?? describeSelfContradiction(merged);
  if (wrong !== undefined) return wrong;
  const changed = new Set(change.channels.map(({ packageId, channel }) => `${packageId} ${channel}`));
  for (const snap of merged.hidden.filter(({ id }) => change.hidden.some(({ packageId }) => packageId === id))) {
    const reason = describeSnapProblem(checking, snap);
    if (reason !== undefined) return reason;
  }
  for (const setting of merged.channels.filter(({ snap, channel }) => changed.has(`${snap.id} ${channel}`))) {
    const reason = await describeSettingProblem(checking, merged, setting);
    if (reason !== undefined) return `snap/${setting.snap.name} ${setting.channel}: ${reason}`;
  }
  return undefined;
}

/** Why a text is no fleet, independent of the contents of this store. */
function describeTextProblem({ name, kind, devices, channels, hidden }: TransferFleet): string | undefined {
  if (!isFleetName(name)) return 'This is not the name of a fleet.';
  for (const text of devices) {
    const problem = selectorProblem(kind, text);
    if (problem !== undefined) return problem;
  }
  if (new Set(devices).size < devices.length) return 'It names a device twice.';
  if (new Set(hidden.map(({ id }) => id)).size < hidden.length) return 'It hides a snap twice.';
  for (const settings of Map.groupBy(channels, ({ snap, channel }) => `${snap.id} ${channel}`).values()) {
    const slots = new Set(settings.map(({ slot }) => slot));
    const isTwice = slots.size < settings.length || (slots.has('*') && slots.size > 1);
    const { snap, channel } = settings[0]!;
    if (isTwice) return `It sets snap/${snap.name} ${channel} twice.`;
  }
  return undefined;
}

/** A site that may bring fleets must not change snaps that it may not bring. */
function describeScopeProblem(
  { inputs: { source, statement } }: FleetChecking,
  { channels, hidden }: TransferFleet,
): string | undefined {
  const beyond = [...channels.map(({ snap }) => snap), ...hidden].find(
    ({ name }) => !fitsGlob(source.packages, { namespace: 'snap', name }),
  );
  if (beyond === undefined) return undefined;
  return `It changes snap/${beyond.name}, and '${statement.source}' may bring ${source.packages.join(', ')}.`;
}

function describeSelfContradiction({ channels, hidden }: TransferFleet): string | undefined {
  const set = hidden.find(({ id }) => channels.some(({ snap }) => snap.id === id));
  if (set !== undefined) return `It would hide snap/${set.name} and set its channels.`;
  const follower = channels.find(({ snap, follows }) =>
    channels.some((other) => other.snap.id === snap.id && other.channel === follows),
  );
  if (follower === undefined) return undefined;
  const { snap, channel, follows = '' } = follower;
  return `For snap/${snap.name}, ${channel} would follow ${follows}, and ${follows} would not be as in the store.`;
}

function describeSnapProblem({ snaps }: FleetChecking, { id, name }: TransferFleetSetting['snap']): string | undefined {
  const snap = snaps.get(id);
  if (snap === undefined) return `snap/${name} is neither here nor in the transfer.`;
  if (snap.name !== name) return `The snap that it calls '${name}' is '${snap.name}' here.`;
  const isPublished = snap.existing?.status === 'published' || (snap.planned?.releases.length ?? 0) > 0;
  return isPublished ? undefined : `snap/${name} is not released to any channel here.`;
}

async function describeSettingProblem(
  checking: FleetChecking,
  fleet: TransferFleet,
  setting: TransferFleetSetting,
): Promise<string | undefined> {
  const { snap, slot, mode, follows, revision } = setting;
  const channel = parseChannel(setting.channel);
  if (channel?.name !== setting.channel) return 'This is not a valid channel name.';
  const wrong = describeSnapProblem(checking, snap) ?? (await describeTrackProblem(checking, snap.id, channel));
  if (wrong !== undefined) return wrong;
  if ((mode === 'follow') !== (slot === '*') || (mode === 'follow') !== (follows !== undefined))
    return 'Only a channel that follows another one is for all slots.';
  if ((mode === 'follow') === (revision !== undefined)) return 'It does not say which revision the channel gives.';
  if (revision !== undefined) return describeRevisionProblem(checking, { fleet, setting, channel, revision });
  const followed = parseChannel(follows ?? '');
  if (followed?.name !== follows || followed === undefined) return `'${follows ?? ''}' is not a valid channel name.`;
  return followProblem(channel, followed) ?? (await describeTrackProblem(checking, snap.id, followed));
}

async function describeTrackProblem(
  { records, snaps }: FleetChecking,
  id: string,
  { track }: Channel,
): Promise<string | undefined> {
  if (track === 'latest' || snaps.get(id)?.planned?.tracks.includes(track) === true) return undefined;
  return (await records.tracks.has(id, track)) ? undefined : `There is no track '${track}' here, and none comes.`;
}

interface FixedSetting {
  fleet: TransferFleet;
  setting: TransferFleetSetting;
  channel: Channel;
  revision: number;
}

/** Why a channel cannot give a fixed revision. Locally a pin has the same conditions; here the content is compared too. */
async function describeRevisionProblem(
  checking: FleetChecking,
  { fleet, setting, channel, revision }: FixedSetting,
): Promise<string | undefined> {
  const { records, inputs } = checking;
  const { snap, slot, 'sha3-384': sha3_384, withdrawn } = setting;
  // A slot of a withdrawn revision gives nothing, with or without the revision.
  if (withdrawn === true) return undefined;
  const called = `Revision ${String(revision)}`;
  const remedy = `Ask '${inputs.statement.source}' for a transfer with snap/${snap.name} and this fleet, which brings the revision.`;
  const state = await findRevision(checking, snap.id, revision);
  if (state === undefined) return `${called} is neither here nor in the transfer. ${remedy}`;
  if (state.sha3_384 !== sha3_384) return `${called} has other content here than at its source.`;
  if (state.isWithdrawn) return `${called} is withdrawn here.`;
  const unfinished = riskProblem(state.details, channel.risk);
  if (unfinished !== undefined) return `${called} cannot be given there: ${unfinished}.`;
  if (!state.isReleased) return `${called} was never released here. ${remedy}`;
  if (!slotsOf('snap', state.details).some((own) => own.slot === slot)) return `${called} is not for ${slot}.`;
  const ofDevices = await architecturesOf(records, {
    packageId: snap.id,
    models: [...new Set(fleet.devices.map((text) => partsOfSelector(fleet.kind, text).model))]
      .filter(Boolean)
      .slice(0, 1000),
    channel,
    at: inputs.at,
  });
  const { architectures = ['all'] } = state.details;
  if (!architectures.includes('all') && ofDevices.length > 0 && !ofDevices.some((its) => architectures.includes(its)))
    return `${called} is for ${architectures.join(', ')}, and the devices of the fleet have ${ofDevices.join(', ')}.`;
  return describeResourceProblem(checking, setting);
}

interface RevisionState {
  sha3_384: string;
  details: RevisionDetails;
  isReleased: boolean;
  isWithdrawn: boolean;
}

/** A revision as it is here after the transfer; undefined if it is neither here nor in the transfer. */
async function findRevision(
  { records, inputs, snaps }: FleetChecking,
  id: string,
  number: number,
): Promise<RevisionState | undefined> {
  const planned = snaps.get(id)?.planned;
  const isWithdrawn = planned?.withdrawals.some(({ revision }) => revision === number) === true;
  // The source carries the revisions of its channels and of its fleets. The latter are released with the fleet.
  const comes = planned?.carried.revisions.some(({ revision }) => revision === number) === true;
  const stored = await records.revisions.find(id, number);
  if (stored !== undefined) {
    const { sha3_384, details, status, withdrawnAt } = stored;
    return {
      sha3_384,
      details,
      isReleased: comes || status === 'released',
      isWithdrawn: isWithdrawn || withdrawnAt !== null,
    };
  }
  const sent = planned?.revisions.find(({ sentRevision }) => sentRevision.revision === number)?.sentRevision;
  const details = sent && parseFindings('revision', await inputs.finding(subjectOf(id, number)))?.details;
  return details && { sha3_384: sent.content['sha3-384'], details, isReleased: comes, isWithdrawn };
}

/** Why the components of a setting cannot be given with it. */
async function describeResourceProblem(
  { records, snaps }: FleetChecking,
  { snap, resources = [] }: TransferFleetSetting,
): Promise<string | undefined> {
  if (new Set(resources.map(({ name }) => name)).size < resources.length) return 'It names a component twice.';
  for (const { name, type, revision, 'sha3-384': sha3_384 } of resources) {
    if (revision === null) continue;
    const comes = snaps
      .get(snap.id)
      ?.planned?.resources.find(
        ({ resource, sentRevision }) => resource.name === name && sentRevision.revision === revision,
      );
    const stored = await records.resourceRevisions.find(snap.id, name, revision);
    const called = `The revision ${String(revision)} of its component ${name}`;
    if (comes === undefined && stored === undefined) return `${called} is neither here nor in the transfer.`;
    const content = comes?.sentRevision.content?.['sha3-384'] ?? stored?.sha3_384;
    if (content !== sha3_384 || (comes?.resource.type ?? stored?.type) !== type)
      return `${called} has other content here than at its source.`;
  }
  return undefined;
}
