// The catalog of charms and bundles: by which words each of them is found.
import { beginningWith, wordsOf, type Beginning } from './catalog.ts';

/** The words of charms stand apart from those of snaps: no question about one kind meets the other. */
const mark = ':charm:';

/** What charms are narrowed by, beside words. A platform is an architecture; what is required and provided are interfaces. */
export const traits = ['type', 'publisher', 'channel', 'platform', 'category', 'requires', 'provides'] as const;
export type Trait = (typeof traits)[number];

/** What is found of a charm, or of a bundle. */
export interface FindableCharm {
  name: string;
  title: string | null;
  summary: string | null;
  /** Of each trait all that it has, in whichever channel. */
  traits: Readonly<Record<Trait, readonly string[]>>;
}

/** A trait as it stands in the catalog. */
export const traitWord = (trait: Trait, value: string): string => `${mark}:${trait}:${value.slice(0, longestValue)}`;
const longestValue = 256;

/** So many words of what is said of a charm are kept. */
const mostWords = 512;
/** So many words of a question are heeded, the longest. */
const mostAsked = 5;

/**
 * What a charm has to have to be an answer: every word of the question in its name, or at the beginning of a word of its title or
 * its summary. Nothing where the question has no words.
 */
export const charmQuestion = (text: string): Beginning[] =>
  [...new Set(wordsOf(text))]
    .sort((a, b) => b.length - a.length)
    .slice(0, mostAsked)
    .map((word) => beginningWith(`${mark}${word}`));

/** The words by which a charm is found, each with its weight: the beginning of its name says most. */
export function charmFindableBy({ name, title, summary, traits: had }: FindableCharm): Map<string, number> {
  const said: [string, number][] = [
    ...wordsOf(name).map((word, at): [string, number] => [word, at === 0 ? 1 : 2]),
    ...wordsOf(title ?? '').map((word): [string, number] => [word, 3]),
    // `sql` is looked for by whoever wants `postgresql`.
    ...wordsOf(name).flatMap((word) => endingsOf(word).map((ending): [string, number] => [ending, 5])),
    ...wordsOf(summary ?? '').map((word): [string, number] => [word, 4]),
  ];
  const words = new Map<string, number>();
  for (const [word, weight] of said) {
    const marked = `${mark}${word}`;
    if (words.has(marked)) words.set(marked, Math.min(weight, words.get(marked)!));
    else if (words.size < mostWords) words.set(marked, weight);
  }
  for (const trait of traits) for (const value of had[trait]) words.set(traitWord(trait, value), 0);
  return words;
}

const endingsOf = (word: string): string[] => {
  const characters = Array.from(word);
  return characters.slice(1).map((_, at) => characters.slice(at + 1).join(''));
};
