// What a transfer would make of the channels of one package: each release that it carries is held against what it could be.
import type { TransferPackage, TransferRelease } from '#api/wire.ts';
import type { Line } from '#domain/approvals.ts';
import { everybody, isProgressive, isWholeChannel, slotsOf } from '#domain/channel-map.ts';
import { parseChannel } from '#domain/channel.ts';
import { riskProblem } from '#domain/risk-problem.ts';
import type { Release } from '#records/releases.ts';
import type { RevisionDetails } from '#records/revisions.ts';
import { heldInWords, slotLine } from './release-lines.ts';
import { subjectOf, type PackagePlan, type PlanLine, type Planning, type PlanRecords } from './transfer-planning.ts';

/** A line about a channel; one that becomes nothing is a close. */
export type Told = Pick<PlanLine, 'what' | 'from' | 'to' | 'notes'>;

interface Telling {
  line(line: Told): void;
  problem(what: string, why: string): void;
}

/** Adds to a plan what the channels are to hold; gives that as any other release of it is told to those who approve. */
export async function planChannels(
  records: PlanRecords,
  planning: Planning,
  made: PackagePlan,
  telling: Telling,
): Promise<Line[]> {
  const { carried } = made;
  const held = await records.releases.current(carried.id, planning.at);
  const kept = held.filter(({ revision }) => !made.withdrawals.some((one) => one.revision === revision));
  const told = new Set<string>();
  for (const release of carried.channels) {
    const expires = release['expires-at'];
    if (expires !== undefined && expires <= planning.at) continue;
    const place = `${release.channel} ${release.slot} ${String(release.progressive !== undefined)}`;
    if (told.has(place)) {
      telling.problem(placed(release), 'Two releases would be there, each in the place of the other.');
      continue;
    }
    told.add(place);
    const before = kept.find(
      (one) => isAt(one, release) && isProgressive(one.progressive) === (release.progressive !== undefined),
    );
    if (before !== undefined && isSame(before, release)) continue;
    if (await isBarred(records, made, release)) continue;
    const why = await whyNot(records, planning, made, release);
    if (why !== undefined) {
      telling.problem(placed(release), why);
      continue;
    }
    made.releases.push({ release, before });
    const notes = [
      ...(before !== undefined && before.revision > release.revision ? ['downgrade'] : []),
      ...(release.progressive === undefined ? [] : [`for ${String(release.progressive.percentage)} % of the devices`]),
    ];
    const from = before === undefined ? null : String(before.revision);
    telling.line({ what: placed(release), from, to: String(release.revision), notes });
  }
  planEnds(made, kept, telling);
  return slotLines(carried, held, made);
}

/** What the source has ended or closed, and is here. */
function planEnds(made: PackagePlan, kept: readonly Release[], { line }: Telling): void {
  const { channels, closed } = made.carried;
  for (const one of kept.filter(({ progressive }) => isProgressive(progressive))) {
    const there = channels.filter((other) => isAt(one, other));
    if (there.length === 0 || there.some(({ progressive }) => progressive !== undefined)) continue;
    made.ends.push(one);
    const from = `${String(one.revision)} for ${String(one.progressive.percentage)} %`;
    line({ what: placed(one), from, to: null, notes: [] });
  }
  // What is released to a channel here is not closed there, whatever the source calls it.
  for (const channel of closed.filter((one) => !channels.some((release) => release.channel === one))) {
    const holding = kept.filter((one) => one.channel === channel);
    if (holding.length === 0) continue;
    made.closes.push({ channel, held: holding });
    for (const one of holding) line({ what: placed(one), from: String(one.revision), to: null, notes: [] });
  }
}

/** Whether it is of a revision that is carried and cannot come in, which has been told. */
async function isBarred(
  records: PlanRecords,
  { carried, revisions }: PackagePlan,
  { revision }: TransferRelease,
): Promise<boolean> {
  const isCarried = carried.revisions.some((one) => one.revision === revision);
  if (!isCarried || revisions.some(({ one }) => one.revision === revision)) return false;
  return (await records.revisions.find(carried.id, revision)) === undefined;
}

