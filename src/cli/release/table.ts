// The table of a package's channels, as publishing tools print it.
import { timestamp } from '#domain/clock.ts';
import { isProgressive } from '#domain/channel-map.ts';
import { channelLines, type ChannelLine } from '#operations/releases/channel-lines.ts';
import type { Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import { table } from '../frame/terminal.ts';

/**
 * What stands in a channel that holds nothing itself: that it gets what a safer one holds, or nothing at all; how far a
 * progressive release goes, and what is not known of it here: how far it has come.
 */
const signs = { follows: '↑', closed: '-', goesTo: '→', unknown: '?' } as const;

interface Line {
  track: string;
  /** An architecture, or a base with its architecture; `-` where a channel holds one revision for everybody. */
  for: string;
  channel: string;
  version: string;
  revision: string;
  progress: string;
  expires: string;
}

/** Every track by what it is made for and by risk; a progressive release is a line of its own under the ordinary one. */
export async function channelTable(
  records: Pick<Records, 'tracks' | 'releases' | 'revisions'>,
  subject: PublishedPackage,
  now: Date,
): Promise<{ text: string; json: unknown }> {
  const tracks = (await records.tracks.list(subject.id)).map(({ name }) => name);
  const held = await records.releases.current(subject.id, timestamp(now));
  const versions = new Map(
    (await records.revisions.listOf(subject.id, [...new Set(held.map(({ revision }) => revision))])).map((one) => [
      one.revision,
      one.version,
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
): Line {
  const name = branch === null ? risk : `${risk}/${branch}`;
  const place = { track, for: slot === '*' ? signs.closed : slot };
  const rest = over === undefined ? signs.closed : towards(100 - (over.progressive.percentage ?? 0));
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

/** Where a release is to come; where it is now the store does not know, for devices decide by themselves. */
const towards = (percentage: number): string => `${signs.unknown}${signs.goesTo}${percentage.toFixed(0)}%`;

/** Publishing tools cannot pause a release, and so do not tell; who paused one by other means wants to see it. */
const progressOf = ({ progressive: { percentage, paused } }: Release): string =>
  `${towards(percentage ?? 0)}${paused === true ? ', paused' : ''}`;

/**
 * A track and what it is made for are named in their first line only; when branches end, only where there are some. Every
 * column has room for two more characters than its heading, as those tools leave.
 */
function print(lines: readonly Line[], madeFor: string): string {
  const hasBranches = lines.some(({ expires }) => expires !== signs.closed);
  const headings = ['Track', madeFor, 'Channel', 'Version', 'Revision', 'Progress', 'Expires at'].map(
    (one) => `${one}  `,
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
