// The table of a package's channels, as publishing tools print it.
import { timestamp } from '#domain/clock.ts';
import type { Channel } from '#domain/channel.ts';
import { isProgressive } from '#domain/channel-map.ts';
import { channelsOf } from '#operations/releases/present.ts';
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
  const lines = tracks.flatMap((track) => linesOf(track, held, versions));
  return { text: print(lines, subject.namespace === 'snap' ? 'Arch' : 'For'), json };
}

function linesOf(track: string, held: readonly Release[], versions: ReadonlyMap<number, string>): Line[] {
  const all = channelsOf([track], [...held]);
  const names = new Set(all.map(({ name }) => name));
  const here = held.filter(({ channel }) => names.has(channel));
  const slots = [...new Set(here.map(({ slot }) => slot))].sort();
  return slots.flatMap((slot) => {
    const ofSlot = here.filter((one) => one.slot === slot);
    let sign: Sign = signs.closed;
    return all.flatMap((channel) => {
      const inChannel = ofSlot.filter((one) => one.channel === channel.name);
      const lines = linesOfChannel(channel, slot, { held: inChannel, sign, versions });
      // A riskier channel follows as soon as one before it holds anything, be it for a part of the devices alone.
      if (channel.branch === null && inChannel.length > 0) sign = signs.follows;
      return lines;
    });
  });
}

type Sign = (typeof signs)['follows' | 'closed'];

function linesOfChannel(
  { track, risk, branch }: Channel,
  slot: string,
  { held, sign, versions }: { held: readonly Release[]; sign: Sign; versions: ReadonlyMap<number, string> },
): Line[] {
  const line = (one: Release, channel: string, progress: string): Line => ({
    ...place,
    channel,
    version: versions.get(one.revision) ?? signs.closed,
    revision: String(one.revision),
    progress,
    expires: one.expiresAt ?? signs.closed,
  });
  const name = branch === null ? risk : `${risk}/${branch}`;
  const place = { track, for: slot === '*' ? signs.closed : slot };
  const part = held.find(({ progressive }) => isProgressive(progressive));
  const whole = held.find(({ progressive }) => !isProgressive(progressive));
  const rest = part === undefined ? signs.closed : towards(100 - (part.progressive.percentage ?? 0));
  const lines: Line[] = [];
  if (whole !== undefined) lines.push(line(whole, name, rest));
  else if (branch === null) {
    const progress = sign === signs.closed ? signs.closed : rest;
    lines.push({ ...place, channel: name, version: sign, revision: sign, progress, expires: signs.closed });
  }
  if (part !== undefined) lines.push(line(part, branch === null ? '' : name, progressOf(part)));
  return lines;
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
