// The catalog: which release of a snap is shown to whom, and by which words it is found; charm-catalog.ts has those of charms.
import { choose, isProgressive, type Holding } from './channel-map.ts';
import { channel as channelOf, parseChannel, risks, type Channel, type Risk } from './channel.ts';

/** Where somebody looks: what installing from a risk gives, or `any`, the most stable that there is. */
export type Level = Risk | 'any';
export const levels: readonly Level[] = [...risks, 'any'];

/** Whatever a snap may be confined by. */
export const confinements: readonly string[] = ['strict', 'classic', 'devmode'];

export interface Shown<Held> {
  held: Held;
  channel: Channel;
}

/** What of a snap is told to everybody: no branches, and nothing that is on its way to a part of the devices. */
export const toldOf = <Held extends Holding>(map: readonly Held[]): Held[] =>
  map.filter(({ progressive, channel }) => !isProgressive(progressive) && parseChannel(channel)?.branch === null);

/**
 * What is told of a channel map: the default track first, since the first is what is given to whoever says nothing, then each by
 * its risk, the most stable first.
 */
export function listed<Held extends Holding>(map: readonly Held[], defaultTrack: string | null): Shown<Held>[] {
  const rank = ({ channel: { track, risk } }: Shown<Held>): string =>
    [track === (defaultTrack ?? 'latest') ? 0 : track === 'latest' ? 1 : 2, track, risks.indexOf(risk)].join(' ');
  return toldOf(map)
    .map((held) => ({ held, channel: parseChannel(held.channel)! }))
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** The release of which a list speaks to a device of an architecture; `map` is what is told of a snap. */
export function shownIn<Held extends Holding>(
  map: readonly Held[],
  wanted: Channel | Level,
  architecture: string,
  defaultTrack: string | null,
): Shown<Held> | undefined {
  const from = (channel: Channel): Shown<Held> | undefined => choose(map, { channel, architecture, now: '' });
  if (typeof wanted !== 'string') return from(wanted);
  const first = defaultTrack ?? 'latest';
  if (wanted !== 'any') return from(channelOf(first, wanted)) ?? from(channelOf('latest', wanted));
  const tracks = new Set([first, 'latest', ...map.map(({ channel }) => parseChannel(channel)!.track)]);
  for (const risk of risks) {
    for (const track of tracks) {
      const found = from(channelOf(track, risk));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** The words of a text as they are looked for: without case and accents. */
export function wordsOf(text: string): string[] {
  const plain = text.slice(0, longestText).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.slice(0, longestWord));
}

const longestText = 4096;
const longestWord = 40;

// What stands beside what is said of a snap; no word begins with a colon.
export const nameWord = (name: string): string => `:name:${name}`;
export const commonIdWord = (id: string): string => `:common-id:${id}`;
const placeWord = (architecture: string, level: Level, confinement: string): string =>
  `:at:${architecture}/${level}/${confinement}`;

/** Where a snap is for an architecture, by its confinement at each level; what a level has of a safer one is said once. */
export const placesOf = (architecture: string, confinements: readonly (string | undefined)[]): string[] =>
  levels.flatMap((level, at) => {
    const confinement = confinements[at];
    return confinement === undefined || confinement === confinements[at - 1]
      ? []
      : [placeWord(architecture, level, confinement)];
  });

/** The places that somebody looks at. */
export const placesAt = (architecture: string, level: Level, confinements: readonly string[]): string[] =>
  [architecture, 'all'].flatMap((one) =>
    levels
      .slice(0, levels.indexOf(level) + 1)
      .flatMap((safer) => confinements.map((confinement) => placeWord(one, safer, confinement))),
  );

/** What is found of a snap. */
export interface Findable {
  name: string;
  title: string | null;
  summary: string | null;
  publisher: string;
  commonIds: readonly string[];
  places: readonly string[];
}

/** So many words of a snap are kept. */
const mostWords = 256;

/** The words by which a snap is found, each with its weight: its own name says most. */
export function findableBy({ name, title, summary, publisher, commonIds, places }: Findable): Map<string, number> {
  const said: [string, number][] = [
    ...places.map((place): [string, number] => [place, 0]),
    [nameWord(name), 0],
    ...commonIds.map((id): [string, number] => [commonIdWord(id), 0]),
    ...wordsOf(name).map((word): [string, number] => [word, 1]),
    ...wordsOf(title ?? '').map((word): [string, number] => [word, 2]),
    ...wordsOf(publisher).map((word): [string, number] => [word, 3]),
    ...wordsOf(summary ?? '').map((word): [string, number] => [word, 4]),
  ];
  const words = new Map<string, number>();
  for (const [word, weight] of said) if (!words.has(word) && words.size < mostWords) words.set(word, weight);
  return words;
}

/** All words that begin with a text. */
export interface Beginning {
  from: string;
  to: string;
}

/** No word holds what sorts behind every other character. */
export const beginningWith = (text: string): Beginning => ({ from: text, to: `${text}\u{10ffff}` });
/** Nor the first character that PostgreSQL takes. */
export const exactly = (text: string): Beginning => ({ from: text, to: `${text}\u0001` });
