// What is read again and again is remembered for as long as nothing at all is committed, by whichever process.

/** A number that is another one after every commit; reading it costs next to nothing. */
export type Version = () => number;

/**
 * Remembers what `find` gave for a key until anything is committed. What it gives is never older than
 * a commit that was reported before the call.
 *
 * @param most how many answers are kept; beyond it all are forgotten
 */
export function whileUnchanged<Arguments extends readonly string[], Value>(
  version: Version,
  find: (...args: Arguments) => Promise<Value>,
  most = 10_000,
): (...args: Arguments) => Promise<Value> {
  const known = new Map<string, Promise<Value>>();
  let seen = NaN;
  return (...args) => {
    // Asked before the query: a commit in between makes the answer one of an older version, to be forgotten at the next call.
    const current = version();
    if (current !== seen || known.size >= most) {
      known.clear();
      seen = current;
    }
    const key = args.join('\n');
    let value = known.get(key);
    if (value === undefined) {
      value = find(...args);
      known.set(key, value);
      value.catch(() => known.delete(key));
    }
    return value;
  };
}
