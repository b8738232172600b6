// Fleets in transfers. Parts that were edited here stay; the others become as at the source.
import type { TransferFleet, TransferFleetSetting } from '#contract/wire.ts';
import { toCanonicalText } from '#domain/canonical-json.ts';
import { selectorText, toSelector } from '#domain/fleets/fleet.ts';
import { settingText, type FleetOfDevice, type FleetSetting } from '#domain/fleets/fleet-view.ts';
import { parseRefreshWindow } from '#domain/fleets/refresh-window.ts';
import { formatCount } from '#domain/quantities.ts';
import { renameChannel } from '#domain/transfers/channel-renaming.ts';
import type { Fleet } from '#records/fleets/fleets.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { ActContext } from '../../act.ts';
import { findContradiction } from '../../fleets/contradictions.ts';
import { applyFleetChange, describeFleetChange, settingItem, type FleetChange } from '../../fleets/fleet-change.ts';
import { readFleetText, toFleetSetting } from '../../fleets/fleet-text.ts';
import { findExclusion, type PlanRecords, type TransferPlan, type TransferPlanInputs } from '../plan-types.ts';
import { describeFleetProblem, findFleetSnaps, type FleetSnaps } from './fleet-problems.ts';

/** A fleet as it will be. */
interface PlannedFleet {
  change: FleetChange;
  /** Its devices before and after, as people write them. */
  before: string[];
  devices: string[];
  /** Whether it changes anything for its devices before. */
  hadEffect: boolean;
  view: FleetOfDevice;
  /** The items of settings that release a revision, which no channel had before. */
  releasing: Set<string>;
  /** Sentences about the parts that stay as they are here. */
  localEdits: string[];
}

type FleetPlan = PlannedFleet | { reasons: string[]; isProblem: boolean };

interface FleetPlanning {
  records: PlanRecords;
  inputs: TransferPlanInputs;
  snaps: FleetSnaps;
}

const leftOut = (...reasons: string[]): FleetPlan => ({ reasons, isProblem: false });
const problem = (reason: string): FleetPlan => ({ reasons: [reason], isProblem: true });

/** Adds the fleets to a plan, after its packages. */
export async function planFleets(records: PlanRecords, inputs: TransferPlanInputs, plan: TransferPlan): Promise<void> {
  const { fleets: sent = [], source } = inputs.statement;
  if (sent.length === 0) return;
  const planning = { records, inputs, snaps: await findFleetSnaps(records, plan, sent) };
  const planned: PlannedFleet[] = [];
  for (const text of sent) {
    const called = `fleet/${text.name}`;
    const result = await planFleet(planning, released(text, inputs));
    const { reasons, isProblem } = 'reasons' in result ? result : { reasons: result.localEdits, isProblem: false };
    for (const reason of reasons)
      (isProblem ? plan.problems : plan.leftOut).push({ package: called, what: called, why: reason });
    if (!('reasons' in result)) planned.push(result);
  }
  const states = planned.map(({ view, devices, change }) => ({
    view,
    selectors: devices.map((text) => toSelector(change.kind, text)),
  }));
  for (const { name, reason } of await findContradictions(records, states))
    plan.problems.push({ package: `fleet/${name}`, what: `fleet/${name}`, why: reason });
  for (const fleet of planned) addLines(plan, planning, fleet);
  for (const { name, source: site } of await records.fleets.listAll()) {
    if (site !== source || sent.some((text) => text.name === name)) continue;
    const reason = `It came from '${source}' earlier and is not in this transfer, so it stays as it is.`;
    plan.leftOut.push({ package: `fleet/${name}`, what: `fleet/${name}`, why: reason });
  }
}

/** Makes the planned changes. */
export async function acceptFleets(
  tx: ChangeRecords,
  { fleets }: Pick<TransferPlan, 'fleets'>,
  doing: Pick<ActContext, 'at' | 'actor'>,
): Promise<void> {
  for (const change of fleets) await applyFleetChange(tx, change, doing);
}

function addLines(plan: TransferPlan, { inputs, snaps }: FleetPlanning, fleet: PlannedFleet): void {
  const { change, before: devices, hadEffect, releasing } = fleet;
  plan.fleets.push(change);
  const packageOf = (id: string) => ({ namespace: 'snap' as const, name: snaps.get(id)?.name ?? id });
  for (const { item, from, to, approval } of describeFleetChange(change, { packageOf, devices, hadEffect })) {
    if (approval !== undefined) plan.releases.add(approval);
    const notes = [
      ...(item === 'rule' ? ['new fleet'] : []),
      ...(releasing.has(item) ? ['releases a revision that was in no channel here'] : []),
    ];
    const word = inputs.isUnsigned ? 'nobody' : 'source';
    plan.lines.add({ package: `fleet/${change.fleet}`, kind: 'fleet', what: item, from, to, word, notes });
  }
}

