// Memos: what is read again and again is remembered for as long as none of the tables that it is made of has changed. Without
// them a call of package_permissions takes twice the processor time (`npm run bench -- permissions`).
import type { NounVersions, Snapshot } from './noun-versions.ts';

/** What a memo is made of: the tables that are read, and how many answers are kept at most. */
export interface MemoOptions {
  versions: Pick<NounVersions, 'current'>;
  nouns: readonly string[];
  most?: number;
}

/** Answers by their keys, all forgotten when one of the tables has changed, or when there are more than `most`. */
function answers<Value>({ versions, nouns, most = 10_000 }: MemoOptions): () => Promise<Map<string, Value>> {
  const known = new Map<string, Value>();
  let seen: Snapshot = { generation: NaN, numbers: new Map() };
  const isAsSeen = ({ generation, numbers }: Snapshot): boolean =>
    generation === seen.generation && nouns.every((noun) => numbers.get(noun) === seen.numbers.get(noun));
  return async () => {
    const current = await versions.current();
    if (current !== seen) {
      if (!isAsSeen(current)) known.clear();
      seen = current;
    }
    if (known.size >= most) known.clear();
    return known;
  };
}

/**
 * Remembers what `find` gives for its arguments until one of its tables has changed. What it gives is never older than
 * a commit that was reported before the call.
 */
export function memo<Arguments extends readonly string[], Value>(
  options: MemoOptions,
  find: (...args: Arguments) => Promise<Value>,
): (...args: Arguments) => Promise<Value> {
  const current = answers<Promise<Value>>(options);
  return async (...args) => {
    // The versions are asked before the query: a commit in between makes this an old answer, forgotten at the next call.
    const known = await current();
    const key = args.join('\n');
    return known.get(key) ?? remember(known, key, find(...args));
  };
}

/** The same for several things at a time that have an argument in common; the versions are asked once for all of them. */
export function memoOfEach<Value>(
  options: MemoOptions,
  find: (one: string, common: string) => Promise<Value>,
): (several: readonly string[], common: string) => Promise<Value[]> {
  const current = answers<Promise<Value>>({ most: 100_000, ...options });
  return async (several, common) => {
    const known = await current();
    return Promise.all(
      several.map((one) => {
        const key = `${one}\n${common}`;
        return known.get(key) ?? remember(known, key, find(one, common));
      }),
    );
  };
}

function remember<Value>(known: Map<string, Promise<Value>>, key: string, value: Promise<Value>): Promise<Value> {
  known.set(key, value);
  value.catch(() => known.delete(key));
  return value;
}
