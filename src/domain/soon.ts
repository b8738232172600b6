// Soon: a value that is there already, or will be. What is there is not awaited: each `await` of it costs a turn of the
// microtasks, 0.1 µs and a promise, and the call of a gateway would pass a score of them (`npm run bench -- permissions`).

export type Soon<Value> = Value | Promise<Value>;

/** Goes on with a value: at once where it is there. */
export const then = <Value, Result>(value: Soon<Value>, next: (value: Value) => Soon<Result>): Soon<Result> =>
  value instanceof Promise ? value.then(next) : next(value);

/** What `work` comes to, or what is made of its failure, whether it fails at once or later. */
export function attempt<Value>(work: () => Soon<Value>, failed: (error: unknown) => Value): Soon<Value> {
  try {
    const value = work();
    return value instanceof Promise ? value.catch(failed) : value;
  } catch (error) {
    return failed(error);
  }
}
