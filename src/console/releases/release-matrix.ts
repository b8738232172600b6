// The release matrix of a package: a row for each channel, a column for each architecture or base. Each cell has the released version, and
// a link to promote it.
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, joined, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import { risks, type Channel } from '#domain/releases/channel.ts';
import { isProgressive } from '#domain/releases/channel-map.ts';
import { channelLines, type ChannelLine } from '#operations/releases/channel-lines.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import { icon } from '../parts/icon.ts';
import { badge } from '../parts/notice.ts';
import { emptyState } from '../parts/table.ts';
import { formatCount, time } from '../parts/values.ts';
import { addressOf } from '../packages/address.ts';

/** The maximum number of releases on the page; each has up to 1 kB. Tracks that do not fit are links, at most `maxTracks`. */
const maxReleases = 180;
const maxTracks = 100;
/** The maximum number of columns. */
const maxSlots = 40;

interface ReleaseMatrixInput {
  tracks: readonly string[];
  releases: readonly Release[];
  /** The number of devices that report each revision; undefined if the store does not remember devices. */
  devices: ReadonlyMap<number, number> | undefined;
}

interface ReleaseMatrixContext extends Pick<ReleaseMatrixInput, 'devices'> {
  subject: PublishedPackage;
  slots: readonly string[];
  versions: ReadonlyMap<number, string>;
}

/** The rows of a track: its channels, each with its lines by slot. */
type TrackRows = readonly (readonly [channel: Channel, lines: readonly ChannelLine[]])[];

/** The matrix, or the part of one track. */
export async function renderReleaseMatrix(
  { revisions }: Pick<HandlerRecords, 'revisions'>,
  subject: PublishedPackage,
  { tracks, releases, devices }: ReleaseMatrixInput,
  track: string | undefined,
): Promise<Html> {
  const chosenTracks = tracks.filter((name) => track === undefined || name === track);
  const filled = chosenTracks.map((name) => [name, rowsOf(channelLines(name, releases))] as const);
  const empty = filled.filter(([, rows]) => rows.length === 0).map(([name]) => name);
  const all = filled.filter(([, rows]) => rows.length > 0);
  if (all.length === 0) {
    return emptyState(
      html`Nothing is released${track === undefined ? '' : ` in the track ${track}`} yet. Release a revision with
        <code>${releaseLine(subject)}</code> or <a href="${addressOf(subject, 'release')}">here</a>.`,
    );
  }
  const allSlots = [...new Set(releases.map(({ slot }) => slot))].sort();
  const slots = allSlots.slice(0, maxSlots);
  const { shown, left, hidden } = selectTracks(all);
  const numbers = shown.flatMap(([, rows]) =>
    rows.flatMap(([, lines]) => lines.flatMap(({ release }) => release?.revision ?? [])),
  );
  const held = await revisions.listOf(subject.id, [...new Set(numbers)]);
  const versions = new Map(held.map(({ revision, version }) => [revision, version]));
  return html`${matrix({ subject, slots, versions, devices }, shown)}
  ${allSlots.length > maxSlots ? html`<p class="hint">${formatCount(allSlots.length - maxSlots, 'more column')} not shown; <code>larder channels</code> shows all.</p>` : nothing}
  ${hidden > 0 ? html`<p class="hint">${formatCount(hidden, 'more channel')} of this track not shown; <code>larder channels</code> shows all.</p>` : nothing}
  ${track === undefined ? nothing : html`<p><a href="${addressOf(subject)}">All tracks</a></p>`}
  ${empty.length === 0 ? nothing : html`<p class="hint">Nothing is released in ${listed(empty)}.</p>`}
  ${left.length === 0 ? nothing : html`<p>Other tracks: ${trackLinks(subject, left)}.</p>`}`;
}

/** The rows that fit; a single track is cut. */
function selectTracks(all: readonly (readonly [string, TrackRows])[]) {
  const shown: (readonly [string, TrackRows])[] = [];
  let [room, hidden] = [maxReleases, 0];
  for (const [name, rows] of all) {
    // The name of a branch has up to 200 characters, and each row repeats it.
    const used = rows.map(
      ([{ branch }, lines]) => lines.filter(({ release }) => release !== undefined).length + (branch === null ? 0 : 3),
    );
    let fitting = 0;
    for (let sum = 0; fitting < rows.length && sum + used[fitting]! <= room; fitting++) sum += used[fitting]!;
    if (shown.length > 0 && fitting < rows.length) continue;
    shown.push([name, rows.slice(0, fitting)]);
    hidden += rows.length - fitting;
    room -= used.slice(0, fitting).reduce((sum, number) => sum + number, 0);
  }
  const names = new Set(shown.map(([name]) => name));
  return { shown, left: all.map(([name]) => name).filter((name) => !names.has(name)), hidden };
}

function rowsOf(lines: readonly ChannelLine[]): TrackRows {
  const byChannel = Map.groupBy(lines, ({ channel }) => channel.name);
  return [...byChannel.values()]
    .map((ofChannel) => [ofChannel[0]!.channel, ofChannel] as const)
    .sort(([a], [b]) => risks.indexOf(a.risk) - risks.indexOf(b.risk) || (a.name < b.name ? -1 : 1));
}

const listed = (tracks: readonly string[]): string =>
  tracks.length > maxTracks ? `${tracks.slice(0, maxTracks).join(', ')} and others` : tracks.join(', ');

