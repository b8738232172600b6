// `MaybePromise`: a value that is available now or later. An available value is not awaited, because each `await` costs a
// microtask turn, 0.1 µs and a promise, and a gateway request would pass about twenty (`npm run bench -- permissions`).

export type MaybePromise<Value> = Value | Promise<Value>;

/** Continues with a value; at once if it is available. */
export const whenReady = <Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> => (value instanceof Promise ? value.then(next) : next(value));

/** Returns the result of `work`, or of `failed` if it fails, synchronously or asynchronously. */
export function attempt<Value>(
  work: () => MaybePromise<Value>,
  failed: (error: unknown) => Value,
): MaybePromise<Value> {
  try {
    const value = work();
    return value instanceof Promise ? value.catch(failed) : value;
  } catch (error) {
    return failed(error);
  }
}
