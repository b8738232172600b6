// `MaybePromise`: a value that is available now or later. An available value is not awaited, because each `await` costs a
// microtask turn and a promise, and a refresh of thirty snaps would pass more than a hundred (`npm run bench -- devices`).

export type MaybePromise<Value> = Value | Promise<Value>;

/** Continues with a value; at once if it is available. */
export const whenReady = <Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> => (value instanceof Promise ? value.then(next) : next(value));
