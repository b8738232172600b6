// Memos: what is read again and again is remembered for as long as none of the tables that it is made of has changed. Without
// them a call of package_permissions takes twice the processor time (`npm run bench -- permissions`).
import { then, type Soon } from '#domain/soon.ts';
import type { NounVersions, Snapshot } from './noun-versions.ts';

/** What is remembered: the tables that it is made of, and how many answers are kept at most. */
export interface MemoOptions {
  versions: Pick<NounVersions, 'current'>;
  nouns: readonly string[];
  most?: number;
}

/**
 * Gives an object that is the same one as long as none of the tables has changed: what is remembered with it is never
 * older than a commit that was reported before the call.
 */
export function era({ versions, nouns }: Pick<MemoOptions, 'versions' | 'nouns'>): () => Soon<object> {
  let seen: Snapshot = { generation: NaN, numbers: new Map() };
  let current = {};
  const isAsSeen = ({ generation, numbers }: Snapshot): boolean =>
    generation === seen.generation && nouns.every((noun) => numbers.get(noun) === seen.numbers.get(noun));
  const of = (snapshot: Snapshot): object => {
    if (snapshot !== seen) {
      if (!isAsSeen(snapshot)) current = {};
      seen = snapshot;
    }
    return current;
  };
  return () => then(versions.current(), of);
}

/** Values by two keys, which costs less than by one text that is made of both: the digest of a text is made only once. */
class Known<Value> {
  readonly #most: number;
  #of: object = {};
  #size = 0;
  #byCommon = new Map<string, Map<string, Soon<Value>>>();

  constructor(most: number) {
    this.#most = most;
  }

  /** What is known with one of the keys; all is forgotten in another era, and when it is too much. */
  with(common: string, era: object): Map<string, Soon<Value>> {
    if (era !== this.#of || this.#size >= this.#most) {
      this.#byCommon = new Map();
      this.#size = 0;
      this.#of = era;
    }
    const known = this.#byCommon.get(common) ?? new Map<string, Soon<Value>>();
    if (known.size === 0) this.#byCommon.set(common, known);
    return known;
  }

  remember(known: Map<string, Soon<Value>>, key: string, value: Promise<Value>): Promise<Value> {
    this.#size++;
    known.set(key, value);
    value.then(
      // From now on it need not be awaited; that there is none is asked for by `undefined`, which a map gives as well.
      (found) => found !== undefined && known.get(key) === value && known.set(key, found),
      () => known.delete(key),
    );
    return value;
  }
}

/**
 * Remembers what `find` gives for its arguments until one of its tables has changed. What it gives is never older than
 * a commit that was reported before the call.
 */
export function memo<Value>(
  { most = 10_000, ...options }: MemoOptions,
  find: (one: string, common: string) => Promise<Value>,
): (one: string, common: string) => Soon<Value> {
  const current = era(options);
  const all = new Known<Value>(most);
  // The versions are asked before the query: a commit in between makes this an old answer, forgotten at the next call.
  return (one, common) =>
    then(current(), (of) => {
      const known = all.with(common, of);
      return known.get(one) ?? all.remember(known, one, find(one, common));
    });
}

/** The same for several things at a time that have an argument in common; the versions are asked once for all of them. */
export function memoOfEach<Value>(
  { most = 100_000, ...options }: MemoOptions,
  find: (one: string, common: string) => Promise<Value>,
): (several: readonly string[], common: string) => Soon<Value[]> {
  const current = era(options);
  const all = new Known<Value>(most);
  return (several, common) =>
    then(current(), (of) => {
      const known = all.with(common, of);
      const found: Soon<Value>[] = several.map((one) => known.get(one) ?? all.remember(known, one, find(one, common)));
      return found.some((one) => one instanceof Promise) ? Promise.all(found) : (found as Value[]);
    });
}
