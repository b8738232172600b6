// The channel map of a package as publishing tools show it, with links to change each channel.
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, joined, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import { risks, type Channel } from '#domain/releases/channel.ts';
import { isProgressive } from '#domain/releases/channel-map.ts';
import { channelLines, type ChannelLine } from '#operations/releases/channel-lines.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import { badge } from '../parts/notice.ts';
import { table, type Column } from '../parts/table.ts';
import { formatCount, time } from '../parts/values.ts';
import { addressOf } from '../packages/address.ts';

/** The maximum number of lines on the page. Tracks that do not fit are shown as links, at most `maxTracks`. */
const maxLines = 80;
const maxTracks = 100;

interface ConsoleChannelMap {
  tracks: readonly string[];
  releases: readonly Release[];
}

/** The channel map, or the part of one track. */
export async function renderChannelMap(
  { revisions }: Pick<HandlerRecords, 'revisions'>,
  subject: PublishedPackage,
  { tracks, releases }: ConsoleChannelMap,
  track: string | undefined,
): Promise<Html> {
  const shownTracks = track === undefined ? tracks : tracks.filter((name) => name === track);
  const lines: ChannelLine[] = [];
  const left: string[] = [];
  const empty: string[] = [];
  for (const trackName of shownTracks) {
    const ofTrack = channelLines(trackName, releases);
    if (ofTrack.length === 0) empty.push(trackName);
    else if (lines.length > 0 && lines.length + ofTrack.length > maxLines) left.push(trackName);
    else lines.push(...ofTrack);
  }
  const shown = lines.slice(0, maxLines);
  const numbers = new Set(shown.flatMap(({ release }) => release?.revision ?? []));
  const heldRevisions = await revisions.listOf(subject.id, [...numbers]);
  const versions = new Map(heldRevisions.map(({ revision, version }) => [revision, version]));
  return html`<h2>Channels</h2>
    ${table({
      caption: 'Revisions in each channel',
      columns: columnsOf(subject, versions),
      rows: shown,
      empty: html`Nothing is released${track === undefined ? '' : ` in the track ${track}`} yet. Release a revision with
        <code>${releaseLine(subject)}</code> or <a href="${addressOf(subject, 'release')}">here</a>.`,
    })}
    ${shown.length < lines.length ? html`<p class="hint">${formatCount(lines.length - shown.length, 'more line')} of this track are not shown; <code>snapcraft status</code> or <code>larder channels</code> shows all.</p>` : nothing}
    ${track === undefined ? nothing : html`<p><a href="${addressOf(subject)}">All tracks</a></p>`}
    ${shown.length > 0 && empty.length > 0 ? html`<p class="hint">Nothing is released in ${listed(empty)}.</p>` : nothing}
    ${
      left.length > 0
        ? html`<p>
            Other tracks:
            ${joined(
              left
                .slice(0, maxTracks)
                .map((name) => html`<a href="${addressOf(subject)}?track=${encodeURIComponent(name)}">${name}</a>`),
              ', ',
            )}${left.length > maxTracks ? ' and more' : ''}.
          </p>`
        : nothing
    }
    <p><a class="button" href="${addressOf(subject, 'release')}">Release a revision</a></p>`;
}

const listed = (tracks: readonly string[]): string =>
  tracks.length > maxTracks ? `${tracks.slice(0, maxTracks).join(', ')} and others` : tracks.join(', ');

const releaseLine = ({ namespace, name }: PublishedPackage): string =>
  namespace === 'charm'
    ? `charmcraft release ${name} --revision=1 --channel=latest/edge`
    : `snapcraft release ${name} 1 edge`;

const columnsOf = (subject: PublishedPackage, versions: ReadonlyMap<number, string>): Column<ChannelLine>[] => [
  { heading: 'Channel', cell: ({ channel }) => channel.name },
  { heading: subject.namespace === 'snap' ? 'Architecture' : 'For', cell: ({ slot }) => (slot === '*' ? 'All' : slot) },
  { heading: 'State', cell: stateOf },
  {
    heading: 'Version',
    cell: ({ release }) => (release === undefined ? '–' : (versions.get(release.revision) ?? '–')),
  },
  {
    heading: 'Revision',
    cell: ({ release }) =>
      release === undefined
        ? '–'
        : html`<a href="${addressOf(subject, 'revisions', release.revision)}">${release.revision}</a>`,
  },
  { heading: 'Since', cell: ({ release }) => (release === undefined ? '–' : time(release.releasedAt)) },
  { heading: 'Do', cell: (line) => deedsOf(subject, line) },
];

/** Open or closed, the percentage of a release, and the end of a branch. */
function stateOf({ release, follows, over, channel }: ChannelLine): HtmlContent {
  if (release === undefined) return follows ? 'follows the safer channel' : 'closed';
  const ends =
    release.expiresAt === null ? nothing : html`<br /><span class="hint">ends ${time(release.expiresAt)}</span>`;
  const { percentage, paused } = release.progressive;
  if (isProgressive(release.progressive)) {
    const share = `to ${String(percentage)} % of the devices`;
    return html`${badge('note', paused === true ? `paused, ${share}` : share)}${ends}`;
  }
  const rest = over?.progressive.percentage;
  const words = typeof rest === 'number' ? `open, to the other ${String(100 - rest)} %` : 'open';
  return html`${badge('good', channel.branch === null ? words : `branch, ${words}`)}${ends}`;
}

/** Links to the pages that preview a change. */
function deedsOf(subject: PublishedPackage, { channel, release }: ChannelLine): HtmlContent {
  if (release === undefined) return '–';
  const { revision } = release;
  const releaseAddress = (members: Record<string, string>): string =>
    `${addressOf(subject, 'release')}?${new URLSearchParams(members).toString()}`;
  const safer = saferThan(channel);
  return html`<span class="row">
    ${safer === undefined ? nothing : html`<a href="${releaseAddress({ revision: String(revision), channels: safer })}">Promote to ${safer}</a>`}
    <a href="${releaseAddress({ close: 'yes', channels: channel.name })}"
      >Close<span class="unseen"> ${channel.name}</span></a
    >
  </span>`;
}

/** The next channel of a revision: from a branch to its risk, from a risk to the safer one. */
function saferThan({ track, risk, branch }: Channel): string | undefined {
  if (branch !== null) return `${track}/${risk}`;
  const safer = risks[risks.indexOf(risk) - 1];
  return safer && `${track}/${safer}`;
}
