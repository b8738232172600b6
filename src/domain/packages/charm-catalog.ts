// The catalog of charms and bundles: the words that find them.
import { beginningWith, wordsOf, type WordRange } from './snap-catalog.ts';

/**
 * A prefix that keeps the words of charms apart from those of snaps, so that a search of one kind never finds the
 * other.
 */
const mark = ':charm:';

/** The filters of a charm search. A platform is an architecture; `requires` and `provides` are interfaces. */
export const traits = ['type', 'publisher', 'channel', 'platform', 'category', 'requires', 'provides'] as const;
export type Trait = (typeof traits)[number];

/** The properties that a search compares with its query and filters. */
export interface FindableCharm {
  name: string;
  title: string | null;
  summary: string | null;
  /** All values of each trait, over all channels. */
  traits: Readonly<Record<Trait, readonly string[]>>;
}

/** The catalog word that finds all charms with this value of a trait. */
export const traitWord = (trait: Trait, value: string): string => `${mark}:${trait}:${value.slice(0, longestValue)}`;
const longestValue = 256;

/** The maximum number of words of one charm. */
const maxWords = 512;
/** The maximum number of words of a query that are used: the longest ones. */
const maxQueryWords = 5;

/**
 * The conditions of a query: each word must occur in the charm's name, or begin a word of its title or summary. Empty
 * if the query has no words.
 */
export const charmQuestion = (text: string): WordRange[] =>
  [...new Set(wordsOf(text))]
    .sort((a, b) => b.length - a.length)
    .slice(0, maxQueryWords)
    .map((word) => beginningWith(`${mark}${word}`));

/** The words that find a charm, each with a rank; the beginning of its name ranks first. */
export function charmSearchWordsOf({ name, title, summary, traits: had }: FindableCharm): Map<string, number> {
  const weightedWords: [string, number][] = [
    ...wordsOf(name).map((word, at): [string, number] => [word, at === 0 ? 1 : 2]),
    ...wordsOf(title ?? '').map((word): [string, number] => [word, 3]),
    // A search for `sql` finds `postgresql`.
    ...wordsOf(name).flatMap((word) => endingsOf(word).map((ending): [string, number] => [ending, 5])),
    ...wordsOf(summary ?? '').map((word): [string, number] => [word, 4]),
  ];
  const words = new Map<string, number>();
  for (const [word, weight] of weightedWords) {
    const marked = `${mark}${word}`;
    if (words.has(marked)) words.set(marked, Math.min(weight, words.get(marked)!));
    else if (words.size < maxWords) words.set(marked, weight);
  }
  for (const trait of traits) for (const value of had[trait]) words.set(traitWord(trait, value), 0);
  return words;
}

const endingsOf = (word: string): string[] => {
  const characters = Array.from(word);
  return characters.slice(1).map((_, at) => characters.slice(at + 1).join(''));
};