/** The fleet with the channels that the transfer is released to here. */
const released = (text: TransferFleet, { asChannel }: Pick<TransferPlanInputs, 'asChannel'>): TransferFleet => ({
  ...text,
  channels: text.channels.map(({ channel, follows, ...setting }) => ({
    ...setting,
    channel: renameChannel(channel, asChannel),
    ...(follows !== undefined && { follows: renameChannel(follows, asChannel) }),
  })),
});

async function planFleet(planning: FleetPlanning, theirs: TransferFleet): Promise<FleetPlan> {
  const { records, inputs } = planning;
  const { source, statement, at } = inputs;
  const { name, kind, window } = theirs;
  const subject = { namespace: 'fleet', name };
  const exclusion = findExclusion(inputs, subject);
  if (exclusion !== undefined) return { reasons: [exclusion.reason], isProblem: exclusion.isProblem };
  if (!source.mayRelease) return leftOut('Its source may not change channels, and fleets do.');
  const present = await records.fleets.find(name);
  if (present !== undefined && present.source !== null && present.source !== statement.source)
    return problem(`It came from '${present.source}', so '${statement.source}' cannot change it.`);
  if (present !== undefined && present.kind !== kind)
    return problem(
      `It selects devices by ${present.kind} here, and by ${kind} at its source. Delete it here ('larder fleet delete ${name}') to accept it.`,
    );
  const ours = present === undefined ? undefined : normalized(await readFleetText(records, present));
  for (const { id, name: called } of [...(ours?.channels ?? []).map(({ snap }) => snap), ...(ours?.hidden ?? [])])
    if (!planning.snaps.has(id)) planning.snaps.set(id, { name: called });
  const text = normalized(theirs);
  if (ours !== undefined && present?.source === null) return leftOut(...differences(ours, text));
  const base = (await records.fleets.sourceText(name)) ?? null;
  const { merged, localEdits } = mergeFleets(parsed(base), ours, text);
  const change = await toChange(planning, { present, base, ours, merged, text });
  const parsedWindow = window === undefined ? undefined : parseRefreshWindow(window);
  if (parsedWindow !== undefined && 'problem' in parsedWindow) return problem(parsedWindow.problem);
  const wrong = await describeFleetProblem(planning, { merged, change, theirs });
  if (wrong !== undefined) return problem(wrong);
  const isSame = toCanonicalText(ours ?? null) === toCanonicalText(merged);
  if (isSame && change.origin.to?.text === base)
    return leftOut(...(localEdits.length > 0 ? localEdits : ['It is here already.']));
  const settings = merged.channels.map((setting) => toFleetSetting(name, setting, { at, actor: '' }));
  const hidden = merged.hidden.map(({ id }) => id);
  const view = { name, kind, refreshWindow: merged.window ?? null, settings, hidden };
  const hadEffect = ours !== undefined && (ours.window !== undefined || ours.channels.length + ours.hidden.length > 0);
  const releasing = await findReleasing(planning, merged);
  return { change, before: ours?.devices ?? [], devices: merged.devices, hadEffect, view, releasing, localEdits };
}

/** The items of settings with revisions that were in no channel here, and that the packages of the transfer do not release. */
async function findReleasing({ records, snaps }: FleetPlanning, { channels }: TransferFleet): Promise<Set<string>> {
  const items = new Set<string>();
  for (const { snap, channel, slot, revision, withdrawn } of channels) {
    if (revision === undefined || withdrawn === true) continue;
    const comes = snaps.get(snap.id)?.planned?.releases.some(({ release }) => release.revision === revision) === true;
    const stored = await records.revisions.find(snap.id, revision);
    if (!comes && stored?.status !== 'released') items.add(settingItem(snap.name, channel, slot));
  }
  return items;
}

const parsed = (text: string | null): TransferFleet | undefined =>
  text === null ? undefined : (JSON.parse(text) as TransferFleet);

const keyOf = ({ snap, channel, slot }: TransferFleetSetting): string => `${snap.id} ${channel} ${slot}`;

