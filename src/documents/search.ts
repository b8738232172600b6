// Searches the documents: finds the parts that contain all words, best first.
import type { Html } from '#http/pages/html.ts';
import { partsOf } from './contents.ts';
import { guides } from './guides.ts';

/** The maximum of results, and of words in a query: a query of 100 characters may have fifty. */
const maxCounts = { places: 50, words: 10 };

/** A page that is searched. */
export interface SearchedPage {
  name: string;
  title: string;
  content: Html;
}

/** A piece of a text, and whether it matches the query. */
export interface TextPiece {
  text: string;
  isFound: boolean;
}

export interface SearchHit {
  address: string;
  /** The page, and the heading above. */
  where: string;
  heading: TextPiece[];
  excerpt: TextPiece[];
}

export interface SearchResults {
  /** The number of results; only the best are returned. */
  total: number;
  places: SearchHit[];
}

interface SearchIndexEntry {
  address: string;
  where: string;
  heading: string;
  text: string;
  isGuide: boolean;
  /** In lower case: the heading, its words with a blank before each, and the whole text with its page and heading. */
  folded: { heading: string; words: string; all: string };
}

/** Builds the index at the first search. Each search scans it once. */
export function createSearch(chapters: () => Iterable<SearchedPage>): (query: string) => SearchResults {
  let entries: readonly SearchIndexEntry[] | undefined;
  return (query) => {
    const phrase = query.toLowerCase().trim().replace(/\s+/g, ' ');
    const words = [...new Set(phrase.split(' '))].filter((word) => word !== '').slice(0, maxCounts.words);
    if (words.length === 0) return { total: 0, places: [] };
    entries ??= [...chapters()].flatMap(entriesOf);
    const matches = entries
      .filter(({ folded }) => words.every((word) => meanings(word).some((each) => folded.all.includes(each))))
      .map((entry) => ({ entry, score: scoreOf(entry, words, phrase) }))
      .sort((match, other) => other.score - match.score);
    return {
      total: matches.length,
      places: matches.slice(0, maxCounts.places).map(({ entry }) => toSearchHit(entry, words)),
    };
  };
}

/** Words that people type, and the words of the documents for the same. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  revoke: ['revoke', 'end ', 'distrust', 'withdraw'],
  roll: ['roll', 'put back', 'withdraw'],
  rollback: ['rollback', 'rolled back', 'withdraw'],
  stolen: ['stolen', 'leaked'],
  upgrade: ['upgrade', 'newer release'],
  accept: ['accept', 'let in', 'taken in'],
};

const meanings = (word: string): readonly string[] => (Object.hasOwn(synonyms, word) ? synonyms[word]! : [word]);

const entriesOf = ({ name, title, content }: SearchedPage): SearchIndexEntry[] =>
  partsOf(content).map(({ id, heading, under, text }) => {
    const own = id === '' ? title : heading;
    const where = id === '' ? '' : [title, under].filter((part) => part !== '').join(' › ');
    return {
      address: id === '' ? `/docs/${name}` : `/docs/${name}#${id}`,
      where,
      heading: own,
      text,
      isGuide: Object.hasOwn(guides, name),
      folded: foldedOf(own, `${where}\n${text}`),
    };
  });

function foldedOf(heading: string, rest: string): SearchIndexEntry['folded'] {
  const folded = heading.toLowerCase();
  return {
    heading: folded,
    words: ` ${folded.replace(/[^\p{L}\p{N}]+/gu, ' ')}`,
    all: `${folded}\n${rest.toLowerCase()}`,
  };
}

/**
 * Ranks a part highest if its heading is the word, lower if its heading contains the word, and lowest if only its text contains it. Several
 * mentions, or the exact phrase, rank higher.
 */
function scoreOf({ folded, isGuide }: SearchIndexEntry, words: readonly string[], phrase: string): number {
  const scores = words.map((word) => {
    const mentions = Math.min(folded.all.split(word, 6).length - 1, 5);
    if (folded.heading === word) return mentions + 100;
    return mentions + (folded.words.includes(` ${word}`) ? 20 : folded.heading.includes(word) ? 5 : 0);
  });
  const together = folded.heading.includes(phrase) ? 50 : folded.all.includes(phrase) ? 10 : 0;
  // A query of several words describes a task, so guides rank higher; one word may be the name of an operation.
  const guided = isGuide && words.length > 1 ? 60 : 0;
  return scores.reduce((sum, score) => sum + score, together + guided);
}

function toSearchHit({ address, where, heading, text }: SearchIndexEntry, words: readonly string[]): SearchHit {
  // Longest first, so that a word is marked completely if another word is its beginning.
  const longest = words.toSorted((word, other) => other.length - word.length);
  const any = new RegExp(`(${longest.map((word) => RegExp.escape(word)).join('|')})`, 'giu');
  return { address, where, heading: pieces(heading, any), excerpt: pieces(excerptOf(text, any), any) };
}

/** Every second piece is a match. */
const pieces = (text: string, any: RegExp): TextPiece[] =>
  text
    .split(any)
    .map((piece, at) => ({ text: piece, isFound: at % 2 === 1 }))
    .filter((piece) => piece.text !== '');

/** How many characters of a text are shown, and how many of them before the first match. */
const shown = { before: 60, all: 240 };

/** An excerpt of a text, in whole words, around the first match. */
function excerptOf(text: string, any: RegExp): string {
  const at = Math.max(text.search(any), 0);
  const from = at <= shown.before ? 0 : text.indexOf(' ', at - shown.before) + 1 || at;
  const begin = Math.min(from, at);
  if (text.length - begin <= shown.all) return `${begin === 0 ? '' : '… '}${text.slice(begin)}`;
  const space = text.lastIndexOf(' ', begin + shown.all);
  return `${begin === 0 ? '' : '… '}${text.slice(begin, space > at ? space : begin + shown.all)} …`;
}
