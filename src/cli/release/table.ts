// The table of a package's channels, as publishing tools print it.
import { timestamp } from '#domain/clock.ts';
import { fallback, type Channel } from '#domain/channel.ts';
import { isProgressive } from '#domain/channel-map.ts';
import { channelsOf } from '#operations/releases/present.ts';
import type { Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import { table } from '../frame/terminal.ts';

/** What stands in a channel that holds nothing itself: what the next safer one holds, or nothing at all. */
const signs = { follows: '↑', closed: '-' } as const;

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

/** Every track by what it is made for and by risk; a progressive release is a line of its own over the ordinary one. */
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
    return all.flatMap((channel) => linesOfChannel(channel, slot, ofSlot, versions));
  });
}

function linesOfChannel(
  channel: Channel,
  slot: string,
  held: readonly Release[],
  versions: ReadonlyMap<number, string>,
): Line[] {
  const place = {
    track: channel.track,
    for: slot === '*' ? signs.closed : slot,
    channel: channel.branch === null ? channel.risk : `${channel.risk}/${channel.branch}`,
  };
  const here = held.filter((one) => one.channel === channel.name);
  const filled = here.map((one) => ({
    ...place,
    version: versions.get(one.revision) ?? signs.closed,
    revision: String(one.revision),
    progress: progressOf(one),
    expires: one.expiresAt ?? signs.closed,
  }));
  if (here.some(({ progressive }) => !isProgressive(progressive))) return filled;
  if (channel.branch !== null) return filled;
  const sign = followsAnother(channel, held) ? signs.follows : signs.closed;
  return [{ ...place, version: sign, revision: sign, progress: signs.closed, expires: signs.closed }, ...filled];
}

/** Whether a safer channel holds something for everybody, which is what whoever asks here then gets. */
function followsAnother(channel: Channel, held: readonly Release[]): boolean {
  const name = fallback(channel);
  if (name === null) return false;
  const [track = '', risk] = name.split('/');
  if (held.some((one) => one.channel === name && !isProgressive(one.progressive))) return true;
  return followsAnother({ ...channel, name, track, risk: risk as Channel['risk'] }, held);
}

const progressOf = ({ progressive: { percentage, paused } }: Release): string =>
  percentage === null ? signs.closed : `${String(percentage)} %${paused === true ? ', paused' : ''}`;

/** A track and what it is made for are named in their first line only; when branches end, only where there are some. */
function print(lines: readonly Line[], madeFor: string): string {
  const hasBranches = lines.some(({ expires }) => expires !== signs.closed);
  const headings = ['Track', madeFor, 'Channel', 'Version', 'Revision', 'Progress', 'Expires at'];
  const rows = lines.map((line, at) => {
    const before = lines[at - 1];
    const sameTrack = before?.track === line.track;
    const sameFor = sameTrack && before.for === line.for;
    const sameChannel = sameFor && before.channel === line.channel;
    return [
      sameTrack ? '' : line.track,
      sameFor ? '' : line.for,
      sameChannel ? '' : line.channel,
      ...[line.version, line.revision, line.progress, line.expires],
    ];
  });
  const width = hasBranches ? headings.length : headings.length - 1;
  return table(
    headings.slice(0, width),
    rows.map((row) => row.slice(0, width)),
  );
}