/** The lists in one order, and the window in one spelling. */
function normalized({ window, ...text }: TransferFleet): TransferFleet {
  const read = window === undefined ? undefined : parseRefreshWindow(window);
  return {
    ...text,
    ...(read !== undefined && !('problem' in read) && { window: read.text }),
    devices: [...text.devices].sort(),
    channels: text.channels.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
    hidden: text.hidden.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

/** The parts of a fleet that are edited as a whole, each with a name for people and its text. */
interface FleetPart {
  title: string;
  text: string;
  settings: TransferFleetSetting[];
}

function partsOf(fleet: TransferFleet | undefined): Map<string, FleetPart> {
  const parts = new Map<string, FleetPart>();
  if (fleet === undefined) return parts;
  const ofChannels = Map.groupBy(fleet.channels, ({ snap, channel }) => `${snap.id} ${channel}`);
  for (const [key, settings] of ofChannels) {
    const { snap, channel } = settings[0]!;
    const texts = settings.map((setting) => {
      const slot = setting.slot === '*' ? '' : ` (${setting.slot})`;
      return `${settingText(toFleetSetting(fleet.name, setting, { at: '', actor: '' }))}${slot}`;
    });
    parts.set(key, { title: `snap/${snap.name} ${channel}`, text: texts.join(', '), settings });
  }
  for (const { id, name } of fleet.hidden) parts.set(id, { title: `snap/${name}`, text: 'hidden', settings: [] });
  if (fleet.window !== undefined) parts.set(windowPart, { title: windowTitle, text: fleet.window, settings: [] });
  return parts;
}

/** The key of the refresh window. No id of a snap has a space. */
const windowPart = ' window';
const windowTitle = 'The refresh window';

/** A part without its title, for comparisons: contents count too. */
const identityOf = (part: FleetPart | undefined): string =>
  part === undefined ? '' : toCanonicalText([part.text, part.settings]);

function describeDifference(title: string, ours: FleetPart | undefined, theirs: FleetPart | undefined): string {
  const unset = title === windowTitle ? 'not set' : 'as in the store';
  return `${title} is ${ours?.text ?? unset} here and ${theirs?.text ?? unset} at its source.`;
}

/** The texts that another list does not have. */
function missingFrom(list: readonly string[], texts: readonly string[]): string[] {
  const listed = new Set(list);
  return texts.filter((text) => !listed.has(text));
}

/** The maximum number of differences that are told of a fleet that was created here. */
const maxDifferences = 20;

/** How a fleet that was created here differs from the fleet of the same name in the transfer. */
function differences(ours: TransferFleet, theirs: TransferFleet): string[] {
  const [localParts, sentParts] = [partsOf(ours), partsOf(theirs)];
  const sentences = [...new Set([...localParts.keys(), ...sentParts.keys()])]
    .filter((key) => identityOf(localParts.get(key)) !== identityOf(sentParts.get(key)))
    .map((key) =>
      describeDifference((localParts.get(key) ?? sentParts.get(key))!.title, localParts.get(key), sentParts.get(key)),
    );
  const onlyHere = missingFrom(theirs.devices, ours.devices).length;
  const onlyThere = missingFrom(ours.devices, theirs.devices).length;
  if (onlyHere + onlyThere > 0)
    sentences.push(
      `It selects ${formatCount(onlyHere, 'device')} only here and ${formatCount(onlyThere, 'device')} only at its source.`,
    );
  const more = sentences.length - maxDifferences;
  return [
    'A fleet of this name was created here, and is not changed.',
    ...sentences.slice(0, maxDifferences),
    ...(more > 0 ? [`There are ${String(more)} more differences.`] : []),
  ];
}

/** Merges a fleet: each part that was edited here, so that it is not as its source brought it last, stays. */
function mergeFleets(
  base: TransferFleet | undefined,
  ours: TransferFleet | undefined,
  theirs: TransferFleet,
): { merged: TransferFleet; localEdits: string[] } {
  const [before, localParts, sentParts] = [partsOf(base), partsOf(ours), partsOf(theirs)];
  const localEdits: string[] = [];
  const isKept = new Set<string>();
  for (const key of new Set([...localParts.keys(), ...sentParts.keys()])) {
    const [was, is, comes] = [before, localParts, sentParts].map((parts) => identityOf(parts.get(key)));
    if (is === was || is === comes) continue;
    isKept.add(key);
    const { title } = (localParts.get(key) ?? sentParts.get(key))!;
    localEdits.push(
      `${describeDifference(title, localParts.get(key), sentParts.get(key))} It was edited here and is not changed.`,
    );
  }
  const [sent, mine] = [base?.devices ?? [], ours?.devices ?? []];
  const notHere = new Set(missingFrom(mine, theirs.devices));
  const removedHere = sent.filter((text) => notHere.has(text));
  const addedHere = missingFrom([...sent, ...theirs.devices], mine);
  if (removedHere.length > 0)
    localEdits.push(`${formatCount(removedHere.length, 'device')} removed here: not added again.`);
  if (addedHere.length > 0) localEdits.push(`${formatCount(addedHere.length, 'device')} added here: not removed.`);
  const [stays, removed] = [(key: string) => isKept.has(key), new Set(removedHere)];
  const mergeLists = <Item>(of: (fleet: TransferFleet) => readonly Item[], key: (item: Item) => string): Item[] => [
    ...of(theirs).filter((item) => !stays(key(item))),
    ...(ours === undefined ? [] : of(ours).filter((item) => stays(key(item)))),
  ];
  const window = stays(windowPart) ? ours?.window : theirs.window;
  const merged = {
    name: theirs.name,
    kind: theirs.kind,
    ...(window !== undefined && { window }),
    devices: [...theirs.devices.filter((text) => !removed.has(text)), ...addedHere],
    channels: mergeLists(
      ({ channels }) => channels,
      ({ snap, channel }) => `${snap.id} ${channel}`,
    ),
    hidden: mergeLists(
      ({ hidden }) => hidden,
      ({ id }) => id,
    ),
  };
  return { merged: normalized(merged), localEdits };
}

interface MergedFleet {
  present: Fleet | undefined;
  /** The text that the source brought last. */
  base: string | null;
  ours: TransferFleet | undefined;
  merged: TransferFleet;
  /** The text of the transfer. */
  text: TransferFleet;
}

async function toChange(
  { records, inputs: { statement, at } }: FleetPlanning,
  { present, base, ours, merged, text }: MergedFleet,
): Promise<FleetChange> {
  const { name, kind } = merged;
  const [localParts, after] = [partsOf(ours), partsOf(merged)];
  const changed = [...new Set([...localParts.keys(), ...after.keys()])].filter(
    (key) => identityOf(localParts.get(key)) !== identityOf(after.get(key)),
  );
  const rows = present === undefined ? [] : await records.fleets.settingsIn([name]);
  const channels = changed.flatMap((key) => {
    const first = (after.get(key) ?? localParts.get(key))!.settings[0];
    if (first === undefined) return [];
    const { channel, snap } = first;
    const from = rows.filter((row) => row.packageId === snap.id && row.channel === channel);
    const to = after
      .get(key)
      ?.settings.map((setting): FleetSetting => toFleetSetting(name, setting, { at, actor: '' }));
    return [{ packageId: snap.id, channel, from, to: to ?? [] }];
  });
  const snaps = new Set([...(ours?.hidden ?? []), ...merged.hidden].map(({ id }) => id));
  const hidden = changed
    .filter((key) => snaps.has(key))
    .map((packageId) => ({ packageId, from: localParts.has(packageId), to: after.has(packageId) }));
  const mine = ours?.devices ?? [];
  return {
    fleet: name,
    kind,
    step: present === undefined ? 'add' : 'change',
    window: { from: ours?.window ?? null, to: merged.window ?? null },
    channels,
    hidden,
    add: missingFrom(mine, merged.devices),
    remove: missingFrom(merged.devices, mine),
    origin: {
      from: base === null ? null : { site: statement.source, text: base },
      to: { site: statement.source, text: toCanonicalText(text) },
    },
  };
}

/** The contradictions of planned fleets with each other and with the fleets of this store. */
async function findContradictions(
  records: PlanRecords,
  planned: readonly { view: FleetOfDevice; selectors: readonly string[] }[],
): Promise<{ name: string; reason: string }[]> {
  const contradictions: { name: string; reason: string }[] = [];
  const views = new Map(planned.map(({ view }) => [view.name, view]));
  const firstWith = new Map<string, string>();
  for (const { view, selectors } of planned) {
    const shared = await records.fleets.withSelectorAmong(selectors);
    for (const name of views.keys()) shared.delete(name);
    for (const selector of selectors) {
      const other = firstWith.get(selector);
      if (other === undefined) firstWith.set(selector, view.name);
      else if (!shared.has(other)) shared.set(other, selector);
    }
    const stored = await records.fleets.withSettings([...shared.keys()].filter((name) => !views.has(name)));
    const others = [...stored, ...[...shared.keys()].flatMap((name) => views.get(name) ?? [])];
    for (const other of others) {
      const reason = await findContradiction(records, view, other, selectorText(shared.get(other.name) ?? ''));
      if (reason !== undefined) contradictions.push({ name: view.name, reason });
    }
  }
  return contradictions;
}
