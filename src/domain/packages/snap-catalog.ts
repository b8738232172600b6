// The snap catalog: the release of a snap that a search shows, and the words that find it. charm-catalog.ts does the
// same for charms.
import { chooseRelease, isProgressive, type SlotRelease } from '../releases/channel-map.ts';
import { channel as channelOf, parseChannel, risks, type Channel, type Risk } from '../releases/channel.ts';

/** The level of a search: the releases that an installation from a risk would get, or `any` for the most stable one. */
export type SearchLevel = Risk | 'any';
export const levels: readonly SearchLevel[] = [...risks, 'any'];

/** All confinements of snaps. */
export const confinements: readonly string[] = ['strict', 'classic', 'devmode'];

export interface ShownRelease<Held> {
  held: Held;
  channel: Channel;
}

/** The public part of a snap's channel map: without branches and progressive releases. */
export const publicReleases = <Held extends SlotRelease>(map: readonly Held[]): Held[] =>
  map.filter(({ progressive, channel }) => !isProgressive(progressive) && parseChannel(channel)?.branch === null);

/**
 * The public part of a channel map in order: the default track first, because clients without a channel get the first
 * entry, then by risk, the most stable first.
 */
export function orderPublicReleases<Held extends SlotRelease>(
  map: readonly Held[],
  defaultTrack: string | null,
): ShownRelease<Held>[] {
  const rank = ({ channel: { track, risk } }: ShownRelease<Held>): string =>
    [track === (defaultTrack ?? 'latest') ? 0 : track === 'latest' ? 1 : 2, track, risks.indexOf(risk)].join(' ');
  return publicReleases(map)
    .map((held) => ({ held, channel: parseChannel(held.channel)! }))
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** The release that a list shows to a device of an architecture. `map` is the public channel map of the snap. */
export function chooseShownRelease<Held extends SlotRelease>(
  map: readonly Held[],
  channelOrLevel: Channel | SearchLevel,
  architecture: string,
  defaultTrack: string | null,
): ShownRelease<Held> | undefined {
  const from = (channel: Channel): ShownRelease<Held> | undefined =>
    chooseRelease(map, { channel, architecture, now: '' });
  if (typeof channelOrLevel !== 'string') return from(channelOrLevel);
  const first = defaultTrack ?? 'latest';
  if (channelOrLevel !== 'any')
    return from(channelOf(first, channelOrLevel)) ?? from(channelOf('latest', channelOrLevel));
  const tracks = new Set([first, 'latest', ...map.map(({ channel }) => parseChannel(channel)!.track)]);
  for (const risk of risks) {
    for (const track of tracks) {
      const release = from(channelOf(track, risk));
      if (release !== undefined) return release;
    }
  }
  return undefined;
}

/** The words of a text in the form for search: without case and accents. */
export function wordsOf(text: string): string[] {
  const plain = text.slice(0, longestText).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.slice(0, longestWord));
}

const longestText = 4096;
const longestWord = 40;

// Special words for properties other than texts. No word of a text begins with a colon.
export const nameWord = (name: string): string => `:name:${name}`;
export const commonIdWord = (id: string): string => `:common-id:${id}`;
const placeWord = (architecture: string, level: SearchLevel, confinement: string): string =>
  `:at:${architecture}/${level}/${confinement}`;

/**
 * The catalog words for the levels of search that find a snap on an architecture. `confinements` has one entry for each of `levels`:
 * the confinement of the snap's release there, or undefined without a release. A level with the same confinement as the safer one needs no
 * word.
 */
export const placesOf = (architecture: string, confinements: readonly (string | undefined)[]): string[] =>
  levels.flatMap((level, at) => {
    const confinement = confinements[at];
    return confinement === undefined || confinement === confinements[at - 1]
      ? []
      : [placeWord(architecture, level, confinement)];
  });

/** The words of `placesOf` for all combinations that a search accepts. */
export const placesAt = (architecture: string, level: SearchLevel, confinements: readonly string[]): string[] =>
  [architecture, 'all'].flatMap((candidate) =>
    levels
      .slice(0, levels.indexOf(level) + 1)
      .flatMap((safer) => confinements.map((confinement) => placeWord(candidate, safer, confinement))),
  );

/** The properties of a snap that a search compares with its query and filters. */
export interface Findable {
  name: string;
  title: string | null;
  summary: string | null;
  publisher: string;
  /** The ids of its apps in other systems, such as `org.example.Hello`. */
  commonIds: readonly string[];
  /** The words for the architectures, risks and confinements that it is released with. */
  places: readonly string[];
}

/** The maximum number of words of one snap. */
const maxWords = 256;

/** The words that find a snap, each with a rank; words of its own name rank first. */
export function searchWordsOf({ name, title, summary, publisher, commonIds, places }: Findable): Map<string, number> {
  const weightedWords: [string, number][] = [
    ...places.map((place): [string, number] => [place, 0]),
    [nameWord(name), 0],
    ...commonIds.map((id): [string, number] => [commonIdWord(id), 0]),
    ...wordsOf(name).map((word): [string, number] => [word, 1]),
    ...wordsOf(title ?? '').map((word): [string, number] => [word, 2]),
    ...wordsOf(publisher).map((word): [string, number] => [word, 3]),
    ...wordsOf(summary ?? '').map((word): [string, number] => [word, 4]),
  ];
  const words = new Map<string, number>();
  for (const [word, weight] of weightedWords) if (!words.has(word) && words.size < maxWords) words.set(word, weight);
  return words;
}

/** The range of all words that begin with a text. */
export interface WordRange {
  from: string;
  to: string;
}

/** U+10FFFF sorts after all characters and is in no word. */
export const beginningWith = (text: string): WordRange => ({ from: text, to: `${text}\u{10ffff}` });
/** U+0001, the first character that PostgreSQL accepts, is in no word either. */
export const exactly = (text: string): WordRange => ({ from: text, to: `${text}\u0001` });
