// What is read again and again is remembered for as long as nothing at all is committed, by whichever process.

/** A number that is another one after every commit; reading it costs next to nothing. */
export type Version = () => number;

/** Answers by their keys, all forgotten when anything has been committed, or when there are more than `most`. */
function answers<Value>(version: Version, most: number): () => Map<string, Value> {
  const known = new Map<string, Value>();
  let seen = NaN;
  return () => {
    const current = version();
    if (current !== seen || known.size >= most) {
      known.clear();
      seen = current;
    }
    return known;
  };
}

/**
 * Remembers what `find` gives for its arguments until anything is committed. What it gives is never older than
 * a commit that was reported before the call.
 */
export function whileUnchanged<Arguments extends readonly string[], Value>(
  version: Version,
  find: (...args: Arguments) => Promise<Value>,
  most = 10_000,
): (...args: Arguments) => Promise<Value> {
  const current = answers<Promise<Value>>(version, most);
  return (...args) => {
    // The version is asked before the query: a commit in between makes this an old answer, forgotten at the next call.
    const known = current();
    const key = args.join('\n');
    return known.get(key) ?? remember(known, key, find(...args));
  };
}

/** The same for several things at a time that have an argument in common; the version is asked once for all of them. */
export function eachWhileUnchanged<Value>(
  version: Version,
  find: (one: string, common: string) => Promise<Value>,
  most = 100_000,
): (several: readonly string[], common: string) => Promise<Value[]> {
  const current = answers<Promise<Value>>(version, most);
  return (several, common) => {
    const known = current();
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
