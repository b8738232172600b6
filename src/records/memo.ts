// Memos: cached queries, valid until one of their tables changes. Without them a call of package_permissions takes twice the processor time
// (`npm run bench -- permissions`).
import { then, type Soon } from '#domain/soon.ts';
import type { NounVersions, Snapshot } from './noun-versions.ts';

/** The tables of a cached query, and the maximum of cached results. */
export interface MemoOptions {
  versions: Pick<NounVersions, 'current'>;
  nouns: readonly string[];
  most?: number;
}

/**
 * Returns a function that gives the same object as long as none of the tables changes. A result that is cached with that object is never
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

/** Values by two keys. That costs less than one joined key, because each string is hashed only once. */
class Known<Value> {
  readonly #most: number;
  #of: object = {};
  #size = 0;
  #byCommon = new Map<string, Map<string, Soon<Value>>>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns the cached values with one of the keys. Drops all values in another cache generation, and at the maximum size. */
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
      // From now on the value need not be awaited. An `undefined` result is not cached as a value, because a map returns `undefined` for a
      // missing key as well.
      (found) => found !== undefined && known.get(key) === value && known.set(key, found),
      () => known.delete(key),
    );
    return value;
  }
}

/**
 * Caches the results of `find` by its arguments until one of its tables changes. A result is never older than a commit that was reported
 * before the call.
 */
export function memo<Value>(
  { most = 10_000, ...options }: MemoOptions,
  find: (one: string, common: string) => Promise<Value>,
): (one: string, common: string) => Soon<Value> {
  const current = era(options);
  const all = new Known<Value>(most);
  // Read the versions before the query. If a commit comes in between, the result has an old version and is dropped at the next call.
  return (one, common) =>
    then(current(), (of) => {
      const known = all.with(common, of);
      return known.get(one) ?? all.remember(known, one, find(one, common));
    });
}

/** The same for several keys that share an argument. The versions are read once for all of them. */
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