const trackLinks = (subject: PublishedPackage, tracks: readonly string[]): HtmlContent => [
  joined(
    tracks
      .slice(0, maxTracks)
      .map((name) => html`<a href="${addressOf(subject)}?track=${encodeURIComponent(name)}">${name}</a>`),
    ', ',
  ),
  tracks.length > maxTracks ? ' and more' : '',
];

const releaseLine = ({ namespace, name }: PublishedPackage): string =>
  namespace === 'charm'
    ? `charmcraft release ${name} --revision=1 --channel=latest/edge`
    : `snapcraft release ${name} 1 edge`;

function matrix(context: ReleaseMatrixContext, shown: readonly (readonly [string, TrackRows])[]): Html {
  const { slots } = context;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Release matrix">
    <table class="matrix">
      <caption class="unseen">
        Revisions in each channel
      </caption>
      <thead>
        <tr>
          <th scope="col">Channel</th>
          ${slots.map((slot) => html`<th scope="col">${labelOf(slot)}</th>`)}
          <th scope="col"><span class="unseen">Close</span></th>
        </tr>
      </thead>
      ${shown.map(
        ([, rows]) =>
          html`<tbody>
            ${rows.map((_, at) => renderRow(context, rows, at))}
          </tbody>`,
      )}
    </table>
  </div>`;
}

const labelOf = (slot: string): string => (slot === '*' || slot === 'all' ? 'All' : slot);

/** The row of a channel. The first row of a track has a line above it. */
function renderRow(context: ReleaseMatrixContext, rows: TrackRows, at: number): Html {
  const [channel, lines] = rows[at]!;
  const { slots, subject } = context;
  const isFilled = lines.some(({ release }) => release !== undefined);
  const ends = lines.find(({ release }) => release?.expiresAt)?.release?.expiresAt;
  const safer = (slot: string): Channel | undefined =>
    rows
      .slice(0, at)
      .findLast(
        ([above, held]) => above.branch === null && held.some((line) => line.slot === slot && line.release),
      )?.[0];
  return html`<tr ${at === 0 ? html`class="first"` : nothing}>
    <th scope="row">
      ${channel.name}${channel.branch === null ? nothing : html` ${badge('part', 'branch')}`}
      ${typeof ends === 'string' ? html`<span class="hint">ends ${time(ends)}</span>` : nothing}
    </th>
    ${
      isFilled
        ? html`${slots.map((slot) => {
              const ofSlot = lines.filter((line) => line.slot === slot && (line.release !== undefined || line.follows));
              return html`<td data-heading="${labelOf(slot)}" ${ofSlot.length === 0 ? html`class="none"` : nothing}>
                <div>
                  ${ofSlot.length === 0 ? html`<span class="hint">–</span>` : ofSlot.map((line) => (line.release === undefined ? follows(safer(slot)) : renderRelease(context, line, line.release)))}
                </div>
              </td>`;
            })}
            <td>
              <a href="${releaseAddress(subject, { close: 'yes', channels: channel.name })}"
                >Close<span class="unseen"> ${channel.name}</span></a
              >
            </td>`
        : html`<td class="whole" colspan="${slots.length + 1}">
            ${lines.some((line) => line.follows) ? follows(slots.map(safer).find((above) => above !== undefined)) : html`<span class="hint">closed</span>`}
          </td>`
    }
  </tr>`;
}

const follows = (channel: Channel | undefined): Html =>
  html`<span class="hint">follows ${channel?.risk ?? 'the safer channel'}</span>`;

/** A release in a cell: its version, revision, age and devices, and the link to promote it. */
function renderRelease(
  { subject, versions, devices }: ReleaseMatrixContext,
  { channel, over, slot }: ChannelLine,
  { revision, releasedAt, progressive, rollout }: Release,
): Html {
  const safer = saferThan(channel);
  const holders = devices?.get(revision) ?? 0;
  const rest = over?.progressive.percentage;
  const { percentage, paused } = progressive;
  return html`<div class="held">
    <a href="${addressOf(subject, 'revisions', revision)}"
      ><strong>${versions.get(revision) ?? '–'}</strong><span class="unseen">, revision ${revision}</span></a
    >
    ${isProgressive(progressive) ? badge('part', `${String(percentage)} %${paused === true ? ', paused' : ''}`) : typeof rest === 'number' ? badge('part', `${String(100 - rest)} %`) : nothing}
    ${
      safer === undefined
        ? nothing
        : html`<a class="promote" href="${releaseAddress(subject, { revision: String(revision), channels: safer })}"
            >${icon('arrow-up')}<span class="unseen">Promote revision ${revision} for ${labelOf(slot)} to </span>${
              channel.branch === null ? safer.slice(safer.indexOf('/') + 1) : safer
            }</a
          >`
    }
    <span class="hint"
      ><span aria-hidden="true">${revision} ·</span> ${time(releasedAt)}${
        holders === 0
          ? nothing
          : html` ·
              <span class="channel">${formatCount(holders, 'device')}</span>`
      }${rollout === undefined ? nothing : html` · <a href="${addressOf(subject, 'rollouts', rollout)}">rollout</a>`}</span
    >
  </div>`;
}

/** The address of the preview of a release. */
export const releaseAddress = (subject: PublishedPackage, members: Record<string, string>): string =>
  `${addressOf(subject, 'release')}?${new URLSearchParams(members).toString()}`;

/** The next channel of a revision: from a branch to its risk, from a risk to the safer one. */
function saferThan({ track, risk, branch }: Channel): string | undefined {
  if (branch !== null) return `${track}/${risk}`;
  const safer = risks[risks.indexOf(risk) - 1];
  return safer && `${track}/${safer}`;
}
