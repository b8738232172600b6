// Formats the table of a package's channels like publishing tools do.
import { timestamp } from '#domain/clock.ts';
import { isProgressive } from '#domain/releases/channel-map.ts';
import { channelLines, type ChannelLine } from '#operations/releases/channel-lines.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import { table } from '../frame/terminal.ts';

/**
 * Signs in the table. `follows`: the channel gives the revision of a safer risk; `closed`: there is no value; `goesTo`: the target
 * of a progressive release; `unknown`: its present progress, which the store does not know.
 */
const signs = { follows: '↑', closed: '-', goesTo: '→', unknown: '?' } as const;

interface ChannelTableLine {
  track: string;
  /** An architecture, or a base with an architecture; `-` if the channel has one revision for all. */
  for: string;
  channel: string;
  version: string;
  revision: string;
  progress: string;
  expires: string;
}

/** Lists each track by slot and risk; a progressive release has its own line below the ordinary one. */
export async function channelTable(
  records: Pick<StoreRecords, 'tracks' | 'releases' | 'revisions'>,
  subject: PublishedPackage,
  now: Date,
): Promise<{ text: string; json: unknown }> {
  const tracks = (await records.tracks.list(subject.id)).map(({ name }) => name);
  const held = await records.releases.current(subject.id, timestamp(now));
  const versions = new Map(
    (await records.revisions.listOf(subject.id, [...new Set(held.map(({ revision }) => revision))])).map((row) => [
      row.revision,
      row.version,
    ]),
  );
  const json = {
    package: `${subject.namespace}/${subject.name}`,
    tracks,
    channels: held.map(({ channel, slot, revision, progressive, expiresAt, releasedAt }) => ({
      channel,
      for: slot,
      revision,
      version: versions.get(revision) ?? null,
      progressive,
      'expires-at': expiresAt,
      when: releasedAt,
    })),
  };
  if (held.length === 0) return { text: 'Nothing is released.', json };
  const lines = tracks.flatMap((track) => channelLines(track, held)).map((line) => lineOf(line, versions));
  return { text: print(lines, subject.namespace === 'snap' ? 'Arch' : 'For'), json };
}

function lineOf(
  { channel: { track, risk, branch }, slot, release, follows, over }: ChannelLine,
  versions: ReadonlyMap<number, string>,
): ChannelTableLine {
  const name = branch === null ? risk : `${risk}/${branch}`;
  const place = { track, for: slot === '*' ? signs.closed : slot };
  const rest = over === undefined ? signs.closed : formatTarget(100 - (over.progressive.percentage ?? 0));
  if (release === undefined) {
    const sign = follows ? signs.follows : signs.closed;
    const progress = follows ? rest : signs.closed;
    return { ...place, channel: name, version: sign, revision: sign, progress, expires: signs.closed };
  }
  const isPart = isProgressive(release.progressive);
  return {
    ...place,
    channel: isPart && branch === null ? '' : name,
    version: versions.get(release.revision) ?? signs.closed,
    revision: String(release.revision),
    progress: isPart ? progressOf(release) : rest,
    expires: release.expiresAt ?? signs.closed,
  };
}

/** The target of a progressive release. Its present progress is unknown to the store, because devices decide for themselves. */
const formatTarget = (percentage: number): string => `${signs.unknown}${signs.goesTo}${percentage.toFixed(0)}%`;

/** Adds `paused`, which publishing tools lack because they cannot pause a release. */
const progressOf = ({ progressive: { percentage, paused } }: Release): string =>
  `${formatTarget(percentage ?? 0)}${paused === true ? ', paused' : ''}`;

/**
 * Leaves out repeated tracks and slots, and the ends of branches if there are no branches. Each column is two characters wider
 * than its heading, as in publishing tools.
 */
function print(lines: readonly ChannelTableLine[], madeFor: string): string {
  const hasBranches = lines.some(({ expires }) => expires !== signs.closed);
  const headings = ['Track', madeFor, 'Channel', 'Version', 'Revision', 'Progress', 'Expires at'].map(
    (heading) => `${heading}  `,
  );
  const rows = lines.map((line, at) => {
    const before = lines[at - 1];
    const sameTrack = before?.track === line.track;
    const sameFor = sameTrack && before.for === line.for;
    return [
      sameTrack ? '' : line.track,
      sameFor ? '' : line.for,
      ...[line.channel, line.version, line.revision, line.progress, line.expires],
    ];
  });
  const width = hasBranches ? headings.length : headings.length - 1;
  return table(
    headings.slice(0, width),
    rows.map((row) => row.slice(0, width)),
  );
}