/** Why a release cannot be one here, whoever signed that it is. */
async function whyNot(
  records: PlanRecords,
  planning: Planning,
  made: PackagePlan,
  release: TransferRelease,
): Promise<string | undefined> {
  const { carried } = made;
  const channel = parseChannel(release.channel);
  if (channel?.name !== release.channel) return 'No channel has such a name.';
  if (channel.track !== 'latest' && !carried.tracks.includes(channel.track))
    return 'It is of a track that is not carried.';
  if (isWholeChannel(carried.namespace) && release.progressive !== undefined) {
    return `A ${carried.type} is released to everybody at once.`;
  }
  const details = await detailsOf(records, planning, made, release.revision);
  if (typeof details === 'string') return details;
  const unfinished = riskProblem(details, channel.risk);
  if (unfinished !== undefined) {
    return `Revision ${String(release.revision)} cannot be released there: ${unfinished}.`;
  }
  const fitting = slotsOf(carried.namespace, details).some(
    ({ slot, architecture, baseName, baseChannel }) =>
      slot === release.slot &&
      architecture === (release.architecture ?? null) &&
      baseName === (release.base?.name ?? null) &&
      baseChannel === (release.base?.channel ?? null),
  );
  if (!fitting) return `Revision ${String(release.revision)} is not for ${release.slot}.`;
  return whyNoResource(records, made, release);
}

/** What a revision is for; a sentence where it is not here, and does not come, or is withdrawn. */
async function detailsOf(
  records: PlanRecords,
  { finding }: Planning,
  made: PackagePlan,
  number: number,
): Promise<RevisionDetails | string> {
  const { id } = made.carried;
  if (made.withdrawals.some(({ revision }) => revision === number)) return `Revision ${String(number)} is withdrawn.`;
  const here = await records.revisions.find(id, number);
  if (here !== undefined) {
    return here.withdrawnAt === null ? here.details : `Revision ${String(number)} is withdrawn here, and stays so.`;
  }
  const comes = made.revisions.some(({ one }) => one.revision === number);
  const found = comes ? ((await finding(subjectOf(id, number)))?.findings ?? null) : null;
  if (found === null) return `Revision ${String(number)} is neither here, nor does it come in.`;
  return (JSON.parse(found) as { details?: RevisionDetails }).details ?? {};
}

async function whyNoResource(
  records: PlanRecords,
  made: PackagePlan,
  { resources = [] }: TransferRelease,
): Promise<string | undefined> {
  for (const { name, revision } of resources) {
    if (revision === null) continue;
    const comes = made.resources.some((one) => one.resource.name === name && one.one.revision === revision);
    if (comes || (await records.resourceRevisions.find(made.carried.id, name, revision)) !== undefined) continue;
    return `The revision ${String(revision)} of its resource ${name} is neither here, nor does it come in.`;
  }
  return undefined;
}

type At = Pick<Release, 'channel' | 'slot'>;

const isAt = (one: At, other: At): boolean => one.channel === other.channel && one.slot === other.slot;

/** Of each slot that changes what it holds before and afterwards. */
function slotLines(
  subject: TransferPackage,
  held: readonly Release[],
  { releases, ends, closes }: Pick<PackagePlan, 'releases' | 'ends' | 'closes'>,
): Line[] {
  const replaced = releases.flatMap(({ before }) => before ?? []);
  const gone = new Set<Release>([...replaced, ...ends, ...closes.flatMap((one) => one.held)]);
  const filled = releases.map(({ release }) => ({
    ...{ channel: release.channel, slot: release.slot, revision: release.revision },
    ...{ progressive: release.progressive ?? everybody, resources: release.resources ?? [] },
  }));
  const touched = new Map([...filled, ...gone].map((one) => [`${one.channel} ${one.slot}`, one]));
  return [...touched.values()].map((at) => {
    const before = held.filter((one) => isAt(one, at));
    const afterwards = [...before.filter((one) => !gone.has(one)), ...filled.filter((one) => isAt(one, at))];
    return slotLine(subject, at.channel, at.slot, { from: heldInWords(before), to: heldInWords(afterwards) });
  });
}

/** A channel with the part of it that is meant, where it has several. */
const placed = ({ channel, slot }: At): string => (slot === '*' ? channel : `${channel} (${slot})`);

function isSame(before: Release, release: TransferRelease): boolean {
  const { percentage, paused } = before.progressive;
  const there = release.progressive;
  const resources = (all: readonly { name: string; revision: number | null }[]): string =>
    JSON.stringify(all.map(({ name, revision }) => [name, revision]));
  return (
    before.revision === release.revision &&
    percentage === (there?.percentage ?? null) &&
    (there === undefined || paused === there.paused) &&
    resources(before.resources) === resources(release.resources ?? [])
  );
}
