// Memos: cached queries, valid until one of their tables changes. Without them a call of package_permissions takes twice the processor time
// (`npm run bench -- permissions`).
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import type { NounVersions, Snapshot } from './noun-versions.ts';

/** The tables of a cached query, and the maximum of cached results. */
export interface MemoOptions {
  versions: Pick<NounVersions, 'current'>;
  nouns: readonly string[];
  maxResults?: number;
}

/**
 * Returns a function that gives the same object as long as none of the tables changes. A result that is cached with that object is never
 * older than a commit that was reported before the call.
 */
export function createGenerationReader({
  versions,
  nouns,
}: Pick<MemoOptions, 'versions' | 'nouns'>): () => MaybePromise<object> {
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
  return () => whenReady(versions.current(), of);
}

/** Values by two keys. That costs less than one joined key, because each string is hashed only once. */
class MemoCache<Value> {
  readonly #most: number;
  #of: object = {};
  #size = 0;
  #byCommon = new Map<string, Map<string, MaybePromise<Value>>>();

  constructor(maxResults: number) {
    this.#most = maxResults;
  }

  /** Returns the cached values with one of the keys. Drops all values in another cache generation, and at the maximum size. */
  with(common: string, generation: object): Map<string, MaybePromise<Value>> {
    if (generation !== this.#of || this.#size >= this.#most) {
      this.#byCommon = new Map();
      this.#size = 0;
      this.#of = generation;
    }
    const values = this.#byCommon.get(common) ?? new Map<string, MaybePromise<Value>>();
    if (values.size === 0) this.#byCommon.set(common, values);
    return values;
  }

  remember(values: Map<string, MaybePromise<Value>>, key: string, value: Promise<Value>): Promise<Value> {
    this.#size++;
    values.set(key, value);
    value.then(
      // From now on the value need not be awaited. An `undefined` result is not cached as a value, because a map returns `undefined` for a
      // missing key as well.
      (result) => result !== undefined && values.get(key) === value && values.set(key, result),
      () => values.delete(key),
    );
    return value;
  }
}

/**
 * Caches the results of `find` by its arguments until one of its tables changes. A result is never older than a commit that was reported
 * before the call.
 */
export function memo<Value>(
  { maxResults = 10_000, ...options }: MemoOptions,
  find: (key: string, common: string) => Promise<Value>,
): (key: string, common: string) => MaybePromise<Value> {
  const current = createGenerationReader(options);
  const all = new MemoCache<Value>(maxResults);
  // Read the versions before the query. If a commit comes in between, the result has an old version and is dropped at the next call.
  return (key, common) =>
    whenReady(current(), (of) => {
      const values = all.with(common, of);
      return values.get(key) ?? all.remember(values, key, find(key, common));
    });
}

/** The same for several keys that share an argument. The versions are read once for all of them. */
export function memoOfEach<Value>(
  { maxResults = 100_000, ...options }: MemoOptions,
  find: (key: string, common: string) => Promise<Value>,
): (several: readonly string[], common: string) => MaybePromise<Value[]> {
  const current = createGenerationReader(options);
  const all = new MemoCache<Value>(maxResults);
  return (several, common) =>
    whenReady(current(), (of) => {
      const values = all.with(common, of);
      const results: MaybePromise<Value>[] = several.map(
        (key) => values.get(key) ?? all.remember(values, key, find(key, common)),
      );
      return results.some((result) => result instanceof Promise) ? Promise.all(results) : (results as Value[]);
    });
}
